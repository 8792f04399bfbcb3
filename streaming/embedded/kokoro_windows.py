"""Where the speech of a plan lies, and where it is cut into windows that are decoded one a step.

silence   | speech                                   | silence
          begin     ends[0]        ends[1]         ends[2]
window 1  ===|...halo|==============|halo|===
             a few frames on both sides stand for all the silence
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streaming.embedded.kokoro_model import FRAME_SAMPLES, Excerpt, Plan

_WINDOW_FRAMES = (16, 24, 32, 48)
"""How much a step decodes; the last one again and again. Each is made before the one before it was heard. Fixed, not
measured: the same request must give the same samples after a restart, and samples depend a little on the windows."""
_SHORTEST_FRAMES = 12
_SEEK_FRAMES = 6
"""A window ends at the quietest frame this near, where a join can't be heard."""
_HALO_FRAMES = 4
"""Decoded on both sides of a window and thrown away."""
_SILENT_FRAMES = 2
"""On both sides of the excerpt, standing for all silence of the utterance."""

_QUIET = -5.5
"""The planned energy of speech at -50 dBFS is about -4, of silence -7 to -9.5."""
_BEFORE_FRAMES, _AFTER_FRAMES = 2, 3


@dataclass(frozen=True, slots=True)
class Window:
    """What to decode, how many of the samples to skip, and how many to keep then."""

    excerpts: list[Excerpt]
    skip: int
    keep: int


class Windows:
    """The windows of one plan, in order."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        energy = plan.frame_energy()
        loud = np.flatnonzero(energy > _QUIET)
        self._begin = max(0, int(loud[0]) - _BEFORE_FRAMES) if loud.size else 0
        self._end = min(plan.frames, int(loud[-1]) + 1 + _AFTER_FRAMES) if loud.size else 0
        self._ends = ends(energy, self._begin, self._end)

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, i: int) -> Window:
        begin, end = self._ends[i - 1] if i else self._begin, self._ends[i]
        first, last = max(self._begin, begin - _HALO_FRAMES), min(self._end, end + _HALO_FRAMES)
        before, after = self._before(first), self._after(last)
        weight = self._silence_weight(last - first, len(before) + len(after))
        excerpts = [
            Excerpt(before.start, before.stop, weight),
            Excerpt(first, last),
            Excerpt(after.start, after.stop, weight),
        ]
        skip = len(before) + begin - first if i else 0  # the silence before the first window leads into it
        keep = len(before) + end - first - skip + (len(after) if end == self._end else 0)
        return Window([excerpt for excerpt in excerpts if excerpt.frames], skip * FRAME_SAMPLES, keep * FRAME_SAMPLES)

    def _before(self, first: int) -> range:
        """Silence that adjoins the excerpt if it is the first, else that at the very beginning."""
        if first == self._begin:
            return range(max(0, first - _SILENT_FRAMES), first)
        return range(min(_SILENT_FRAMES, self._begin))

    def _after(self, last: int) -> range:
        frames = self.plan.frames
        if last == self._end:
            return range(last, min(frames, last + _SILENT_FRAMES))
        return range(max(self._end, frames - _SILENT_FRAMES), frames)

    def _silence_weight(self, frames: int, shown: int) -> float:
        """Silence gets the share of the excerpt's means that it has in the utterance's."""
        speech = self._end - self._begin
        return (self.plan.frames - speech) / speech * frames / max(1, shown)


def ends(energy: NDArray[np.float32], begin: int, end: int) -> list[int]:
    """Ends of the windows from `begin` to `end`, each at the quietest frame near where it should be."""
    found: list[int] = []
    while begin < end:
        target = begin + _WINDOW_FRAMES[min(len(found), len(_WINDOW_FRAMES) - 1)]
        if end - target < _SHORTEST_FRAMES:
            return [*found, end]
        nearest = target - _SEEK_FRAMES
        begin = nearest + int(np.argmin(energy[nearest : target + _SEEK_FRAMES + 1]))
        found.append(begin)
    return found
