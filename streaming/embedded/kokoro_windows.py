"""Where the speech of a plan lies, and where it is cut into windows that are decoded one a step."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from streaming.embedded.kokoro_model import Plan, Stretch

_WINDOW_FRAMES = (12, 16, 24, 32, 40)
"""How much a step decodes; the last one again and again. Each is made before the one before it was heard. Fixed, not
measured: the same request must give the same samples after a restart, and samples depend a little on the windows."""
_SHORTEST_FRAMES = 12
_SEEK_FRAMES = 4
"""A window ends at the quietest frame this near, where a join can't be heard."""
_REACH_FRAMES = 3
"""How far the generator's first stage sees."""
_FINE_REACH_FRAMES = 1
"""How far its second stage sees."""

_QUIET = -5.5
"""The planned energy of speech at -50 dBFS is about -4, of silence -7 to -9.5."""
_BEFORE_FRAMES, _AFTER_FRAMES = 2, 4


class Windows:
    """One plan and its stretches, in order."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        energy = plan.frame_energy()
        self.begin, self.end = speech(energy)
        bounds = [self.begin, *ends(energy, self.begin, self.end)]
        self.stretches = [self._stretch(begin, end) for begin, end in pairwise(bounds)]

    @property
    def silence(self) -> float:
        """The share of the plan that is silent."""
        return 1 - (self.end - self.begin) / self.plan.frames

    def _stretch(self, begin: int, end: int) -> Stretch:
        around, fine = self._around(begin, end, _REACH_FRAMES), self._around(begin, end, _FINE_REACH_FRAMES)
        return Stretch(begin, end, around, fine)

    def _around(self, begin: int, end: int, reach: int) -> tuple[int, int]:
        return max(0, begin - reach), min(self.plan.frames, end + reach)


def speech(energy: NDArray[np.float32]) -> tuple[int, int]:
    """The first frame of speech and the one behind the last, with what leads in and dies away."""
    loud = np.flatnonzero(energy > _QUIET)
    if not loud.size:
        return 0, 0
    return max(0, int(loud[0]) - _BEFORE_FRAMES), min(energy.size, int(loud[-1]) + 1 + _AFTER_FRAMES)


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
