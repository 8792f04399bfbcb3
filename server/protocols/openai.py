"""OpenAI's speech endpoint, `POST /v1/audio/speech`, and what its clients ask for around it."""

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firstword.protocol import ErrorCode, MessageError
from server import events
from server.audio.encoders import CODECS
from server.audio.format import AudioFormat
from server.auth import Denied
from server.edge import Edge
from server.host import ContextOptions, Refusal
from server.protocols.fields import Fields
from server.protocols.handshake import FLOOR_S
from server.protocols.http import Body, SpeechResponse, answering, as_body, read_fields, spoken_text
from streaming.engine import SpeechParams

_CODECS = {"mp3": "mp3", "opus": "ogg_opus", "aac": "aac", "flac": "flac", "wav": "wav", "pcm": "pcm_s16le"}
_RATE = 24_000
"""Of every format: clients that ask for raw samples rely on it."""

_SPEEDS = (0.25, 4.0)
_SPOKEN_SPEEDS = (0.5, 2.0)
"""What voices can do; what is asked for beyond it is spoken at the limit."""

_ESCAPED_BYTES = 12
"""What a character can take in JSON."""

_TOKENS_PER_S = 50
"""Of `usage`: packets of 20 ms."""

_PARAMETERS: Mapping[str, str] = {
    ErrorCode.UNKNOWN_VOICE: "voice",
    ErrorCode.UNSUPPORTED_FORMAT: "response_format",
    ErrorCode.TEXT_TOO_LONG: "input",
}
"""What an error is about."""


class SpeechBody(Body):
    """The audio itself, and OpenAI's errors."""

    def error(self, status: int, code: str, message: str) -> Mapping[str, object]:
        """One object, `error`."""
        kind = "server_error" if status >= 500 else "invalid_request_error"
        return {"error": {"message": message, "type": kind, "param": _PARAMETERS.get(code), "code": code}}


class EventsBody(SpeechBody):
    """`stream_format: sse`: the audio in server-sent events."""

    def __init__(self, characters: int) -> None:
        super().__init__("text/event-stream; charset=utf-8")
        self._characters = characters

    def audio(self, audio: events.Audio) -> bytes:
        """`speech.audio.delta`."""
        return _event({"type": "speech.audio.delta", "audio": base64.b64encode(audio.data).decode()})

    def ended(self, ended: events.Ended) -> bytes:
        """`speech.audio.done`: what went in counts in characters, what came out in packets."""
        spoken = math.ceil(ended.samples * _TOKENS_PER_S / _RATE)
        usage = {"input_tokens": self._characters, "output_tokens": spoken, "total_tokens": self._characters + spoken}
        return _event({"type": "speech.audio.done", "usage": usage})

    def failed(self, refused: events.Refused) -> bytes:
        """`error`, as clients of all streams of OpenAI's know it."""
        return _event({"type": "error", **self.error(500, refused.code, refused.message)})


def _event(message: Mapping[str, object]) -> bytes:
    return b"data: " + json.dumps(message, separators=(",", ":")).encode() + b"\n\n"


@dataclass(frozen=True, slots=True)
class Order:
    """A request to speak, as its JSON says it. What means nothing here, like the model, is not kept."""

    text: str
    voice: str | None
    format: AudioFormat
    speed: float
    in_events: bool

    @classmethod
    def of(cls, fields: Fields) -> "Order":
        """Raises `MessageError` or `Refusal`."""
        text = spoken_text(fields, "input")
        named = fields.text("response_format") or "mp3"
        if named not in _CODECS:
            formats = ", ".join(_CODECS)
            raise Refusal(ErrorCode.UNSUPPORTED_FORMAT, f"There is no format {named[:64]!r}; choose one of: {formats}.")
        stream_format = fields.text("stream_format") or "audio"
        if stream_format not in ("audio", "sse"):
            raise MessageError(ErrorCode.BAD_MESSAGE, "`stream_format` must be audio or sse.")
        return cls(
            text, fields.name("voice"), AudioFormat(_CODECS[named], _RATE), _speed(fields), stream_format == "sse"
        )

    @property
    def body(self) -> SpeechBody:
        """How it is answered."""
        return EventsBody(len(self.text)) if self.in_events else SpeechBody(CODECS[self.format.codec].media_type)


def _speed(fields: Fields) -> float:
    asked = fields.number("speed")
    if asked is None:
        return 1.0
    least, most = _SPEEDS
    if not least <= asked <= most:
        raise MessageError(ErrorCode.BAD_MESSAGE, f"`speed` must be between {least} and {most}.")
    slowest, fastest = _SPOKEN_SPEEDS
    return min(fastest, max(slowest, asked))


@answering(SpeechBody(""))
async def speech(request: Request, edge: Edge) -> Response:
    """`POST /v1/audio/speech`."""
    most_bytes = _ESCAPED_BYTES * edge.settings.max_context_chars + edge.settings.max_message_bytes
    order = Order.of(await read_fields(request, most_bytes))
    options = ContextOptions(
        voice=edge.voices.match(order.voice),
        format=order.format,
        params=SpeechParams(speed=order.speed),
        floor_s=FLOOR_S,
    )
    return SpeechResponse(edge, order.text, as_body(options), order.body)


@answering(SpeechBody(""))
async def voices(_request: Request, edge: Edge) -> Response:
    """`GET /v1/audio/voices`: not OpenAI's own, but servers like this one have it and clients look for it."""
    listed = [{"id": voice.name, "name": voice.name, "description": voice.description} for voice in edge.voices.all()]
    return JSONResponse({"voices": listed})


@answering(SpeechBody(""))
async def models(_request: Request, edge: Edge) -> Response:
    """`GET /v1/models`: the engine."""
    return JSONResponse({"object": "list", "data": [_model(edge)]})


@answering(SpeechBody(""))
async def model(request: Request, edge: Edge) -> Response:
    """`GET /v1/models/{model}`."""
    engine = _model(edge)
    if request.path_params["model"] != engine["id"]:
        raise Denied(404, f"There is no such model; there is: {engine['id']}.")
    return JSONResponse(engine)


def _model(edge: Edge) -> Mapping[str, object]:
    info = edge.pool.info
    assert info is not None, "it is known"
    return {"id": info.name, "object": "model", "created": 0, "owned_by": "firstword"}
