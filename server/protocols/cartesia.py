"""Cartesia's `/tts/websocket`: contexts by name, base64 audio and word times in JSON."""

import base64
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from firstword.protocol import EndReason, ErrorCode
from server import events
from server.alignment import Alignment, words
from server.audio.encoders import CODECS
from server.audio.format import AudioFormat
from server.edge import Edge
from server.host import ContextOptions, Refusal, Voices
from server.protocols.fields import Fields
from server.protocols.handshake import FLOOR_S, MESSAGE_S, denying, edge_of, known, language_tag, serve
from server.protocols.http import Body, SpeechResponse, answering, as_body, read_fields, spoken_text
from server.protocols.joining import Joiner
from server.protocols.transport import Close, Frame
from server.session import Session
from streaming.engine import SpeechParams

_ENCODINGS = frozenset({"pcm_s16le", "pcm_f32le", "pcm_mulaw", "pcm_alaw"})
_RAW = frozenset({"raw"})
_CONTAINERS = frozenset({"raw", "wav", "mp3"})
_BUFFER_S = 0.3
_SLOWEST, _FASTEST = 0.5, 2.0

_PASSING = frozenset({ErrorCode.BAD_MESSAGE, ErrorCode.CONTEXT_ENDING, ErrorCode.TEXT_TOO_LONG})
"""Refusals that a context survives."""

_STATUS: Mapping[ErrorCode, int] = {
    ErrorCode.OVERLOADED: 429,
    ErrorCode.TOO_MANY_CONTEXTS: 429,
    ErrorCode.ENGINE_FAILED: 500,
    ErrorCode.ENGINE_RESTARTED: 500,
    ErrorCode.SHUTTING_DOWN: 503,
}


def context_options(fields: Fields, voices: Voices, containers: frozenset[str]) -> ContextOptions:
    """How a request wants to sound. Raises `MessageError` and `Refusal`."""
    speed = fields.inner("generation_config").number("speed")
    return ContextOptions(
        voice=voices.match(fields.inner("voice").text("id")),
        format=_audio_format(fields.inner("output_format"), containers),
        language=language_tag(fields.text("language")),
        params=SpeechParams(speed=1.0 if speed is None else min(_FASTEST, max(_SLOWEST, speed))),
        max_buffer_s=0.0 if _sentences(fields) else _BUFFER_S,
        floor_s=FLOOR_S,
        message_s=MESSAGE_S,
    )


def _sentences(fields: Fields) -> bool:
    """Says the client that it sends whole sentences: that nothing is to be waited for."""
    return fields.number("max_buffer_delay_ms") == 0


def _audio_format(fields: Fields, containers: frozenset[str]) -> AudioFormat:
    container, encoding = fields.text("container") or "raw", fields.text("encoding") or "pcm_s16le"
    rate = int(fields.number("sample_rate") or 24_000)
    if container not in containers:
        names = ", ".join(sorted(containers))
        raise Refusal(
            ErrorCode.UNSUPPORTED_FORMAT, f"There is no container {container[:32]!r} here; there are: {names}."
        )
    if container == "mp3":
        return AudioFormat("mp3", rate, int(fields.number("bit_rate") or 0) or None)
    if encoding not in _ENCODINGS or (container == "wav" and encoding != "pcm_s16le"):
        names = ", ".join(sorted(_ENCODINGS)) if container == "raw" else "pcm_s16le"
        raise Refusal(ErrorCode.UNSUPPORTED_FORMAT, f"In {container} there are: {names}.")
    return AudioFormat("wav" if container == "wav" else encoding, rate)


@dataclass(slots=True)
class _Context:
    """A context of the client's, and what of it the session does not know."""

    name: str
    alignment: Alignment
    joiner: Joiner
    rate: int
    timed: bool
    flushes: int = 0
    """Those that were answered."""


class CartesiaWire:
    """Every message repeats the whole request; the first one of a context decides."""

    closing: Close | None = None

    def __init__(self, session: Session, voices: Voices) -> None:
        self._session = session
        self._voices = voices
        self._contexts: dict[str, _Context] = {}

    def greeting(self, connection: str) -> list[Frame]:  # noqa: ARG002
        """Nothing: the client speaks first."""
        return []

    def receive(self, frame: Frame) -> None:
        """More text of a context, or its cancelling."""
        fields = Fields.parse(frame)
        name = fields.text("context_id") or secrets.token_hex(8)
        with self._session.refusing(name):
            if fields.flag("cancel"):
                self._session.cancel(name)
            else:
                self._obey(name, fields)

    def frames(self, event: events.Event) -> list[Frame]:
        """Chunks and times; one `done` or one error that says it is the last message."""
        match event:
            case events.SegmentStarted():
                self._contexts[event.context].alignment.started(event)
            case events.SegmentTimed():
                self._contexts[event.context].alignment.timed(event)
            case events.Audio():
                return self._audio(self._contexts[event.context], event)
            case events.Flushed():
                context = self._contexts[event.context]
                context.flushes += 1
                return [_told("flush_done", event.context, flush_done=True, flush_id=context.flushes)]
            case events.Refused() if event.code is not ErrorCode.NOTHING_TO_SAY:
                return [self._error(event)]
            case events.Ended():
                self._contexts.pop(event.context, None)
                return self._ended(event)
        return []

    def _obey(self, name: str, fields: Fields) -> None:
        text, more, flush = fields.text("transcript") or "", fields.flag("continue"), fields.flag("flush")
        context = self._contexts.get(name)
        if context and name not in self._session:
            raise Refusal(ErrorCode.CONTEXT_ENDING, f"Context {name!r} was cancelled; use another name.")
        if text and (context := context or self._open(name, fields)):
            delta = context.joiner.join(text)
            if self._session.text(name, delta):
                context.alignment.add(delta)
        if flush:
            self._session.flush(name)
        if not more:
            self._end(name)

    def _open(self, name: str, fields: Fields) -> _Context | None:
        if self._session.failed(name):
            return None  # the rest of what failed
        options = context_options(fields, self._voices, _RAW)
        self._session.open(name, options)
        if name not in self._session:
            return None
        rate = options.format.sample_rate
        context = _Context(
            name,
            Alignment(words, rate, options.params.speed),
            Joiner(spaced=_sentences(fields)),
            rate,
            timed=fields.flag("add_timestamps"),
        )
        self._contexts[name] = context
        return context

    def _end(self, name: str) -> None:
        if name in self._session or self._session.failed(name):
            self._session.end(name)
        else:
            self._session.report(events.Reply(_told("done", name, done=True, status=200)))

    def _audio(self, context: _Context, audio: events.Audio) -> list[Frame]:
        frames: list[Frame] = []
        pieces = context.alignment.take(audio)
        if pieces and context.timed:
            times = {
                "words": [piece.text for piece in pieces],
                "start": [round(piece.first_sample / context.rate, 3) for piece in pieces],
                "end": [round((piece.first_sample + piece.samples) / context.rate, 3) for piece in pieces],
            }
            frames.append(_told("timestamps", context.name, word_timestamps=times))
        data = base64.b64encode(audio.data).decode()
        frames.append(_told("chunk", context.name, data=data, step_time=0.0, flush_id=context.flushes + 1))
        return frames

    def _ended(self, event: events.Ended) -> list[Frame]:
        if event.reason is EndReason.FAILED:
            return []  # its error was the last message
        if event.reason is EndReason.SHUTDOWN:
            return [self._error(events.Refused(ErrorCode.SHUTTING_DOWN, "The server is going away.", event.context))]
        return [_told("done", event.context, done=True, status=200)]

    def _error(self, refused: events.Refused) -> str:
        goes_on = refused.code in _PASSING and refused.context in self._contexts
        return _told(
            "error",
            refused.context,
            done=not goes_on,
            status=_STATUS.get(refused.code, 400),
            title=_title(refused.code),
            message=refused.message,
            error_code=refused.code,
        )


def _title(code: str) -> str:
    return code.replace("_", " ").capitalize()


def _told(kind: str, context: str | None, *, done: bool = False, status: int = 206, **fields: object) -> str:
    """Clients look for the context in every message."""
    message = {"type": kind, "context_id": context, "done": done, "status_code": status, **fields}
    return json.dumps(message, separators=(",", ":"))


class BytesBody(Body):
    """The audio itself, and Cartesia's errors."""

    def error(self, status: int, code: str, message: str) -> Mapping[str, object]:
        """The fields of an error on the socket."""
        return {"status_code": status, "error_code": code, "title": _title(code), "message": message}


@answering(BytesBody(""))
async def tts_bytes(request: Request, edge: Edge) -> Response:
    """`POST /tts/bytes`."""
    fields = await read_fields(request, edge.settings.max_message_bytes * 16)
    options = as_body(context_options(fields, edge.voices, _CONTAINERS))
    body = BytesBody(CODECS[options.format.codec].media_type)
    return SpeechResponse(edge, spoken_text(fields, "transcript"), options, body)


async def tts_websocket(websocket: WebSocket) -> None:
    """`/tts/websocket`."""
    edge = edge_of(websocket)
    async with denying(websocket, lambda code, message: {"error_code": code, "message": message}):
        edge.gate.check(websocket.headers, (), websocket.query_params)
        await known(edge)
        await serve(websocket, edge, lambda session: CartesiaWire(session, edge.voices))
