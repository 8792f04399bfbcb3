"""One utterance on its way from tokens to samples: what is final, what is heard before it is, and how the two meet."""

import numpy as np
import torch

from streaming.chattts.layout import EXACT, TOKEN_SAMPLES
from streaming.chattts.vocoder import Decoded, Row, State
from streaming.cross_fade import cross_fade
from streaming.silence import Samples

_FADE = 256
"""Samples over which one reading of the signal goes over into the next, better one: half a token."""
_NOTHING = np.zeros(0, np.float32)


class Utterance:
    """Owns the vocoder's state of one request. `row` goes into a call of the vocoder, `take` gets what comes of it."""

    def __init__(self, blank: State) -> None:
        self._state = blank
        self._tokens = 0
        self._final = 0
        """Samples that are final."""
        self._heard = 0
        """Samples given out; ahead of `_final` while they are provisional."""
        self._overhang = _NOTHING
        """How the last samples given out would have gone on."""

    def row(self, hidden: torch.Tensor, lookahead: int, *, last: bool) -> Row:
        """More hidden states (tokens, hidden); if they are to be heard before they are final, with a peek."""
        return Row(self._state, hidden, last, peek=lookahead < EXACT)

    def take(self, decoded: Decoded, tokens: int, lookahead: int) -> Samples:
        """The samples to be heard next, of what `row` with so many tokens gave."""
        self._tokens += tokens
        begin, final = self._final, _on_host(decoded.pcm)
        self._state = decoded.state
        self._final += final.size
        peeked = decoded.provisional
        signal = final if peeked is None else np.concatenate((final, _on_host(peeked)))
        wanted = 0 if peeked is None else TOKEN_SAMPLES * (self._tokens - lookahead)
        end = max(self._heard, self._final, wanted)
        heard = cross_fade(self._overhang, signal[self._heard - begin :])
        heard, self._overhang = heard[: end - self._heard], heard[end - self._heard :][:_FADE]
        if end == self._final:
            self._overhang = _NOTHING
        self._heard = end
        return heard


def _on_host(samples: torch.Tensor) -> Samples:
    """From a card by way of page-locked memory, behind what this thread's stream computes; others' go on."""
    if samples.device.type == "cpu":
        return np.asarray(samples.numpy(), np.float32)
    locked = torch.empty(samples.shape, pin_memory=True)
    locked.copy_(samples, non_blocking=True)
    torch.cuda.current_stream(samples.device).synchronize()
    return np.asarray(locked.numpy(), np.float32)
