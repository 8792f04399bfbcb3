"""What a step costs and what it makes, measured while it works, and how many listeners that is enough for."""

from bisect import bisect_left
from dataclasses import dataclass

_MOST = 4096
_NEWS = 0.1
_WINDOW_S = 4.0
"""Older steps count less and less: half after this much work."""


@dataclass(slots=True)
class _Size:
    """Steps of one batch size, older ones fading."""

    steps: float = 0.0
    cost_s: float = 0.0
    audio_s: float = 0.0


class Meter:
    """Knows the past steps of one worker by batch size. Owned by the step loop; takes time from its caller."""

    def __init__(self, *, batch: int, headroom: float = 0.15) -> None:
        """`batch`: the most rows of a step. `headroom`: the share of the time that is left free."""
        self._batch = batch
        self._headroom = headroom
        self._sizes: dict[int, _Size] = {}
        self._slowest_s = 0.0

    @property
    def guard_s(self) -> float:
        """How long a step may take, by the slowest of late."""
        return self._slowest_s

    @property
    def measured(self) -> bool:
        """Has there been sound yet?"""
        return any(size.audio_s for size in self._sizes.values())

    def stepped(self, rows: int, cost_s: float, audio_s: float) -> None:
        """A step of `rows` rows took `cost_s`, and `audio_s` seconds of sound came of it, prefills and all."""
        fade = 0.5 ** (cost_s / _WINDOW_S)
        for size in self._sizes.values():
            size.steps, size.cost_s, size.audio_s = size.steps * fade, size.cost_s * fade, size.audio_s * fade
        size = self._sizes.setdefault(min(rows, self._batch), _Size())
        size.steps, size.cost_s, size.audio_s = size.steps + 1, size.cost_s + cost_s, size.audio_s + audio_s
        self._slowest_s += (cost_s - self._slowest_s) * (1.0 if cost_s > self._slowest_s else _NEWS)

    def load(self, listeners: int) -> float:
        """The share of the time that so many listeners take; above 1 some of them run dry. 0 before there was sound."""
        rows = min(listeners, self._batch)
        audio_s = self._audio_s_per_row() * rows
        return listeners * self.step_s(rows) / audio_s if audio_s and rows else 0.0

    @property
    def capacity(self) -> int:
        """Listeners that can be served with headroom left: at least one, or nobody would ever be."""
        too_many = bisect_left(range(2, _MOST + 1), x=True, key=lambda n: self.load(n) > 1 - self._headroom)
        return too_many + 1

    def step_s(self, rows: int) -> float:
        """Seconds of a step with so many rows: a line through what was measured, never cheaper than fewer rows."""
        known = {rows: size.cost_s / size.steps for rows, size in self._sizes.items() if size.steps > 1e-3}
        if not known:
            return 0.0
        weights = {rows: self._sizes[rows].steps for rows in known}
        total = sum(weights.values())
        mean_rows = sum(weights[r] * r for r in known) / total
        mean_s = sum(weights[r] * known[r] for r in known) / total
        spread = sum(weights[r] * (r - mean_rows) ** 2 for r in known)
        if spread < 1e-6:  # one size only: a row more costs a third of a step, until it was seen
            return mean_s * max(1.0, 1.0 + (rows - mean_rows) / (3 * mean_rows))
        slope = max(0.0, sum(weights[r] * (r - mean_rows) * (known[r] - mean_s) for r in known) / spread)
        return max(mean_s + slope * (rows - mean_rows), min(known.values()))

    def _audio_s_per_row(self) -> float:
        rows = sum(rows * size.steps for rows, size in self._sizes.items())
        return sum(size.audio_s for size in self._sizes.values()) / rows if rows else 0.0
