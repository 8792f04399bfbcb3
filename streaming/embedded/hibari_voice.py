"""English by hibari-tts, whose model is inside its wheel."""

import hibari
import numpy as np
import onnxruntime
from hibari import dsp

from streaming.embedded.phonemes import pieces
from streaming.embedded.silence import Samples
from streaming.engine import SpeechParams

SAMPLE_RATE: int = hibari.SAMPLE_RATE

# A call of 120 phonemes is about 7 s of speech and takes about 100 ms on one core.
_SOFT_PIECE = 120
_HARD_PIECE = 240


class HibariVoice:
    """Speaks English phonemes. Used by one thread."""

    def __init__(self) -> None:
        self._model = hibari.Hibari(threads=1)

    def warm(self) -> None:
        """Loads the lexicons and lets the model allocate for the longest pieces."""
        for phonemes in self.pieces("Ready. " + "The quick brown fox jumps over the lazy dog, zyxwly. " * 2):
            self.speak(phonemes, SpeechParams(), onnxruntime.RunOptions())

    def phonemize(self, text: str) -> list[str]:
        """The phonemes of each sentence."""
        sentences: list[str] = self._model.phonemize(text)
        return sentences

    def pieces(self, text: str) -> list[str]:
        return [piece for sentence in self.phonemize(text) for piece in pieces(sentence, _SOFT_PIECE, _HARD_PIECE)]

    def speak(self, phonemes: str, params: SpeechParams, options: onnxruntime.RunOptions) -> Samples:
        ids: list[int] = self._model.ids(phonemes)
        feed = {"ids": np.asarray([ids], np.int64), "speed": np.asarray([params.speed], np.float32)}
        spectrum = (part[0] for part in self._model.sess.run(None, feed, options))
        samples: Samples = dsp.synth(*spectrum, np.random.default_rng(params.seed))
        return samples
