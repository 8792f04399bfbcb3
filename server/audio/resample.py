"""From the engine's sample rate to the client's, while it streams."""

from typing import Protocol, cast

import numpy as np
import soxr
from numpy.typing import NDArray

Float = NDArray[np.float32]


class Resampler(Protocol):
    """Samples in, samples out, sooner or later; all of them after `finish`."""

    def push(self, samples: Float) -> Float:
        """Give what is certain."""

    def finish(self) -> Float:
        """Give the rest."""


class Unchanged:
    """The rates are the same."""

    def push(self, samples: Float) -> Float:
        """As they are."""
        return samples

    def finish(self) -> Float:
        """Nothing is held."""
        return np.zeros(0, np.float32)


class SoxrResampler:
    """libsoxr's variable-rate filter, its rate held constant.

    Its fixed-rate filters work on long blocks and hold back 37 ms of signal (73 at 8 kHz); this one holds 10 (25), for
    the same 115 dB below the signal, and moves it by less than two samples of the target rate.
    """

    def __init__(self, source_rate: int, target_rate: int) -> None:
        self._stream = soxr.ResampleStream(source_rate, target_rate, 1, dtype="float32", quality="HQ", vr=True)
        self._source_rate = source_rate
        self._target_rate = target_rate
        self._taken = 0
        self._given = 0

    def push(self, samples: Float) -> Float:
        """What the filter no longer needs."""
        self._taken += len(samples)
        given = cast("Float", self._stream.resample_chunk(samples))
        self._given += len(given)
        return given

    def finish(self) -> Float:
        """The rest. libsoxr's own end is a sample early or late; the length is exactly what was pushed, rescaled."""
        rest = cast("Float", self._stream.resample_chunk(np.zeros(0, np.float32), last=True))
        missing = round(self._taken * self._target_rate / self._source_rate) - self._given
        return np.pad(rest, (0, max(0, missing - len(rest))))[: max(0, missing)]


def create_resampler(source_rate: int, target_rate: int) -> Resampler:
    """The one that is needed."""
    return Unchanged() if source_rate == target_rate else SoxrResampler(source_rate, target_rate)
