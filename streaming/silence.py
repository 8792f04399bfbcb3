"""Where speech begins and ends in what a model returns, and the exact silence we put around it."""

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

THRESHOLD = np.float32(10 ** (-50 / 20))
"""-50 dBFS. Both models' noise floors peak 20 dB lower, so the first sample above it belongs to a word."""
LEAD_S = 0.030
"""Kept before the first loud sample: breath and the onset of f, h and th live there, and are 25 dB below it before."""
DECAY_S = 0.040
"""Kept behind the last loud sample."""
FADE_IN_S = 0.001
FADE_OUT_S = 0.020
EDGE_S = 0.005
"""What ends loud, as where speech is cut at its longest, goes to silence over this time: a step would be a click."""


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

    Where the model left less than that, zeros are added, with a ramp to the first sample and from the last one. Samples
    that are never loud are no speech: empty.
    """
    trimmer = Trimmer(rate)
    return np.concatenate([trimmer.push(samples), trimmer.finish()])


class Trimmer:
    """`trim` for samples that come in parts, cut anywhere. Owns the quiet samples of which it isn't sure yet."""

    def __init__(self, rate: int, *, pad: bool = True) -> None:
        """`pad`: where the model left less than the lead before the first loud sample, zeros make up for it."""
        self._pad = pad
        self._lead, self._decay = round(LEAD_S * rate), round(DECAY_S * rate)
        self._rise = _ramp(round(FADE_IN_S * rate))
        self._fall = _ramp(round(FADE_OUT_S * rate))[::-1]
        self._edge = _ramp(round(EDGE_S * rate))
        self._missing = self._lead
        """Before speech: how many of the held samples are not the model's."""
        self._last = np.float32(0)
        """The last sample given out."""
        self._speaking = False
        self._held = np.zeros(self._lead, np.float32)
        """Before speech: the last samples that came. In speech: all that came since the last loud one."""

    def push(self, samples: Samples) -> Samples:
        """What is now known to be speech, up to the last loud sample."""
        held = np.concatenate([self._held, samples])
        loud = np.flatnonzero(np.abs(held) > THRESHOLD)
        if not loud.size:
            self._held = held if self._speaking else held[held.size - self._lead :]
            self._missing = max(0, self._missing - samples.size)
            return held[:0]
        begin, end = 0, int(loud[-1]) + 1
        if not self._speaking:
            begin = int(loud[0]) - self._lead
            if not self._pad:
                begin = max(begin, self._missing - self._edge.size)
            _lead_in(held[begin : max(begin, self._missing)], held[self._missing], self._edge)
            held[begin : begin + self._rise.size] *= self._rise
            self._speaking = True
        self._held, self._last = held[end:], held[end - 1]
        return held[begin:end]

    def finish(self) -> Samples:
        """The decay behind the last loud sample."""
        if not self._speaking:
            return self._held[:0]
        decay = np.zeros(self._decay, np.float32)
        kept = self._held[: self._decay]
        decay[: kept.size] = kept
        _lead_in(decay[kept.size :][::-1], kept[-1] if kept.size else self._last, self._edge)
        decay[-self._fall.size :] *= self._fall
        return decay


def _lead_in(blank: Samples, sample: np.float32, ramp: Samples) -> None:
    """Let zeros end in a rise to the sample that follows them."""
    size = min(blank.size, ramp.size)
    blank[blank.size - size :] = sample * ramp[ramp.size - size :]


def _ramp(size: int) -> Samples:
    """From 0 up to just below 1."""
    return np.arange(size, dtype=np.float32) / np.float32(size)
