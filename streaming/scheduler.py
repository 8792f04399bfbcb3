"""Who takes a slot and who is advanced next. Plain integers and clocks; knows no model."""

import itertools
from dataclasses import dataclass, field

from streaming.engine import Pace, SegmentRequest

_PATIENCE_S = 1.0
"""A request that nobody listens to in real time is due when it was left alone for so long: last, but not starved."""

_RESUME_S = 0.5
"""How much a paused listener hears before more is made for him."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the next step does. `resume_at` is when to look again if it does nothing: a listener needs more then."""

    start: tuple[SegmentRequest, ...]
    run: tuple[int, ...]
    resume_at: float | None = None


@dataclass(slots=True)
class _Entry:
    request: SegmentRequest
    arrival: int
    advanced_at: float
    """When it arrived or made audio last."""
    started: bool = False
    paused: bool = False


@dataclass(slots=True)
class _Stream:
    dry_at: float | None = None
    """When its listener has played all there is in order; None: nothing has sounded yet."""
    ahead_s: dict[int, float] = field(default_factory=dict)
    """Audio of segments whose turn has not come, by index."""
    live: dict[int, int] = field(default_factory=dict)
    """Request ids by index."""

    @property
    def next_index(self) -> int | None:
        return min(self.live, default=None)

    def take_in_order(self, now: float) -> None:
        """What was made ahead is to be heard as soon as all before it is made."""
        head = self.next_index
        for index in [index for index in self.ahead_s if head is None or index <= head]:
            self.dry_at = max(now if self.dry_at is None else self.dry_at, now) + self.ahead_s.pop(index)

    def lead_s(self, index: int, now: float) -> float:
        """What there is to hear before more of that segment is needed."""
        ahead_s = 0.0 if index == self.next_index else sum(self.ahead_s.values())
        return ahead_s + (0.0 if self.dry_at is None else max(0.0, self.dry_at - now))


class Scheduler:
    """Earliest deadline first: the deadline is the moment a listener runs dry. Owns all requests of one worker.

    * A stream that has not sounded yet is due from the moment it arrived: before all whose listeners have audio.
    * A stream more than `max_lead_s` ahead of its listener pauses and keeps its slot.
    * Segments whose turn has not come, and `Pace.FAST` requests, use what is left: some slots are kept from them, and
      they wait while anybody is about to run dry.
    """

    def __init__(self, *, slots: int, batch: int, sample_rate: int, max_lead_s: float = 10.0) -> None:
        self._slots = slots
        self._batch = batch
        self._sample_rate = sample_rate
        self._max_lead_s = max_lead_s
        self._kept = max(1, slots // 4)
        self._entries: dict[int, _Entry] = {}
        self._streams: dict[int, _Stream] = {}
        self._arrivals = itertools.count()

    @property
    def idle(self) -> bool:
        """Nothing to plan."""
        return not self._entries

    @property
    def listeners(self) -> int:
        """Streams with requests that are listened to in real time."""
        paced = (e.request.stream_id for e in self._entries.values() if e.request.pace is Pace.REALTIME)
        return len(set(paced))

    def holds(self, request_id: int) -> bool:
        """Is it still wanted?"""
        return request_id in self._entries

    def add(self, request: SegmentRequest, now: float) -> None:
        """A request arrived."""
        self._entries[request.request_id] = _Entry(request, next(self._arrivals), now)
        self._streams.setdefault(request.stream_id, _Stream()).live[request.index] = request.request_id

    def remove(self, request_id: int, now: float = 0.0) -> bool:
        """A request is finished or not wanted any more. True if it held a slot."""
        entry = self._entries.pop(request_id, None)
        if entry is None:
            return False
        stream = self._streams[entry.request.stream_id]
        stream.live.pop(entry.request.index, None)
        stream.take_in_order(now)
        return entry.started

    def produced(self, request_id: int, samples: int, now: float) -> None:
        """A request made audio: its listener runs dry later."""
        entry = self._entries.get(request_id)
        if entry is not None:
            entry.advanced_at = now
            stream, index = self._streams[entry.request.stream_id], entry.request.index
            stream.ahead_s[index] = stream.ahead_s.get(index, 0.0) + samples / self._sample_rate
            stream.take_in_order(now)

    def plan(self, now: float, guard_s: float = 0.0) -> Plan:
        """Fill free slots with the most urgent waiting requests, then advance the most urgent started ones.

        `guard_s` is how long a step may take: a listener is served so much before running dry.
        """
        self._forget_dry_streams(now)
        for entry in self._entries.values():
            entry.paused = self._pauses(entry, now, guard_s)
        wanted = [entry for entry in self._entries.values() if not entry.paused]
        urgent = sorted((e for e in wanted if self._due(e, now)), key=lambda e: self._deadline(e, guard_s))
        spare = sorted((e for e in wanted if not self._due(e, now)), key=lambda e: (self._fast(e), e.arrival))
        start = self._fill(urgent, spare)
        run = [entry for entry in urgent if entry.started]
        if all(self._at_ease(entry, now, guard_s) for entry in urgent):
            run += [entry for entry in spare if entry.started]
        resume_at = None if start or run else self._resume_at(now, guard_s)
        return Plan(tuple(e.request for e in start), tuple(e.request.request_id for e in run[: self._batch]), resume_at)

    def _fill(self, urgent: list[_Entry], spare: list[_Entry]) -> list[_Entry]:
        taken = sum(entry.started for entry in self._entries.values())
        start = [entry for entry in urgent if not entry.started][: max(0, self._slots - taken)]
        room = self._slots - taken - len(start)
        waiting = [entry for entry in spare if not entry.started]
        start += waiting[: max(room - self._kept, int(taken + len(start) == 0))]
        for entry in start:
            entry.started = True
        return start

    def _fast(self, entry: _Entry) -> bool:
        return entry.request.pace is Pace.FAST

    def _due(self, entry: _Entry, now: float) -> bool:
        """Does somebody wait for exactly this?"""
        if self._fast(entry):
            return entry.started and now - entry.advanced_at > _PATIENCE_S
        return entry.request.index == self._streams[entry.request.stream_id].next_index

    def _deadline(self, entry: _Entry, guard_s: float) -> tuple[float, int]:
        if self._fast(entry):
            return entry.advanced_at + _PATIENCE_S, entry.arrival
        dry_at = self._streams[entry.request.stream_id].dry_at
        return (entry.advanced_at if dry_at is None else dry_at - guard_s), entry.arrival

    def _at_ease(self, entry: _Entry, now: float, guard_s: float) -> bool:
        """Has the listener enough for a step or two that do nothing for it?"""
        dry_at = self._streams[entry.request.stream_id].dry_at
        return self._fast(entry) or (dry_at is not None and dry_at - now > 2 * guard_s)

    def _pauses(self, entry: _Entry, now: float, guard_s: float) -> bool:
        """A request pauses when its listener has plenty, and goes on well before he runs dry."""
        limit_s = self._max_lead_s - _RESUME_S if entry.paused else self._max_lead_s
        return not self._fast(entry) and self._lead_s(entry, now) > max(limit_s, 2 * guard_s)

    def _resume_at(self, now: float, guard_s: float) -> float | None:
        limit_s = max(self._max_lead_s - _RESUME_S, 2 * guard_s)
        waits = (self._lead_s(entry, now) - limit_s for entry in self._entries.values())
        return min((now + max(0.0, wait_s) for wait_s in waits), default=None)

    def _lead_s(self, entry: _Entry, now: float) -> float:
        return self._streams[entry.request.stream_id].lead_s(entry.request.index, now)

    def _forget_dry_streams(self, now: float) -> None:
        """A stream that ran dry with nothing to say starts anew with its next segment."""
        self._streams = {
            key: stream
            for key, stream in self._streams.items()
            if stream.live or (stream.dry_at is not None and stream.dry_at > now)
        }
