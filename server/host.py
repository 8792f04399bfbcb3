"""What a session runs on and what its client may ask for. Values and protocols only."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from firstword.protocol import ErrorCode
from server.audio.format import AudioFormat
from server.audio.pool import Encoders
from server.events import Refused
from streaming.engine import Chunk, Failed, Pace, SegmentRequest, SpeechParams, Voice
from streaming.parameter import Parameter
from streaming.text.alphabet import Alphabet
from streaming.text.lexicon import Lexicon
from streaming.text.limits import SegmentLimits

_RETRYABLE = frozenset(
    {
        ErrorCode.OVERLOADED,
        ErrorCode.ENGINE_RESTARTED,
        ErrorCode.ENGINE_FAILED,
        ErrorCode.SHUTTING_DOWN,
        ErrorCode.TOO_MANY_CONTEXTS,
    }
)


class Refusal(Exception):  # noqa: N818
    """The client can't have this. Nothing has changed."""

    def __init__(self, code: ErrorCode, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after_s = retry_after_s

    def told(self, context: str | None) -> Refused:
        """As the event that tells the client."""
        return Refused(
            self.code, str(self), context, retryable=self.code in _RETRYABLE, retry_after_s=self.retry_after_s
        )


class Listener(Protocol):
    """Who asked for a request hears of it, on the session's thread, in order."""

    def on_chunk(self, chunk: Chunk) -> None: ...

    def on_failed(self, failed: Failed) -> None: ...


class Speech(Protocol):
    """The engine workers, as a session sees them."""

    @property
    def sample_rate(self) -> int: ...

    @property
    def alphabet(self) -> Alphabet:
        """What the engine can read."""

    @property
    def segment_limits(self) -> SegmentLimits:
        """How long its segments are best."""

    @property
    def controls(self) -> frozenset[str]:
        """Bracketed controls that it knows."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What `SpeechParams.options` may hold."""

    def next_request_id(self) -> int: ...

    def next_stream_id(self) -> int: ...

    def submit(self, request: SegmentRequest, listener: Listener) -> None:
        """Speak it. Raises `Refusal` with `overloaded` when there is no room."""

    def cancel(self, request_id: int) -> None:
        """Nothing more of this request is wanted, and its listener hears no more of it."""

    def leave(self, stream_id: int) -> None:
        """Nothing more of this stream will be asked for: its place is free for another."""


class Voices(Protocol):
    """The voices that can be asked for."""

    def resolve(self, name: str | None) -> Voice:
        """The voice of that name, None: the default. Raises `Refusal` with `unknown_voice`."""

    def match(self, name: str | None) -> str:
        """The name of a voice for an id from elsewhere, the same one always. Raises `Refusal` if that is not wanted."""


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """What one client may ask for."""

    contexts: int = 64
    context_chars: int = 100_000
    max_lead_s: float = 10.0
    """How far ahead of its playback a paced context is sent."""
    unsent_s: float = 10.0
    """How much of a context's audio may wait to be sent while more is made."""
    window: int = 3
    """Segments of one context at the engine at once."""


@dataclass(frozen=True, slots=True)
class Host:
    """What a session runs on."""

    clock: Callable[[], float]
    encoders: Encoders
    speech: Speech
    voices: Voices
    limits: SessionLimits = SessionLimits()
    lexicon: Callable[[], Lexicon] = Lexicon
    """How the server's owner wants words to be said; each context asks once."""


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """How a context is to sound."""

    voice: str | None = None
    format: AudioFormat = AudioFormat("opus", 24_000)
    language: str | None = None
    emoji: str = "silent"
    urls: str = "host"
    lexicon: Lexicon = Lexicon()
    params: SpeechParams = SpeechParams()
    """Its options are checked against the engine's parameters when a context is made of this."""
    pace: Pace = Pace.REALTIME
    max_buffer_s: float = 0.3
    lead_in_s: float = 0.0
    tail_s: float = 0.0
    floor_s: float = 0.0
    """Silence instead of text in which there is nothing to say: some clients take no audio for a failure."""
    message_s: float = 0.0
    """How much audio may leave in one piece where there is that much. Not for raw packets: their bytes are joined."""
