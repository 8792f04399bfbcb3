"""Deepgram's `/v1/speak` WebSocket: text in JSON, audio in binary frames, one turn after another, no names."""

import json
import secrets
from collections.abc import Mapping
from itertools import count

from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from firstword.protocol import EndReason, ErrorCode, MessageError
from server import events
from server.audio.encoders import CODECS
from server.audio.format import AudioFormat
from server.edge import VERSION, Edge
from server.host import ContextOptions, Refusal
from server.protocols.fields import Fields
from server.protocols.handshake import FLOOR_S, MESSAGE_S, denying, edge_of, known, serve
from server.protocols.http import Body, SpeechResponse, answering, as_body, read_fields, spoken_text
from server.protocols.transport import Close, Frame
from server.session import Session
from streaming.engine import SpeechParams

DEFAULT_MODEL = "aura-asteria-en"

_ENCODINGS: Mapping[str, tuple[str, int]] = {
    "linear16": ("pcm_s16le", 24_000),
    "mulaw": ("pcm_mulaw", 8_000),
    "alaw": ("pcm_alaw", 8_000),
}
"""Our codec and the sample rate that is meant when none is named."""

_FILES: Mapping[str, tuple[str, int]] = {
    "linear16": ("wav", 24_000),
    "mulaw": ("pcm_mulaw", 8_000),
    "alaw": ("pcm_alaw", 8_000),
    "mp3": ("mp3", 22_050),
    "opus": ("ogg_opus", 24_000),
    "flac": ("flac", 22_050),
    "aac": ("aac", 22_050),
}
"""Likewise, over HTTP."""

_WARNINGS = frozenset(
    {ErrorCode.BAD_MESSAGE, ErrorCode.UNKNOWN_TYPE, ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.TEXT_TOO_LONG}
)
"""What the connection survives."""


class DeepgramWire:
    """Turns follow one another. A turn is a context; what still comes of an older one is dropped."""

    def __init__(self, session: Session, options: ContextOptions, model: str) -> None:
        self._session = session
        self._options = options
        self._model = model
        self._names = map(str, count())
        self._turn: str | None = None
        self._unanswered = 0
        """Flushes of this turn."""
        self._fresh = False
        """Text came since the last flush."""
        self._flushed = count()
        self._cleared = count()
        self.closing: Close | None = None

    def greeting(self, connection: str) -> list[Frame]:
        """What speaks."""
        return [
            _told(
                "Metadata",
                request_id=connection,
                model_name=self._model,
                model_version=VERSION,
                model_uuid=self._options.voice,
            )
        ]

    def receive(self, frame: Frame) -> None:
        """Four verbs."""
        fields = Fields.parse(frame)
        if self.closing:
            return
        match fields.text("type"):
            case "Speak":
                self._speak(fields.text("text") or "")
            case "Flush":
                self._flush()
            case "Clear":
                self._clear()
            case "Close":
                self._close()
            case other:
                raise MessageError(ErrorCode.UNKNOWN_TYPE, f"There is no message {(other or '')[:64]!r}.")

    def frames(self, event: events.Event) -> list[Frame]:
        """Audio of the turn, and the answers to flushes and clears in their places."""
        match event:
            case events.Audio() if event.context == self._turn:
                return [event.data]
            case events.Flushed() if event.context == self._turn:
                self._unanswered -= 1
                return [_told("Flushed", sequence_id=next(self._flushed))]
            case events.Refused() if event.code is not ErrorCode.NOTHING_TO_SAY:
                return [self._refused(event)]
            case events.Ended() if event.reason is EndReason.CANCELLED:
                return [_told("Cleared", sequence_id=next(self._cleared))]
        return []

    def _speak(self, text: str) -> None:
        if not text:
            return
        if self._turn is not None and not self._unanswered and not self._fresh:
            # A turn that was flushed and sent: a new one, or its text and its signal would grow with the connection.
            self._session.end(self._turn)
            self._turn = None
        if self._turn is None:
            self._turn, self._unanswered = next(self._names), 0
            self._session.open(self._turn, self._options)
        self._fresh = True
        self._session.text(self._turn, text)

    def _flush(self) -> None:
        if self._turn is None:
            self._session.report(events.Reply(_told("Flushed", sequence_id=next(self._flushed))))
            return
        self._unanswered += 1
        self._fresh = False
        self._session.flush(self._turn)

    def _clear(self) -> None:
        if self._turn is None:
            self._session.report(events.Reply(_told("Cleared", sequence_id=next(self._cleared))))
        else:
            turn, self._turn = self._turn, None
            self._session.cancel(turn)

    def _close(self) -> None:
        self.closing = Close(1000)
        if self._turn is not None:
            self._session.end(self._turn)

    def _refused(self, event: events.Refused) -> str:
        kind = "Warning" if event.code in _WARNINGS else "Error"
        if kind == "Error":
            self.closing = Close(1011, event.code)  # some clients do not know the message
        return _told(kind, description=event.message, code=event.code.upper())


def _told(kind: str, **fields: object) -> str:
    return json.dumps({"type": kind, **fields}, separators=(",", ":"))


def _audio_format(query: Mapping[str, str], default: str, encodings: Mapping[str, tuple[str, int]]) -> AudioFormat:
    encoding, container = query.get("encoding", default), query.get("container")
    if encoding not in encodings:
        names = ", ".join(encodings)
        raise Refusal(ErrorCode.UNSUPPORTED_FORMAT, f"There is no encoding {encoding[:32]!r} here; there are: {names}.")
    codec, rate = encodings[encoding]
    if container == "none" and encoding in _ENCODINGS:
        codec = _ENCODINGS[encoding][0]
    elif container not in (None, "none", _CONTAINERS.get(codec)):
        raise Refusal(
            ErrorCode.UNSUPPORTED_FORMAT, f"There is no {encoding} in {container[:32]!r} here; say container=none."
        )
    if codec == "ogg_opus":
        return AudioFormat(codec, rate, int(_number(query, "bit_rate", 0)) or None)
    bit_rate = int(_number(query, "bit_rate", 0)) or None if codec in ("mp3", "aac") else None
    return AudioFormat(codec, int(_number(query, "sample_rate", rate)), bit_rate)


_CONTAINERS = {"wav": "wav", "ogg_opus": "ogg"}


def _options(query: Mapping[str, str], voice: str, output: AudioFormat) -> ContextOptions:
    return ContextOptions(
        voice=voice,
        format=output,
        params=SpeechParams(speed=min(2.0, max(0.5, _number(query, "speed", 1.0)))),
        floor_s=FLOOR_S,
        message_s=MESSAGE_S,
    )


def _number(query: Mapping[str, str], name: str, default: float) -> float:
    try:
        return float(query.get(name, default))
    except ValueError:
        raise Refusal(ErrorCode.BAD_MESSAGE, f"`{name}` must be a number.") from None


async def speak(websocket: WebSocket) -> None:
    """`/v1/speak`."""
    edge, query = edge_of(websocket), websocket.query_params
    offered = websocket.scope["subprotocols"]
    async with denying(websocket, _error_body):
        edge.gate.check(websocket.headers, offered, query)
        await known(edge)
        model = query.get("model", DEFAULT_MODEL)
        options = _options(query, edge.voices.match(model), _audio_format(query, "linear16", _ENCODINGS))
        subprotocol = offered[0] if offered else None
        await serve(websocket, edge, lambda session: DeepgramWire(session, options, model), subprotocol)


class SpeechBody(Body):
    """The audio itself, and Deepgram's errors."""

    def error(self, status: int, code: str, message: str) -> Mapping[str, object]:  # noqa: ARG002
        """Three fields."""
        return _error_body(code, message)


@answering(SpeechBody(""))
async def speech(request: Request, edge: Edge) -> Response:
    """`POST /v1/speak`."""
    query = request.query_params
    fields = await read_fields(request, edge.settings.max_message_bytes * 16)
    voice = edge.voices.match(query.get("model", DEFAULT_MODEL))
    options = as_body(_options(query, voice, _audio_format(query, "mp3", _FILES)))
    body = SpeechBody(CODECS[options.format.codec].media_type)
    return SpeechResponse(edge, spoken_text(fields, "text"), options, body)


def _error_body(code: str, message: str) -> dict[str, object]:
    return {"err_code": code.upper(), "err_msg": message, "request_id": secrets.token_hex(8)}
