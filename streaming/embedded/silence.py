"""Where speech begins and ends in what a model returns, and the exact silence we put around it."""

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

THRESHOLD = np.float32(10 ** (-50 / 20))
"""-50 dBFS. Both models' noise floors peak 20 dB lower, so the first sample above it belongs to a word."""
LEAD_S = 0.030
"""Kept before the first loud sample: breath and the onset of f, h and th live there."""
DECAY_S = 0.040
"""Kept behind the last loud sample."""
FADE_IN_S = 0.001
FADE_OUT_S = 0.020


def silence(seconds: float, rate: int) -> Samples:
    return np.zeros(max(0, round(seconds * rate)), np.float32)


def repair(samples: Samples) -> tuple[Samples, int]:
    """The samples within [-1, 1], with silence for what is no number, and how many those were."""
    finite = np.isfinite(samples)
    lost = int(finite.size - np.count_nonzero(finite))
    if lost:
        samples = np.where(finite, samples, np.float32(0))
    return np.clip(samples, np.float32(-1), np.float32(1)), lost


def trim(samples: Samples, rate: int) -> Samples:
    """Exactly `LEAD_S` before the first loud sample and `DECAY_S` behind the last one; nothing inside is touched.

    Where the model left less than that, zeros are added. Samples that are never loud are no speech: empty.
    """
    loud = np.flatnonzero(np.abs(samples) > THRESHOLD)
    if not loud.size:
        return samples[:0]
    begin = int(loud[0]) - round(LEAD_S * rate)
    end = int(loud[-1]) + 1 + round(DECAY_S * rate)
    inside = samples[max(0, begin) : end]
    padded = np.pad(inside, (max(0, -begin), max(0, end - samples.size)))
    return _faded(padded, rate)


def _faded(samples: Samples, rate: int) -> Samples:
    """Ramps that lie inside the lead and the decay, so they change no loud sample."""
    rise, fall = round(FADE_IN_S * rate), round(FADE_OUT_S * rate)
    faded = samples.copy()
    faded[:rise] *= np.arange(rise, dtype=np.float32) / np.float32(rise)
    faded[-fall:] *= np.arange(fall - 1, -1, -1, dtype=np.float32) / np.float32(fall)
    return faded
