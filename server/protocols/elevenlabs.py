"""ElevenLabs' WebSockets: `multi-stream-input`, many contexts on one connection, and `stream-input`, one."""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate

from starlette.websockets import WebSocket

from firstword.protocol import EndReason, ErrorCode
from server import events
from server.alignment import Alignment, Piece, characters
from server.audio.format import AudioFormat
from server.auth import Denied, Gate, bare_key, offered_key
from server.host import ContextOptions, Refusal
from server.protocols.fields import Fields
from server.protocols.handshake import FLOOR_S, MESSAGE_S, denying, edge_of, known, language_tag, serve
from server.protocols.joining import Joiner
from server.protocols.transport import Close, Frame
from server.session import Session
from streaming.engine import SpeechParams

DEFAULT_FORMAT = "mp3_44100_128"

_FORMAT = re.compile(r"(pcm|mp3|opus|ulaw|alaw)_(\d{4,5})(?:_(\d{2,3}))?", re.ASCII)
_CODECS = {"pcm": "pcm_s16le", "mp3": "mp3", "opus": "ogg_opus", "ulaw": "pcm_mulaw", "alaw": "pcm_alaw"}
_OGG_OPUS_RATE = 24_000
"""Opus is named by the rate that its decoder gives; it is encoded at ours."""

_UNNAMED = "default"
"""The context of messages that name none."""

_MOST_DEFERRED = 64
_SLOWEST, _FASTEST = 0.5, 2.0


def audio_format(name: str) -> AudioFormat:
    """`output_format`: codec, rate and kilobits a second. Raises `Refusal`."""
    match = _FORMAT.fullmatch(name)
    if match is None:
        raise Refusal(ErrorCode.UNSUPPORTED_FORMAT, f"There is no output format {name[:64]!r}; pcm_24000 is one.")
    codec, rate, kbps = _CODECS[match[1]], int(match[2]), match[3]
    return AudioFormat(
        codec, _OGG_OPUS_RATE if codec == "ogg_opus" else rate, int(kbps) * 1000 if kbps is not None else None
    )


def context_options(voice: str, output: AudioFormat, language: str | None, *, sentences: bool) -> ContextOptions:
    """How contexts sound. `sentences`: the client sends whole ones, so a finished one need not wait for more."""
    options = ContextOptions(voice=voice, format=output, language=language, floor_s=FLOOR_S, message_s=MESSAGE_S)
    return replace(options, max_buffer_s=0.0) if sentences else options


@dataclass(frozen=True, slots=True)
class Message:
    """What a client says about one context."""

    context: str
    text: str
    flush: bool
    close: bool
    immediate: bool
    params: SpeechParams

    @classmethod
    def of(cls, fields: Fields) -> "Message":
        """Raises `MessageError`."""
        return cls(
            context=fields.text("context_id", "contextId") or _UNNAMED,
            text=fields.text("text") or "",
            flush=fields.flag("flush"),
            close=fields.flag("close_context"),
            immediate=fields.flag("immediate"),
            params=speech_params(fields.inner("voice_settings")),
        )


def speech_params(settings: Fields) -> SpeechParams:
    """`voice_settings`; only the speed means something here."""
    speed = settings.number("speed")
    return SpeechParams(speed=1.0 if speed is None else min(_FASTEST, max(_SLOWEST, speed)))


@dataclass(slots=True)
class _Context:
    """A context of the client's, and what of it the session does not know."""

    name: str
    alignment: Alignment
    joiner: Joiner
    rate: int
    aligned_to: int = 0
    """The sample up to which characters were told."""
    unflushed: bool = False
    closing: bool = False
    deferred: list[Message] = field(default_factory=list)
    """What came for the name after it was closed: another context, which has to wait for the end of this one."""


class MultiWire:
    """`multi-stream-input`: every message names its context.

    `sentences`: texts are whole ones (`auto_mode`). `gate`: whom the first message has to show a key; None: nobody.
    """

    def __init__(self, session: Session, options: ContextOptions, *, sentences: bool, gate: Gate | None = None) -> None:
        self._session = session
        self._options = options
        self._sentences = sentences
        self._gate = gate
        self._contexts: dict[str, _Context] = {}
        self.closing: Close | None = None

    def greeting(self, connection: str) -> list[Frame]:  # noqa: ARG002
        """Nothing: the client speaks first."""
        return []

    def receive(self, frame: Frame) -> None:
        """Text opens a context; nothing else does."""
        fields = Fields.parse(frame)
        if self.closing or not self._admitted(fields):
            return
        if self._ends(fields):
            self._close_socket()
        else:
            with self._session.refusing(fields.text("context_id", "contextId") or _UNNAMED):
                self._obey(Message.of(fields))

    def frames(self, event: events.Event) -> list[Frame]:
        """Audio and its alignment; one final message for each context."""
        match event:
            case events.SegmentStarted():
                self._contexts[event.context].alignment.started(event)
            case events.SegmentTimed():
                self._contexts[event.context].alignment.timed(event)
            case events.Audio():
                return [self._told(_audio(self._contexts[event.context], event), event.context)]
            case events.Refused() if event.code is not ErrorCode.NOTHING_TO_SAY:
                return [self._told(_error(event.code, event.message), event.context)]
            case events.Ended():
                return self._ended(event)
        return []

    def _admitted(self, fields: Fields) -> bool:
        """Raises `MessageError`."""
        if self._gate:
            try:
                self._gate.check_key(
                    fields.text("xi_api_key", "xi-api-key") or bare_key(fields.text("authorization") or "")
                )
            except Denied as denied:
                self._session.report(events.Reply(self._told(_error("invalid_api_key", str(denied)), None)))
                self.closing = Close(1008, "invalid_api_key")
                return False
        self._gate = None
        return True

    def _ends(self, fields: Fields) -> bool:
        """Is this the connection's last message."""
        return fields.flag("close_socket")

    def _obey(self, message: Message) -> None:
        context = self._contexts.get(message.context)
        if context and context.closing:
            self._obey_closing(context, message)
            return
        if message.text and (context := context or self._open(message)):
            self._say(context, message.text)
        if context and message.flush:
            self._session.flush(context.name)
            context.unflushed = False
        if message.close:
            self._close(message, context)

    def _open(self, message: Message) -> _Context | None:
        name, speed = message.context, message.params.speed
        if self._session.failed(name):
            self._session.text(name, "")  # the rest of what failed: the session says so
            return None
        if self._session.full:
            self._make_room()
        self._session.open(name, replace(self._options, params=message.params))
        if name not in self._session:
            return None
        rate = self._options.format.sample_rate
        context = _Context(name, Alignment(characters, rate, speed), Joiner(spaced=self._sentences), rate)
        self._contexts[name] = context
        return context

    def _make_room(self) -> None:
        """A client that interrupts quickly has closed contexts that still drain: nobody listens to the oldest."""
        closing = (c.name for c in self._contexts.values() if c.closing and c.name in self._session)
        if name := next(closing, None):
            self._session.cancel(name)

    def _say(self, context: _Context, text: str) -> None:
        delta = context.joiner.join(text)
        if self._session.text(context.name, delta):
            context.alignment.add(delta)
            context.unflushed = context.unflushed or bool(text.strip())

    def _close(self, message: Message, context: _Context | None) -> None:
        """What was flushed is spoken to its end; a client that closes in the middle of its text interrupts."""
        if context is None:
            self._session.end(message.context)  # the name of one that failed is free again
            self._session.report(events.Reply(self._told(_FINAL, message.context)))
            return
        context.closing = True
        if message.immediate or context.unflushed:
            self._session.cancel(context.name)
        else:
            self._session.end(context.name)

    def _obey_closing(self, context: _Context, message: Message) -> None:
        """A second close interrupts. Text belongs to the next context of that name."""
        if context.deferred or message.text:
            if len(context.deferred) >= _MOST_DEFERRED:
                raise Refusal(ErrorCode.CONTEXT_ENDING, f"Context {context.name!r} was closed and is still spoken.")
            context.deferred.append(message)
        elif message.close:
            self._session.cancel(context.name)

    def _close_socket(self) -> None:
        self.closing = Close(1000)
        for context in self._contexts.values():
            context.deferred.clear()
            self._session.end(context.name)

    def _ended(self, event: events.Ended) -> list[Frame]:
        context = self._contexts.pop(event.context)
        frames: list[Frame] = [self._told(_FINAL, event.context)]
        if event.reason is EndReason.SHUTDOWN:
            frames.insert(0, self._told(_error(ErrorCode.SHUTTING_DOWN, "The server is going away."), event.context))
        for message in context.deferred:
            self._obey(message)
        return frames

    def _told(self, message: Mapping[str, object], context: str | None) -> str:
        named = message if context is None else {**message, "contextId": context}
        return json.dumps(named, separators=(",", ":"))


class SingleWire(MultiWire):
    """`stream-input`: one context, which no message names and whose end is the connection's."""

    _failed = False

    def frames(self, event: events.Event) -> list[Frame]:
        """A failure is the last message and ends the connection: clients would take a final message for success."""
        if isinstance(event, events.Ended) and (self._failed or event.reason is EndReason.SHUTDOWN):
            return super().frames(event)[:-1]
        if isinstance(event, events.Refused) and event.code is not ErrorCode.NOTHING_TO_SAY:
            self._failed = True
            self.closing = Close(1011 if event.retryable else 1008, event.code)
            self._session.cancel(_UNNAMED)
        return super().frames(event)

    def _ends(self, fields: Fields) -> bool:
        """Empty text is the end here, and a space keeps the connection alive."""
        return fields.text("text") == "" or super()._ends(fields)

    def _close_socket(self) -> None:
        if _UNNAMED not in self._session:
            self._session.report(events.Reply(self._told(_FINAL, None)))
        super()._close_socket()

    def _told(self, message: Mapping[str, object], context: str | None) -> str:  # noqa: ARG002
        return super()._told(message, None)


def error_detail(code: str, message: str) -> Mapping[str, object]:
    """An error over HTTP."""
    return {"detail": {"status": code, "message": message}}


async def multi_stream_input(websocket: WebSocket) -> None:
    """`/v1/text-to-speech/{voice}/multi-stream-input`."""
    await _serve(websocket, MultiWire)


async def stream_input(websocket: WebSocket) -> None:
    """`/v1/text-to-speech/{voice}/stream-input`."""
    await _serve(websocket, SingleWire)


async def _serve(websocket: WebSocket, wire: type[MultiWire]) -> None:
    edge, query = edge_of(websocket), websocket.query_params
    async with denying(websocket, error_detail):
        edge.gate.check_page(websocket.headers)
        key = offered_key(websocket.headers, (), query)
        if key:
            edge.gate.check_key(key)
        await known(edge)
        sentences = query.get("auto_mode") == "true"
        options = context_options(
            edge.voices.match(websocket.path_params["voice"]),
            audio_format(query.get("output_format", DEFAULT_FORMAT)),
            language_tag(query.get("language_code")),
            sentences=sentences,
        )
        gate = None if key else edge.gate
        await serve(websocket, edge, lambda session: wire(session, options, sentences=sentences, gate=gate))


_FINAL: Mapping[str, object] = {"audio": None, "isFinal": True}


def _error(code: str, message: str) -> Mapping[str, object]:
    """Clients take any message with one of these keys for a failure."""
    return {"message": message, "error": code, "code": 1008}


def _audio(context: _Context, audio: events.Audio) -> Mapping[str, object]:
    pieces = context.alignment.take(audio)
    aligned = None
    if pieces:
        end = audio.first_sample + audio.samples
        aligned = _aligned(pieces, context.aligned_to, end, context.rate)
        context.aligned_to = end
    data = base64.b64encode(audio.data).decode()
    return {"audio": data, "isFinal": None, "normalizedAlignment": aligned, "alignment": aligned}


def _aligned(pieces: list[Piece], begin: int, end: int, rate: int) -> dict[str, list[str] | list[int]]:
    """Characters over the audio from `begin`, where the times of this message start, to `end`.

    Clients add up how long each message's characters last, so audio without any counts with the next ones.
    """
    origin = round(begin * 1000 / rate)
    samples = accumulate((min(piece.first_sample, end) for piece in pieces), max, initial=begin)
    starts = [round(sample * 1000 / rate) - origin for sample in samples][1:]
    stops = [*starts[1:], round(end * 1000 / rate) - origin]
    return {
        "chars": [piece.text for piece in pieces],
        "charStartTimesMs": starts,
        "charDurationsMs": [stop - start for start, stop in zip(starts, stops, strict=True)],
    }
