"""Stand-ins for what a test must control: an engine whose audio is known, a clock, a speech backend."""

import math
import os
import struct
import threading
import time
from array import array
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from server.host import Listener, Refusal
from streaming.engine import (
    Chunk,
    EngineInfo,
    Failed,
    RequestError,
    SegmentRequest,
    StopReason,
    Voice,
)
from streaming.parameter import Parameter
from streaming.text.alphabet import CHINESE_AND_ENGLISH, Alphabet
from streaming.text.limits import SegmentLimits

RATE = 24_000
VOICES = (
    Voice("alto", ("en",), "female", "Apache-2.0", "A tone."),
    Voice("bass", ("en", "zh"), "male", "Apache-2.0", "A lower tone."),
)
INFO = EngineInfo(name="scripted", sample_rate=RATE, slots=8, batch=4, voices=VOICES, default_voice="alto")


def tone(request: SegmentRequest, samples_per_char: int) -> bytes:
    """The audio of a request: a tone whose pitch is the text's, then its pause. A pure function of the request."""
    hertz = 200 + sum(map(ord, request.text)) % 400 + 50 * request.params.seed
    speech = _tone(hertz, len(request.text) * samples_per_char)
    return speech + bytes(4 * round(request.pause_s * RATE))


@lru_cache(maxsize=256)
def _tone(hertz: int, samples: int) -> bytes:
    return array("f", (0.5 * math.sin(2 * math.pi * hertz * i / RATE) for i in range(samples))).tobytes()


class ScriptedEngine:
    """Speaks tones, a fixed piece a step. Some texts do as they say: die, hang, raise, fail, silence."""

    def __init__(
        self,
        samples_per_char: int = 480,
        samples_per_step: int = 4800,
        fail_to_load: bool = False,
        die_marker: str = "",
        pid_file: str = "",
        step_s: float = 0.0,
    ) -> None:
        if fail_to_load:
            raise RuntimeError("no weights")
        if pid_file:
            with open(pid_file, "a") as file:  # noqa: PTH123
                file.write(f"{os.getpid()}\n")
        self._samples_per_char = samples_per_char
        self._step_bytes = 4 * samples_per_step
        self._die_marker = die_marker
        self._step_s = step_s
        self._left: dict[int, bytes] = {}
        self._broken: set[int] = set()
        self._interrupted = threading.Event()

    @property
    def info(self) -> EngineInfo:
        return INFO

    def start(self, request: SegmentRequest) -> None:
        if "refuse me" in request.text:
            raise RequestError("nothing_to_say", "There is nothing to say.")
        if "break at start" in request.text:
            raise ZeroDivisionError("a bug at the start")
        if "too big" in request.text:
            raise MemoryError("out of memory")
        self._left[request.request_id] = tone(request, self._samples_per_char)
        if "die now" in request.text and self._first_time():
            os._exit(9)
        self._hang = "hang now" in request.text
        self._busy = "work long" in request.text
        if "break in a step" in request.text:
            self._broken.add(request.request_id)

    def _first_time(self) -> bool:
        """Dies once if there is a marker file to remember it by, always if there is none."""
        if not self._die_marker:
            return True
        try:
            os.close(os.open(self._die_marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def step(self, request_ids: Sequence[int]) -> list[Chunk | Failed]:
        if self._hang:
            self._interrupted.wait()
        if self._step_s:
            time.sleep(self._step_s)
        if self._busy:  # a step that takes long but works
            until = time.process_time() + 3
            self._busy = False
            while time.process_time() < until:
                pass
        if broken := self._broken.intersection(request_ids):
            raise ZeroDivisionError(f"a bug in a step of {broken}")
        return [self._piece(request_id) for request_id in request_ids]

    def _piece(self, request_id: int) -> Chunk:
        left = self._left[request_id]
        piece, rest = left[: self._step_bytes], left[self._step_bytes :]
        if rest:
            self._left[request_id] = rest
            return Chunk(request_id, piece)
        del self._left[request_id]
        return Chunk(request_id, piece, StopReason.COMPLETE)

    def cancel(self, request_id: int) -> None:
        self._left.pop(request_id, None)
        self._broken.discard(request_id)

    def interrupt(self, request_id: int) -> None:
        self._interrupted.set()


@dataclass
class Clock:
    """Time that a test moves."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class FakeSpeech:
    """A speech backend in the same thread: what is submitted is spoken when the test says so."""

    sample_rate: int = RATE
    alphabet: Alphabet = CHINESE_AND_ENGLISH
    segment_limits: SegmentLimits = SegmentLimits()
    controls: frozenset[str] = frozenset()
    parameters: tuple[Parameter, ...] = ()
    samples_per_char: int = 480
    full: bool = False
    submitted: list[SegmentRequest] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    _live: dict[int, tuple[SegmentRequest, Listener]] = field(default_factory=dict)
    _ids: int = 0

    def next_request_id(self) -> int:
        self._ids += 1
        return self._ids

    def next_stream_id(self) -> int:
        self._ids += 1
        return self._ids

    def submit(self, request: SegmentRequest, listener: Listener) -> None:
        if self.full:
            from firstword.protocol import ErrorCode  # noqa: PLC0415

            raise Refusal(ErrorCode.OVERLOADED, "Full.", retry_after_s=1.0)
        self.submitted.append(request)
        self._live[request.request_id] = (request, listener)

    def cancel(self, request_id: int) -> None:
        self.cancelled.append(request_id)
        self._live.pop(request_id, None)

    def leave(self, stream_id: int) -> None:
        """There is room for any number."""

    @property
    def live(self) -> list[SegmentRequest]:
        return [request for request, _ in self._live.values()]

    def speak(self, request_id: int | None = None, pieces: int = 1) -> None:
        """Speak one live request, the first by default, in so many chunks."""
        request, listener = self._live[request_id or next(iter(self._live))]
        pcm = tone(request, self.samples_per_char)
        size = -(-len(pcm) // pieces // 4) * 4 or 4
        parts = deque(pcm[i : i + size] for i in range(0, len(pcm), size))
        while parts:
            part = parts.popleft()
            stop = None if parts else StopReason.COMPLETE
            if stop:
                self._live.pop(request.request_id, None)
            listener.on_chunk(Chunk(request.request_id, part, stop))

    def speak_all(self) -> None:
        """Speak everything that is submitted, and what is submitted because of it."""
        while self._live:
            self.speak()

    def fail(self, code: str, request_id: int | None = None) -> None:
        """A live request fails."""
        request, listener = self._live.pop(request_id or next(iter(self._live)))
        listener.on_failed(Failed(request.request_id, code, f"It failed with {code}."))

    def emit(self, request_id: int, samples: int) -> None:
        """Some audio of a live request that goes on."""
        _, listener = self._live[request_id]
        listener.on_chunk(Chunk(request_id, struct.pack("<f", 0.25) * samples))
