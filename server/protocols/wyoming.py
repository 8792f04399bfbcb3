"""Wyoming, Home Assistant's protocol: events over TCP, one utterance after the other on a connection."""

import asyncio
import io
import itertools
import json
import socket
from collections import deque
from collections.abc import Sequence

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Eventable, async_read_event, write_event
from wyoming.info import Attribution, Describe, Info, TtsProgram, TtsVoice
from wyoming.ping import Ping, Pong
from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeStopped

from firstword.protocol import ErrorCode
from server import events
from server.audio.format import AudioFormat
from server.edge import VERSION, Edge
from server.host import ContextOptions, Refusal
from server.protocols.connection import Connection
from server.protocols.fields import Fields
from server.protocols.handshake import FLOOR_S, language_tag
from server.protocols.transport import Close, Frame
from server.session import Session
from streaming.engine import Pace, Voice

_SAMPLE_BYTES, _CHANNELS = 2, 1
_FORMAT = AudioFormat("pcm_s16le", 24_000)
_CHUNK_S = 0.08
"""Audio in one event: Home Assistant hands it on to satellites as it is."""

_SEND_BUFFER = 16_384
_MOST_WAITING = 1000


class WyomingWire:
    """Says one utterance at a time: audio has no name here, so what comes for the next one waits."""

    closing = None

    def __init__(self, session: Session, edge: Edge) -> None:
        self._session = session
        self._edge = edge
        self._speaking: str | None = None
        self._listening = False
        """The utterance comes in chunks and its end has not come."""
        self._streamed = False
        """Its end is to be told in the way of those that come in chunks."""
        self._waiting: deque[tuple[str, Fields]] = deque()
        self._names = itertools.count()

    def greeting(self, connection: str) -> list[Frame]:  # noqa: ARG002
        """Nothing: the client speaks first."""
        return []

    def receive(self, frame: Frame) -> None:
        """Unknown events are none of our business."""
        message = Fields.parse(frame)
        kind, data = message.text("type") or "", message.inner("data")
        if Describe.is_type(kind):
            self._session.report(events.Reply(_told(_info(self._edge.voices.all()))))
        elif Ping.is_type(kind):
            self._session.report(events.Reply(_told(Pong(data.text("text")))))
        elif self._busy:
            self._wait(kind, data)
        else:
            self._obey(kind, data)

    def frames(self, event: events.Event) -> Sequence[Frame]:
        """Audio between its start and its stop, whatever happens: clients wait for the stop."""
        match event:
            case events.Opened():
                return [_told(AudioStart(event.format.sample_rate, _SAMPLE_BYTES, _CHANNELS))]
            case events.Audio():
                return [_told(AudioChunk(_FORMAT.sample_rate, _SAMPLE_BYTES, _CHANNELS, event.data))]
            case events.Refused() if event.code is not ErrorCode.NOTHING_TO_SAY:
                return [_told(Error(event.message, event.code))]
            case events.Ended():
                return self._ended()
        return []

    @property
    def _busy(self) -> bool:
        """What is being spoken has all its text, so what comes belongs to the next utterance."""
        return self._speaking is not None and not self._listening

    def _wait(self, kind: str, data: Fields) -> None:
        if len(self._waiting) >= _MOST_WAITING:
            raise Refusal(ErrorCode.TOO_MANY_CONTEXTS, "Too much waits for the utterance that is being spoken.")
        self._waiting.append((kind, data))

    def _obey(self, kind: str, data: Fields) -> None:
        if SynthesizeStart.is_type(kind):
            self._finish()
            if self._busy:
                self._wait(kind, data)
            else:
                self._open(data, streamed=True)
        elif SynthesizeChunk.is_type(kind):
            self._say(data)
        elif SynthesizeStop.is_type(kind):
            self._finish()
        elif Synthesize.is_type(kind) and not self._listening:  # among chunks it repeats them, for older servers
            self._open(data, streamed=False)
            self._say(data)
            self._finish()

    def _open(self, data: Fields, *, streamed: bool) -> None:
        name = str(next(self._names))
        self._streamed = self._listening = streamed
        with self._session.refusing(name):
            self._session.open(name, self._options(data.inner("voice")))
        if name in self._session:
            self._speaking = name
        else:
            self._session.report(events.Reply(b"".join(self._stopped())))

    def _options(self, voice: Fields) -> ContextOptions:
        name, language = voice.text("name"), language_tag(voice.text("language"))
        voices = self._edge.voices
        return ContextOptions(
            voice=voices.match(name) if name or not language else _speaker(voices.all(), language, voices.default),
            format=_FORMAT,
            language=language,
            pace=Pace.FAST,
            floor_s=FLOOR_S,
            message_s=_CHUNK_S,
        )

    def _say(self, data: Fields) -> None:
        if self._speaking:
            self._session.text(self._speaking, data.text("text") or "")

    def _finish(self) -> None:
        self._listening = False
        if self._speaking:
            self._session.end(self._speaking)

    def _ended(self) -> list[bytes]:
        frames = self._stopped()
        self._speaking = None
        while self._waiting and not self._busy:
            self._obey(*self._waiting.popleft())
        return frames

    def _stopped(self) -> list[bytes]:
        """Without the second one a client that sends chunks would wait for ever."""
        ends: list[Eventable] = [AudioStop(), SynthesizeStopped()] if self._streamed else [AudioStop()]
        return [_told(end) for end in ends]


def _speaker(voices: Sequence[Voice], language: str, default: str) -> str:
    """Whoever speaks a language best, the default voice if it does at all."""
    wanted = _primary(language)
    ranked = [
        (tags.index(wanted), voice.name != default, voice.name)
        for voice in voices
        if wanted in (tags := [_primary(tag) for tag in voice.languages])
    ]
    return min(ranked)[-1] if ranked else default


def _primary(tag: str) -> str:
    return tag.replace("_", "-").partition("-")[0].lower()


def _info(voices: Sequence[Voice]) -> Info:
    listed = [
        TtsVoice(
            name=voice.name,
            attribution=Attribution(name=voice.licence, url=""),
            installed=True,
            description=voice.description or voice.name,
            version=None,
            languages=list(voice.languages),
        )
        for voice in voices
    ]
    program = TtsProgram(
        name="firstword",
        attribution=Attribution(name="firstword", url=""),
        installed=True,
        description="Streaming text-to-speech",
        version=VERSION,
        voices=listed,
        supports_synthesize_streaming=True,
    )
    return Info(tts=[program])


def _told(event: Eventable) -> bytes:
    frame = io.BytesIO()
    write_event(event.event(), frame)
    return frame.getvalue()


class TcpTransport:
    """A connection's events: JSON text in, their bytes out."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        writer.transport.set_write_buffer_limits(high=_SEND_BUFFER)

    async def receive(self) -> Frame | None:
        """None, too, when what came is no event: nobody could tell where the next one begins."""
        try:
            event = await async_read_event(self._reader)
        except (AttributeError, EOFError, KeyError, RecursionError, TypeError):
            event = None
        return None if event is None else json.dumps({"type": event.type, "data": event.data})

    async def send(self, frame: Frame) -> None:
        """An event."""
        assert isinstance(frame, bytes)
        self._writer.write(frame)
        await self._writer.drain()

    async def close(self, close: Close) -> None:  # noqa: ARG002
        """There is no way to say why."""
        self._writer.close()

    def cut(self) -> None:
        """Without what waits to be taken."""
        self._writer.transport.abort()


class _BoundedReader(asyncio.StreamReader):
    """A line that is too long is an error already; so is a block."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(limit=most_bytes)
        self._most_bytes = most_bytes

    async def readexactly(self, n: int) -> bytes:
        if n > self._most_bytes:
            raise ValueError(f"a block of {n} bytes")
        return await super().readexactly(n)


async def serve(edge: Edge, sock: socket.socket) -> asyncio.Server:
    """Accept connections on `sock`. Wyoming knows no keys: whoever gets there may speak."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        transport = TcpTransport(reader, writer)
        await Connection(transport, edge, lambda session: WyomingWire(session, edge)).run()
        writer.close()

    def protocol() -> asyncio.StreamReaderProtocol:
        return asyncio.StreamReaderProtocol(_BoundedReader(edge.settings.max_message_bytes), connected)

    return await asyncio.get_running_loop().create_server(protocol, sock=sock)
