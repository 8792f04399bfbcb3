"""Who is let in: by how many listeners the workers are fast enough for, as they measured it."""

from collections import deque
from collections.abc import Callable

_GRACE_S = 1.0
"""A context whose text pauses keeps its place for so long."""

_UNMEASURED = 4
"""Listeners that are let in before a worker has told how fast it is: what they hear is the measurement."""


class Seats:
    """The listeners of one worker, in real time. Owned by the event loop."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seen: dict[int, float] = {}
        self._capacity: int | None = None
        self._load = 0.0

    @property
    def taken(self) -> int:
        """Listeners there are now."""
        oldest = self._clock() - _GRACE_S
        self._seen = {stream: at for stream, at in self._seen.items() if at > oldest}
        return len(self._seen)

    @property
    def capacity(self) -> int:
        """Listeners there may be."""
        return _UNMEASURED if self._capacity is None else self._capacity

    @property
    def measured(self) -> bool:
        """Has the worker told how fast it is?"""
        return self._capacity is not None

    @property
    def load(self) -> float:
        """Share of the worker's time that its listeners take, as it said."""
        return self._load

    @property
    def free(self) -> bool:
        """Is there room for one more?"""
        return self.taken < self.capacity

    def told(self, capacity: int, load: float) -> None:
        """The worker measured itself."""
        self._capacity, self._load = capacity, load

    def take(self, stream_id: int) -> None:
        """A stream has, or has again, something to be spoken."""
        self._seen[stream_id] = self._clock()

    def leave(self, stream_id: int) -> None:
        """A stream is gone for good."""
        self._seen.pop(stream_id, None)


class Queue:
    """Those who wait, first come first served, none longer than `max_wait_s`."""

    def __init__(self, *, most: int, max_wait_s: float, clock: Callable[[], float]) -> None:
        self._most = most
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._waiting: deque[tuple[int, float]] = deque()
        """Streams, and until when they wait."""

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Nobody more may wait."""
        return len(self._waiting) >= self._most or self._max_wait_s <= 0

    @property
    def first(self) -> int | None:
        """The stream that waits longest."""
        return self._waiting[0][0] if self._waiting else None

    def push(self, stream_id: int) -> None:
        """One more waits."""
        self._waiting.append((stream_id, self._clock() + self._max_wait_s))

    def remove(self, stream_id: int) -> None:
        """This one is let in, or does not want in any more."""
        self._waiting = deque(waiting for waiting in self._waiting if waiting[0] != stream_id)

    def expired(self) -> list[int]:
        """Those who waited long enough; they wait no more."""
        now = self._clock()
        gone = []
        while self._waiting and self._waiting[0][1] <= now:
            gone.append(self._waiting.popleft()[0])
        return gone
