"""The segments of a long text are one signal: nothing clicks where they meet, and nothing is lost or louder there."""

from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from streaming.embedded.engine import EmbeddedEngine, create
from streaming.engine import Chunk, Engine, SegmentRequest
from streaming.text.front import TextFront

RATE = 24_000
NEAR = RATE // 200
ENGLISH = (
    "The old harbour was quiet when the first boats came in. Nobody had slept much, because the wind had been loud; "
    "still, everyone was there. What would the morning bring? A crate of oranges, three letters, and a clock that had "
    "stopped at noon. We carried all of it up the hill, slowly, and laughed about the clock. "
) * 7
CHINESE = "早上的港口很安静，第一批船刚刚回来。大家都没睡好，因为风很大。今天会带来什么呢？一箱橘子，三封信。"


@pytest.fixture(scope="module")
def embedded() -> EmbeddedEngine:
    return create()


def spoken(engine: Engine, text: str, voice: str) -> list[NDArray[np.float32]]:
    """The samples of each segment."""
    front = TextFront(limits=engine.info.limits)
    segments = front.push(text) + front.flush()
    return [
        _samples(engine, SegmentRequest(n, 1, n, segment.spoken, voice, pause_s=segment.pause_s))
        for n, segment in enumerate(segments)
    ]


def _samples(engine: Engine, request: SegmentRequest) -> NDArray[np.float32]:
    engine.start(request)
    pcm, ended = b"", False
    while not ended:
        for made in engine.step([request.request_id]):
            assert isinstance(made, Chunk)
            pcm, ended = pcm + made.pcm, made.stop is not None
    return np.frombuffer(pcm, "<f4")


def bends(signal: NDArray[np.float32], joins: list[int]) -> tuple[float, float]:
    """The largest second difference near the joins, and the 99.9th percentile of those elsewhere."""
    second = np.abs(np.diff(signal, 2))
    near = np.zeros(second.size, bool)
    for join in joins:
        near[max(0, join - NEAR) : join + NEAR] = True
    return float(second[near].max()), float(np.percentile(second[~near], 99.9))


@pytest.mark.parametrize(("voice", "text"), [("hibari", ENGLISH), ("zm_yunxi", CHINESE)])
def test_the_embedded_voices_do_not_click_where_segments_meet(embedded: EmbeddedEngine, voice: str, text: str) -> None:
    parts = spoken(embedded, text, voice)
    at_joins, elsewhere = bends(np.concatenate(parts), list(accumulate(map(len, parts)))[:-1])
    assert at_joins <= elsewhere
    assert len(parts) > 4


def test_two_thousand_characters_by_chattts_fade_in_and_end_in_silence_each_segment() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("ChatTTS", exc_type=ImportError)
    from streaming.chattts.engine import build  # noqa: PLC0415

    engine: Any = build(weights="random-tiny:3", slots=1)
    assert len(ENGLISH) > 2000
    parts = spoken(engine, ENGLISH, "seed:2")
    assert len(parts) > 10
    np.testing.assert_array_equal(parts[0], spoken(engine, ENGLISH[:100], "seed:2")[0])
    for one in parts:
        assert np.abs(one[:24]).max() <= np.abs(one).max() / 10, "it fades in"
        assert not one[-RATE // 10 :].any(), "and ends in silence"
