"""English by hibari-tts, whose model is inside its wheel."""

from functools import partial

import hibari
import numpy as np
import onnxruntime
from hibari import dsp

from streaming.embedded.language import CHINESE, runs
from streaming.embedded.phonemes import pieces
from streaming.embedded.speaker import Piece, Speaker
from streaming.engine import SpeechParams
from streaming.silence import Samples

# A call of 120 phonemes is about 7 s of speech and takes about 100 ms on one core.
_SOFT_PIECE = 120
_HARD_PIECE = 240
_WARM_UP = "Ready, zyxwly."


class HibariModel:
    """English text to phonemes, and those to samples. Used by one thread."""

    def __init__(self) -> None:
        self._model = hibari.Hibari(threads=1)

    @property
    def vocabulary(self) -> dict[str, int]:
        """Ids of the phonemes; Kokoro, from which this model was distilled, has the same."""
        vocabulary: dict[str, int] = self._model.vocab
        return vocabulary

    def warm(self) -> None:
        """Loads the lexicons, and the model for words that are in none of them."""
        for phonemes in self.phonemize(_WARM_UP):
            self.speak(phonemes, SpeechParams(), onnxruntime.RunOptions())

    def phonemize(self, text: str) -> list[str]:
        """The phonemes of each sentence."""
        sentences: list[str] = self._model.phonemize(text)
        return sentences

    def speak(self, phonemes: str, params: SpeechParams, options: onnxruntime.RunOptions) -> Samples:
        ids: list[int] = self._model.ids(phonemes)
        feed = {"ids": np.asarray([ids], np.int64), "speed": np.asarray([params.speed], np.float32)}
        spectrum = (part[0] for part in self._model.sess.run(None, feed, options))
        samples: Samples = dsp.synth(*spectrum, np.random.default_rng(params.seed))
        return samples


class HibariVoice:
    """Speaks English itself and leaves Chinese to another voice, so that nothing goes unsaid."""

    def __init__(self, model: HibariModel, chinese: Speaker) -> None:
        self._model = model
        self._chinese = chinese

    def pieces(self, text: str, language: str) -> list[Piece]:
        found: list[Piece] = []
        for tongue, run in runs(text, language):
            found += self._chinese.pieces(run, CHINESE) if tongue == CHINESE else self._english(run)
        return found

    def _english(self, text: str) -> list[Piece]:
        sentences = self._model.phonemize(text)
        cut = [piece for sentence in sentences for piece in pieces(sentence, _SOFT_PIECE, _HARD_PIECE)]
        return [Piece(phonemes, partial(HibariSpeech, self._model, phonemes)) for phonemes in cut]


class HibariSpeech:
    """One call."""

    def __init__(self, model: HibariModel, phonemes: str, params: SpeechParams) -> None:
        self._model = model
        self._phonemes = phonemes
        self._params = params
        self._done = False

    @property
    def done(self) -> bool:
        return self._done

    def advance(self, options: onnxruntime.RunOptions) -> Samples:
        samples = self._model.speak(self._phonemes, self._params, options)
        self._done = True
        return samples
