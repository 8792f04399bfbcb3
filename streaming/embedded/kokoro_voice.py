"""Mandarin and English in one voice, by Kokoro: a sentence planned whole, then decoded in windows."""

from collections.abc import Callable
from functools import partial

import numpy as np
import onnxruntime

from streaming.cross_fade import cross_fade
from streaming.embedded.kokoro_model import FRAME_SAMPLES, KokoroModel, Values
from streaming.embedded.kokoro_norms import Norms
from streaming.embedded.kokoro_windows import Windows
from streaming.embedded.language import CHINESE, runs
from streaming.embedded.phonemes import pieces
from streaming.embedded.speaker import Piece
from streaming.engine import SpeechParams
from streaming.silence import Samples

# The plan of 100 phonemes takes as long as a window.
_SOFT_PIECE = 100
_HARD_PIECE = 160

_CROSS_FADE = 120
_TONES = "→↗↓↘"
_NOTHING = np.zeros(0, np.float32)

Phonemize = Callable[[str], str]


class KokoroVoice:
    """Phonemes of each language, joined and spoken in one style."""

    def __init__(self, model: KokoroModel, style: Values, norms: Norms, english: Phonemize, chinese: Phonemize) -> None:
        self._model = model
        self._style = style.astype(np.float32)  # (510, 256), by number of phonemes
        self._norms = norms
        self._english = english
        self._chinese = chinese

    def pieces(self, text: str, language: str) -> list[Piece]:
        phonemes = " ".join(self._phonemize(tongue, run) for tongue, run in runs(text, language))
        cut = pieces(_with_mark(phonemes.rstrip()), _SOFT_PIECE, _HARD_PIECE)
        return [Piece(piece, partial(self._begin, piece)) for piece in cut]

    def _phonemize(self, language: str, run: str) -> str:
        return self._chinese(run) if language == CHINESE else self._english(run)

    def _begin(self, phonemes: str, params: SpeechParams) -> "KokoroSpeech":
        tokens = self._model.tokens(phonemes)
        style = self._style[min(max(len(tokens), 1), len(self._style)) - 1][None]
        return KokoroSpeech(self._model, tokens, style, self._norms, params.speed)


class KokoroSpeech:
    """First the plan, then its hidden frames, then a window a step."""

    def __init__(self, model: KokoroModel, tokens: list[int], style: Values, norms: Norms, speed: float) -> None:
        self._model = model
        self._tokens = tokens
        self._style = style
        self._norms = norms
        self._speed = speed
        self._windows: Windows | None = None
        self._hidden: Values | None = None
        self._next = 0
        self._overhang = _NOTHING
        """What the last window has behind its end, to fade into the next one."""

    @property
    def done(self) -> bool:
        return self._windows is not None and self._next >= len(self._windows.stretches)

    def advance(self, options: onnxruntime.RunOptions) -> Samples:
        if self._windows is None:
            self._windows = Windows(self._model.plan(self._tokens, self._style, self._speed, options))
            return _NOTHING
        if self._hidden is None:
            self._hidden = self._model.hidden(self._windows.plan, options)
            return _NOTHING
        stretch = self._windows.stretches[self._next]
        plan = self._windows.plan
        averages = self._norms.forecast(plan.frame_energy(), self._windows.silence)
        samples = self._model.decode(plan, self._hidden, averages, stretch, options)
        self._next += 1
        return self._joined(samples, FRAME_SAMPLES * stretch.frames)

    def _joined(self, samples: Samples, size: int) -> Samples:
        """`size` samples that go on where the last window ended. Each window's activations are rounded in steps of
        its own, so the two sides of a join differ a little.
        """
        faded = cross_fade(self._overhang, samples)
        self._overhang = faded[size : size + _CROSS_FADE]
        return faded[:size]


def _with_mark(phonemes: str) -> str:
    """A clause that was cut before its end gets a comma: without a mark its last word is spoken less clearly."""
    last = phonemes[-1:]
    return phonemes + "," if last and (last.isalpha() or last in _TONES) else phonemes
