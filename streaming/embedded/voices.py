"""The voices that the embedded engine offers, and how they are loaded and warmed."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime

from streaming.embedded import kokoro_norms
from streaming.embedded.hibari_voice import HibariModel, HibariVoice
from streaming.embedded.kokoro_model import KokoroModel
from streaming.embedded.kokoro_voice import KokoroVoice, Phonemize
from streaming.embedded.language import CHINESE
from streaming.embedded.speaker import Speaker
from streaming.engine import SpeechParams, Voice

STYLES = Path(__file__).parents[1] / "data" / "kokoro_voices.npz"
_LICENCE = "Apache-2.0"
_WARM_UP = "好，我们准备好了。"

# The first one speaks the Chinese of the others: of its syllables a recogniser mistakes 2 of 100, of the second's 4.
_KOKORO = (
    Voice("zm_yunxi", ("zh-CN", "en-US"), "male", _LICENCE, "Mandarin and English, also in one sentence."),
    Voice("zf_xiaobei", ("zh-CN", "en-US"), "female", _LICENCE, "Mandarin and English, also in one sentence."),
    Voice("am_michael", ("en-US", "zh-CN"), "male", _LICENCE, "American English; Mandarin with an accent."),
    Voice(
        "bf_emma",
        ("en-GB", "zh-CN"),
        "female",
        _LICENCE,
        "English, a British speaker with American vowels; Mandarin with an accent.",
    ),
)
_HIBARI = Voice(
    name="hibari",
    languages=("en-US",),
    sex="female",
    licence=_LICENCE,
    description=f"American English, the fastest voice. Chinese in its text is spoken by {_KOKORO[0].name}.",
)


def load() -> dict[Voice, Speaker]:
    """Every voice, warm, the default one first."""
    hibari = HibariModel()
    # onnxruntime loads without the interpreter lock while the dictionaries load with it.
    with ThreadPoolExecutor(1) as pool:
        loading = pool.submit(KokoroModel, hibari.vocabulary)
        from streaming.embedded import mandarin  # noqa: PLC0415  # so its dictionaries are among those

        mandarin.warm()
        hibari.warm()
        kokoro = _kokoro_voices(loading.result(), hibari, mandarin.phonemize)
    chinese = kokoro[_KOKORO[0]]
    _warm(chinese)
    return {_HIBARI: HibariVoice(hibari, chinese), **kokoro}


def _kokoro_voices(model: KokoroModel, hibari: HibariModel, chinese: Phonemize) -> dict[Voice, KokoroVoice]:
    def english(text: str) -> str:
        return " ".join(hibari.phonemize(text))

    norms = kokoro_norms.load()
    with np.load(STYLES) as styles:
        return {voice: KokoroVoice(model, styles[voice.name], norms[voice.name], english, chinese) for voice in _KOKORO}


def _warm(voice: KokoroVoice) -> None:
    """One plan, its hidden frames and its first window: the shortest there are."""
    speech = voice.pieces(_WARM_UP, CHINESE)[0].begin(SpeechParams())
    for _ in range(3):
        speech.advance(onnxruntime.RunOptions())
