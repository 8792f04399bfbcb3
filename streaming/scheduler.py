"""Who takes a slot and who is advanced next. Plain integers and clocks; knows no model."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from streaming.engine import Pace, SegmentRequest

_AHEAD_S = 0.5
"""A segment behind one that has not sounded yet is due at least this much later."""
_RESUME_S = 0.5
"""How much a paused listener hears before more is made for him."""
_SOON_S = 1.0
"""While somebody waits for his first sound, a segment is not made ahead for a listener who has more than this."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the next step does."""

    start: tuple[SegmentRequest, ...]
    run: tuple[int, ...]
    resume_at: float | None = None
    """With nothing to run: when a listener needs more. None: nothing but a command can tell."""


@dataclass(slots=True)
class _Entry:
    request: SegmentRequest
    arrival: int
    arrived_at: float
    started: bool = False


class Scheduler:
    """Earliest deadline first: the deadline is the moment a listener runs dry. Owns all requests of one worker.

    A stream that has not sounded yet is due from the moment it arrived, so it goes before every stream whose
    listener still has audio. One that is far ahead of its listener pauses, in its slot. `Pace.FAST` requests have no
    deadline and go last.
    """

    def __init__(self, *, slots: int, batch: int, sample_rate: int, max_lead_s: float = 10.0) -> None:
        self._slots = slots
        self._batch = batch
        self._sample_rate = sample_rate
        self._max_lead_s = max_lead_s
        self._paused: set[int] = set()
        """Streams."""
        self._entries: dict[int, _Entry] = {}
        self._dry_at: dict[int, float] = {}
        self._arrivals = itertools.count()

    @property
    def idle(self) -> bool:
        """Nothing to plan."""
        return not self._entries

    def holds(self, request_id: int) -> bool:
        """Is it still wanted?"""
        return request_id in self._entries

    def add(self, request: SegmentRequest, now: float) -> None:
        """A request arrived."""
        self._entries[request.request_id] = _Entry(request, next(self._arrivals), now)

    def remove(self, request_id: int) -> bool:
        """A request is finished or not wanted any more. True if it held a slot."""
        entry = self._entries.pop(request_id, None)
        return entry is not None and entry.started

    def produced(self, request_id: int, samples: int, now: float) -> None:
        """A request made audio: its listener runs dry later."""
        entry = self._entries.get(request_id)
        if entry is not None:
            stream = entry.request.stream_id
            self._dry_at[stream] = max(self._dry_at.get(stream, now), now) + samples / self._sample_rate

    def plan(self, now: float) -> Plan:
        """Fill free slots with the most urgent waiting requests, then advance the most urgent started ones."""
        self._forget_dry_streams(now)
        self._pause(now)
        lowest = self._lowest_indexes()
        urgent = sorted(self._entries.values(), key=lambda entry: self._urgency(entry, lowest))
        if any(self._waits(entry, lowest) for entry in urgent):
            urgent = [entry for entry in urgent if not self._is_ahead(entry, lowest, now)]
        free = self._slots - sum(entry.started for entry in self._entries.values())
        start = [entry for entry in urgent if not entry.started][: max(0, free)]
        for entry in start:
            entry.started = True
        ready = [entry.request for entry in urgent if entry.started and entry.request.stream_id not in self._paused]
        run = tuple(request.request_id for request in ready[: self._batch])
        return Plan(tuple(entry.request for entry in start), run, None if run else self._resume_at())

    def _urgency(self, entry: _Entry, lowest: Mapping[int, int]) -> tuple[bool, float, int, int]:
        request = entry.request
        if request.pace is Pace.FAST:
            return True, 0.0, request.index, entry.arrival
        since = self._dry_at.get(request.stream_id, entry.arrived_at)
        deadline = since + _AHEAD_S * (request.index - lowest[request.stream_id])
        return False, deadline, request.index, entry.arrival

    def _pause(self, now: float) -> None:
        """A stream pauses when it is too far ahead, and goes on well before it runs dry."""
        live = {entry.request.stream_id for entry in self._entries.values() if entry.request.pace is Pace.REALTIME}
        leads = {stream: self._dry_at[stream] - now for stream in live if stream in self._dry_at}
        again = self._max_lead_s - _RESUME_S
        self._paused = {
            stream
            for stream, lead_s in leads.items()
            if lead_s > (again if stream in self._paused else self._max_lead_s)
        }

    def _resume_at(self) -> float | None:
        dry_at = min((self._dry_at[stream] for stream in self._paused), default=None)
        return None if dry_at is None else dry_at - self._max_lead_s + _RESUME_S

    def _waits(self, entry: _Entry, lowest: Mapping[int, int]) -> bool:
        """Is this what its listener hears first, and does he hear nothing yet?"""
        request = entry.request
        unheard = request.stream_id not in self._dry_at and request.index == lowest[request.stream_id]
        return unheard and request.pace is Pace.REALTIME

    def _is_ahead(self, entry: _Entry, lowest: Mapping[int, int], now: float) -> bool:
        """Can this wait until others have their first sound?"""
        request = entry.request
        if request.pace is Pace.FAST or request.index == lowest[request.stream_id]:
            return False
        return self._dry_at.get(request.stream_id, math.inf) - now > _SOON_S

    def _lowest_indexes(self) -> dict[int, int]:
        """The segment that each stream hears next."""
        lowest: dict[int, int] = {}
        for entry in self._entries.values():
            stream, index = entry.request.stream_id, entry.request.index
            lowest[stream] = min(index, lowest.get(stream, index))
        return lowest

    def _forget_dry_streams(self, now: float) -> None:
        live = {entry.request.stream_id for entry in self._entries.values()}
        self._dry_at = {stream: at for stream, at in self._dry_at.items() if at > now or stream in live}
