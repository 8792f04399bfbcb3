"""Mandarin and English in one voice, by Kokoro: planned a sentence at a time, decoded in windows."""

from collections.abc import Callable
from functools import partial

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from streaming.embedded.kokoro_model import KokoroModel
from streaming.embedded.kokoro_windows import Windows
from streaming.embedded.language import CHINESE, runs
from streaming.embedded.phonemes import pieces
from streaming.embedded.silence import Samples
from streaming.embedded.speaker import Piece
from streaming.engine import SpeechParams

# A plan of 100 phonemes takes as long as a window.
_SOFT_PIECE = 100
_HARD_PIECE = 160

_CROSS_FADE = 120
_NOTHING = np.zeros(0, np.float32)

Phonemize = Callable[[str], str]


class KokoroVoice:
    """Phonemes of each language, joined and spoken in one style."""

    def __init__(self, model: KokoroModel, style: NDArray[np.float32], english: Phonemize, chinese: Phonemize) -> None:
        self._model = model
        self._style = style.astype(np.float32)  # (510, 256), by number of phonemes
        self._english = english
        self._chinese = chinese

    def pieces(self, text: str, language: str) -> list[Piece]:
        phonemes = " ".join(self._phonemize(tongue, run) for tongue, run in runs(text, language))
        cut = pieces(phonemes, _SOFT_PIECE, _HARD_PIECE)
        return [Piece(piece, partial(self._begin, piece)) for piece in cut]

    def _phonemize(self, language: str, run: str) -> str:
        return self._chinese(run) if language == CHINESE else self._english(run)

    def _begin(self, phonemes: str, params: SpeechParams) -> "KokoroSpeech":
        tokens = self._model.tokens(phonemes)
        style = self._style[min(max(len(tokens), 1), len(self._style)) - 1][None]
        return KokoroSpeech(self._model, tokens, style, params.speed)


class KokoroSpeech:
    """First the plan, then a window a step."""

    def __init__(self, model: KokoroModel, tokens: list[int], style: NDArray[np.float32], speed: float) -> None:
        self._model = model
        self._tokens = tokens
        self._style = style
        self._speed = speed
        self._windows: Windows | None = None
        self._next = 0
        self._overhang = _NOTHING
        """What the last window has behind its end, to fade into the next one."""

    @property
    def done(self) -> bool:
        return self._windows is not None and self._next >= len(self._windows)

    def advance(self, options: onnxruntime.RunOptions) -> Samples:
        if self._windows is None:
            self._windows = Windows(self._model.plan(self._tokens, self._style, self._speed, options))
            return _NOTHING
        window = self._windows[self._next]
        samples = self._model.decode(self._windows.plan, window.excerpts, options)
        faded = _cross_fade(self._overhang, samples[window.skip :])
        self._overhang = faded[window.keep : window.keep + _CROSS_FADE]
        self._next += 1
        return faded[: window.keep]


def _cross_fade(old: Samples, new: Samples) -> Samples:
    """`new` with its beginning faded in over `old`."""
    size = min(old.size, new.size)
    rise = np.arange(1, size + 1, dtype=np.float32) / np.float32(size + 1)
    return np.concatenate([old[:size] * (1 - rise) + new[:size] * rise, new[size:]])
