"""A recogniser hears what the engine says. Needs the dependency group `judge`."""

import numpy as np
import pytest

from streaming.embedded.engine import EmbeddedEngine, create
from streaming.embedded.silence import Samples
from streaming.engine import Chunk, SegmentRequest

pytest.importorskip("faster_whisper")
asr = pytest.importorskip("tests.asr")

RATE = 24000


@pytest.fixture(scope="module")
def engine() -> EmbeddedEngine:
    return create()


def speak(engine: EmbeddedEngine, text: str, voice: str) -> Samples:
    engine.start(SegmentRequest(1, 0, 0, text, voice))
    parts: list[Chunk] = []
    while not (parts and parts[-1].stop):
        parts += [chunk for chunk in engine.step([1]) if isinstance(chunk, Chunk)]
    return np.frombuffer(b"".join(chunk.pcm for chunk in parts), np.float32)


@pytest.mark.parametrize(
    "text",
    [
        "Please remember to bring your umbrella tomorrow morning.",
        "The museum is open from nine until five.",
        "The old bridge was closed for repairs last winter, and the children were playing happily in the park.",
    ],
)
def test_english_is_heard_word_for_word(engine: EmbeddedEngine, text: str) -> None:
    assert asr.word_error_rate(speak(engine, text, "hibari"), RATE, text) == 0


@pytest.mark.parametrize(
    ("voice", "text"), [("zf_xiaobei", "我们明天早上八点在学校门口见面。"), ("zm_yunxi", "请问去火车站怎么走？")]
)
def test_chinese_is_heard_character_for_character(engine: EmbeddedEngine, voice: str, text: str) -> None:
    assert asr.character_error_rate(speak(engine, text, voice), RATE, text) == 0


def test_a_mixed_sentence_is_heard_in_both_languages(engine: EmbeddedEngine) -> None:
    text = "他在 Google 工作了三年。"
    assert asr.character_error_rate(speak(engine, text, "zf_xiaobei"), RATE, text) == 0


def test_the_recogniser_hears_what_is_missing(engine: EmbeddedEngine) -> None:
    text = "The museum is open from nine until five."
    samples = speak(engine, text, "hibari")
    assert asr.word_error_rate(samples[: samples.size // 2], RATE, text) > 0.3
