"""From the engine's sample rate to the client's, while it streams."""

from typing import Protocol, cast

import numpy as np
import soxr
from numpy.typing import NDArray

Float = NDArray[np.float32]


class Resampler(Protocol):
    """Samples in, samples out, sooner or later; all of them after `finish`."""

    def push(self, samples: Float) -> Float: ...

    def finish(self) -> Float: ...


class Unchanged:
    """The rates are the same."""

    def push(self, samples: Float) -> Float:
        """As they are."""
        return samples

    def finish(self) -> Float:
        """Nothing is held."""
        return np.zeros(0, np.float32)


class SoxrResampler:
    """libsoxr at high quality: its filter holds back some tens of milliseconds."""

    def __init__(self, source_rate: int, target_rate: int) -> None:
        self._stream = soxr.ResampleStream(source_rate, target_rate, 1, dtype="float32", quality="HQ")
        self._source_rate = source_rate
        self._target_rate = target_rate
        self._taken = 0
        self._given = 0

    def push(self, samples: Float) -> Float:
        """What is certain."""
        self._taken += len(samples)
        return self._give(cast("Float", self._stream.resample_chunk(samples)))

    def finish(self) -> Float:
        """The rest, to exactly the length of what was pushed."""
        rest = cast("Float", self._stream.resample_chunk(np.zeros(0, np.float32), last=True))
        missing = round(self._taken * self._target_rate / self._source_rate) - self._given
        return self._give(np.pad(rest, (0, max(0, missing - len(rest))))[:missing])

    def _give(self, samples: Float) -> Float:
        self._given += len(samples)
        return samples


def create_resampler(source_rate: int, target_rate: int) -> Resampler:
    """The one that is needed."""
    return Unchanged() if source_rate == target_rate else SoxrResampler(source_rate, target_rate)
