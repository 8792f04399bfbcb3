"""The voices that the embedded engine offers, and how they are loaded and warmed."""

from pathlib import Path

import numpy as np
import onnxruntime

from streaming.embedded.hibari_voice import SAMPLE_RATE as SAMPLE_RATE
from streaming.embedded.hibari_voice import HibariModel, HibariVoice
from streaming.embedded.kokoro_model import KokoroModel
from streaming.embedded.kokoro_voice import KokoroVoice
from streaming.embedded.language import CHINESE
from streaming.embedded.mandarin import MandarinPhonemes
from streaming.embedded.speaker import Speaker
from streaming.engine import SpeechParams, Voice

_STYLES = Path(__file__).parents[1] / "data" / "kokoro_voices.npz"
_LICENCE = "Apache-2.0"
_CHINESE_VOICE = "zf_xiaobei"
_WARM_UP = "你好，我准备好了。"

_HIBARI = Voice(
    name="hibari",
    languages=("en-US",),
    sex="female",
    licence=_LICENCE,
    description=f"American English, the fastest voice. Chinese in its text is spoken by {_CHINESE_VOICE}.",
)
_KOKORO = (
    Voice(_CHINESE_VOICE, ("zh-CN", "en-US"), "female", _LICENCE, "Mandarin and English, also in one sentence."),
    Voice("zm_yunxi", ("zh-CN", "en-US"), "male", _LICENCE, "Mandarin and English, also in one sentence."),
    Voice("am_michael", ("en-US", "zh-CN"), "male", _LICENCE, "American English; Mandarin with an accent."),
    Voice("bf_emma", ("en-GB", "zh-CN"), "female", _LICENCE, "British English; Mandarin with an accent."),
)


def load() -> dict[Voice, Speaker]:
    """Every voice, warm, the default one first."""
    hibari = HibariModel()
    hibari.warm()
    kokoro = _kokoro_voices(hibari)
    chinese = next(voice for spec, voice in kokoro.items() if spec.name == _CHINESE_VOICE)
    _warm(chinese)
    return {_HIBARI: HibariVoice(hibari, chinese), **kokoro}


def _kokoro_voices(hibari: HibariModel) -> dict[Voice, KokoroVoice]:
    model = KokoroModel(hibari.vocabulary)
    mandarin = MandarinPhonemes()

    def english(text: str) -> str:
        return " ".join(hibari.phonemize(text))

    with np.load(_STYLES) as styles:
        return {voice: KokoroVoice(model, styles[voice.name], english, mandarin) for voice in _KOKORO}


def _warm(voice: KokoroVoice) -> None:
    for piece in voice.pieces(_WARM_UP, CHINESE):
        speech = piece.begin(SpeechParams())
        while not speech.done:
            speech.advance(onnxruntime.RunOptions())
