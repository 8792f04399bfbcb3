"""One utterance on its way from tokens to samples: what is final, what is heard before it is, and how the two meet."""

import numpy as np
import torch
from numpy.typing import NDArray

from streaming.chattts.layout import EXACT, TOKEN_SAMPLES
from streaming.chattts.vocoder import Decoded, Row, State

Samples = NDArray[np.float32]

_FADE = 256
"""Samples over which one reading of the signal goes over into the next, better one: half a token."""
_NOTHING = np.zeros(0, np.float32)


class Utterance:
    """Owns the vocoder's state of one request. `rows` go into a call of the vocoder, `take` what comes of them."""

    def __init__(self, blank: State) -> None:
        self._state = blank
        self._tokens = 0
        self._final = 0
        """Samples that are final."""
        self._heard = 0
        """Samples given out; ahead of `_final` while they are provisional."""
        self._overhang = _NOTHING
        """How the last samples given out would have gone on."""

    def rows(self, hidden: torch.Tensor, lookahead: int, *, last: bool) -> list[Row]:
        """More hidden states (tokens, hidden), and beside them, if they are to be heard before they are final, the
        same ones as if the utterance ended with them.
        """
        row = Row(self._state, hidden, last)
        return [row] if last or lookahead >= EXACT else [row, Row(self._state, hidden, last=True)]

    def take(self, decoded: list[Decoded], tokens: int, lookahead: int) -> Samples:
        """The samples to be heard next, of what `rows` with so many tokens gave."""
        self._tokens += tokens
        begin, final = self._final, decoded[0].pcm.cpu().numpy()
        self._state = decoded[0].state
        self._final += final.size
        signal = np.concatenate((final, decoded[1].pcm.cpu().numpy()[final.size :])) if decoded[1:] else final
        end = max(self._heard, self._final, TOKEN_SAMPLES * (self._tokens - lookahead) if decoded[1:] else 0)
        heard = _cross_faded(self._overhang, signal[self._heard - begin :])
        heard, self._overhang = heard[: end - self._heard], heard[end - self._heard :][:_FADE]
        if end == self._final:
            self._overhang = _NOTHING
        self._heard = end
        return heard


def _cross_faded(old: Samples, new: Samples) -> Samples:
    """`new`, whose beginning comes out of `old`."""
    size = min(old.size, new.size)
    rise = np.arange(1, size + 1, dtype=np.float32) / np.float32(size + 1)
    return np.concatenate((old[:size] * (1 - rise) + new[:size] * rise, new[size:]))
