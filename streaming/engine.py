"""What crosses between the edge and an engine worker, and what an engine is.

Everything here is a frozen value or a protocol. PCM is mono float32, little-endian, at the rate
`EngineInfo.sample_rate`, in `bytes`, nominally within [-1, 1].
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from streaming.parameter import Chosen, Parameter
from streaming.text.alphabet import CHINESE_AND_ENGLISH, Alphabet
from streaming.text.limits import SegmentLimits

SAMPLE_BYTES = 4


class Pace(StrEnum):
    """How fast the listener takes the audio."""

    REALTIME = "realtime"
    """Played as it arrives: never more than the lead limit ahead, never late."""
    FAST = "fast"
    """Wanted as a file: no lead limit, lowest priority."""


class StopReason(StrEnum):
    """Why a request made no more audio."""

    COMPLETE = "complete"
    """The text was spoken to its end."""
    LENGTH = "length"
    """The model did not stop by itself and was cut at the longest plausible duration."""


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice that an engine offers. `languages` are BCP 47 tags, the native one first."""

    name: str
    languages: tuple[str, ...]
    sex: str
    licence: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What a loaded engine is and can do."""

    name: str
    sample_rate: int
    """Samples per second of every chunk."""
    slots: int
    """Requests it can hold at once."""
    batch: int
    """Requests it can advance in one step."""
    voices: tuple[Voice, ...]
    default_voice: str
    alphabet: Alphabet = CHINESE_AND_ENGLISH
    """What it can read: text is brought into it before it comes."""
    limits: SegmentLimits = SegmentLimits()
    """How long its segments are best."""
    controls: frozenset[str] = frozenset()
    """Bracketed controls it knows, such as `laugh`: they reach it as they are, all others are neutralised."""
    parameters: tuple[Parameter, ...] = ()
    """What `SpeechParams.options` may hold."""


@dataclass(frozen=True, slots=True)
class SpeechParams:
    """How to speak. An engine ignores what it has no use for."""

    speed: float = 1.0
    """1 is the voice's own speed, 2 twice as fast."""
    seed: int = 0
    """Same request, same seed, same samples, whatever else runs."""
    options: Chosen = ()
    """What only this engine has, as `EngineInfo.parameters` names it."""


@dataclass(frozen=True, slots=True)
class SegmentRequest:
    """One segment to speak. A request is reproducible: sent again, it gives the same samples."""

    request_id: int
    """Unique among all requests of one edge process."""
    stream_id: int
    """The context it belongs to; requests of one stream are played in order of `index`."""
    index: int
    text: str
    voice: str
    language: str | None = None
    """The language that text without script of its own (digits) is read in; None: by the text."""
    pause_s: float = 0.0
    """Silence after the last word, in seconds, instead of what the model would leave there."""
    pace: Pace = Pace.REALTIME
    params: SpeechParams = SpeechParams()


@dataclass(frozen=True, slots=True)
class Chunk:
    """PCM of one request that became final in one step, in order. The last one has a `stop` reason."""

    request_id: int
    pcm: bytes
    stop: StopReason | None = None


# Commands: edge to worker.


@dataclass(frozen=True, slots=True)
class Submit:
    """Speak this."""

    request: SegmentRequest


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop this request; no chunk of it is wanted any more. Unknown ids are ignored."""

    request_id: int


@dataclass(frozen=True, slots=True)
class Stop:
    """End the worker process after the current step."""


Command = Submit | Cancel | Stop


# Reports: worker to edge.


@dataclass(frozen=True, slots=True)
class Ready:
    """The engine is loaded and warm."""

    info: EngineInfo


@dataclass(frozen=True, slots=True)
class Started:
    """These requests took a slot: if the worker dies now, one of them may be why."""

    request_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chunks:
    """Everything that one step made."""

    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """This request can't be spoken; no more of it follows. The others go on."""

    request_id: int
    code: str
    message: str
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many listeners this worker is fast enough for, by what its steps cost and make."""

    listeners: int
    load: float
    """Share of the time that those it has now take; above 1 some run dry."""


@dataclass(frozen=True, slots=True)
class Alive:
    """Told about every second, whatever a step does."""

    cpu_s: float
    """Processor time that this process has had, in seconds."""
    waiting: bool
    """Nothing is to be done now: all listeners have enough."""


Report = Capacity | Alive | Ready | Started | Chunks | Failed


class RequestError(Exception):
    """One request can't be spoken. Ends that request, never the worker."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Engine(Protocol):
    """A model that speaks requests, some at a time. Every method but `interrupt` is called by one thread."""

    @property
    def info(self) -> EngineInfo:
        """Fixed once the engine is built."""

    def start(self, request: SegmentRequest) -> None:
        """Take a free slot for `request`. Raises `RequestError` if it can't be spoken."""

    def step(self, request_ids: Sequence[int]) -> list[Chunk | Failed]:
        """Advance these started requests (at most `info.batch`) by one bounded piece of work.

        Returns at most one item per request. A chunk with a stop reason or a failure frees the slot.
        """

    def cancel(self, request_id: int) -> None:
        """Free the slot of a started request."""

    def interrupt(self, request_id: int) -> None:
        """From any thread: if a step works on this request, let it return early. May do nothing."""


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """How a worker builds its engine: `"module:callable"` and the callable's keyword arguments."""

    factory: str
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    max_lead_s: float = 10.0
    """How much audio is made ahead of a listener."""
    headroom: float = 0.15
    """Share of the time that is kept free when listeners are let in."""
