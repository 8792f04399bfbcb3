"""A server whose engine makes audio for free, at real-time rate, and writes down when: what is left is the edge."""

import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from streaming.engine import Chunk, EngineInfo, EngineSpec, Failed, SegmentRequest, StopReason, Voice
from tests.serving import serve_engine

FRAME = 480
RATE = 24_000
MOST_FRAMES = 1_000_000
_FRAME_S = FRAME / RATE
_VOICE = Voice("free", ("en",), "none", "Apache-2.0")


class FreeEngine:
    """Every request gets a 20 ms frame each 20 ms, counted from its own start. Its seed is a number and how many."""

    def __init__(self, log: str) -> None:
        self._log = Path(log)
        self._frame = bytes(4 * FRAME)
        self._made: dict[int, list[float]] = {}
        self._wanted: dict[int, tuple[int, int]] = {}
        self._due: dict[int, float] = {}
        self._phase = random.Random(0)

    @property
    def info(self) -> EngineInfo:
        return EngineInfo("free", RATE, slots=1000, batch=1000, voices=(_VOICE,), default_voice=_VOICE.name)

    def start(self, request: SegmentRequest) -> None:
        self._wanted[request.request_id] = divmod(request.params.seed, MOST_FRAMES)
        self._made[request.request_id] = []
        # Requests start between two steps, after which all would be in step with the first one for ever.
        self._due[request.request_id] = time.monotonic() + self._phase.uniform(0, _FRAME_S)

    def step(self, request_ids: Sequence[int]) -> list[Chunk | Failed]:
        time.sleep(max(0.0, min(self._due[r] for r in request_ids) - time.monotonic(), 0.001))
        now = time.monotonic()
        return [self._chunk(r, now) for r in request_ids if self._due[r] <= now]

    def _chunk(self, request_id: int, made_at: float) -> Chunk:
        number, frames = self._wanted[request_id]
        made = self._made[request_id]
        made.append(made_at)
        self._due[request_id] += _FRAME_S
        if len(made) < frames:
            return Chunk(request_id, self._frame)
        with self._log.open("a") as file:
            file.write(json.dumps([number, made]) + "\n")
        self.cancel(request_id)
        return Chunk(request_id, self._frame, StopReason.COMPLETE)

    def cancel(self, request_id: int) -> None:
        self._wanted.pop(request_id, None)
        self._made.pop(request_id, None)
        self._due.pop(request_id, None)

    def interrupt(self, request_id: int) -> None:
        """A step is never longer than a frame."""


def main() -> int:
    """`python -m tests.bench.scripted LOG [server flags]`."""
    path, *flags = sys.argv[1:]
    return serve_engine(EngineSpec("tests.bench.scripted:FreeEngine", {"log": path}), flags)


if __name__ == "__main__":
    sys.exit(main())
