"""What a session tells its protocol adapter. Sample counts are at the context's own sample rate."""

from dataclasses import dataclass

from firstword.protocol import EndReason, ErrorCode
from server.audio.format import AudioFormat
from streaming.engine import Voice


@dataclass(frozen=True, slots=True)
class Opened:
    """A context exists."""

    context: str
    number: int
    voice: Voice
    format: AudioFormat
    frame_samples: int
    pre_skip: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """`[start, end)` of the context's text is not spoken, and why."""

    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class SegmentStarted:
    """The audio from `first_sample` on speaks `text`, which is `[start, end)` of the context's text."""

    context: str
    index: int
    text: str
    start: int
    end: int
    first_sample: int
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class WordTime:
    """A word, where it stands in the context's text, and when it is heard."""

    text: str
    start: int
    end: int
    first_sample: int
    samples: int


@dataclass(frozen=True, slots=True)
class SegmentTimed:
    """When each word of a segment is heard, estimated from its length."""

    context: str
    index: int
    words: tuple[WordTime, ...]


@dataclass(frozen=True, slots=True)
class Audio:
    """One encoded packet."""

    context: str
    number: int
    sequence: int
    first_sample: int
    samples: int
    data: bytes
    first: bool
    last: bool


@dataclass(frozen=True, slots=True)
class Flushed:
    """Every audible sample of the text before a flush has been given out."""

    context: str
    samples: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The last event of a context."""

    context: str
    reason: EndReason
    samples: int
    spoken: str
    ttfa_s: float | None
    skipped: tuple[Skipped, ...] = ()
    """What was left out and no segment has told."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Something was refused or failed, in one context or (None) in the session."""

    code: ErrorCode
    message: str
    context: str | None = None
    retryable: bool = False
    retry_after_s: float | None = None


Event = Opened | SegmentStarted | SegmentTimed | Audio | Flushed | Ended | Refused
