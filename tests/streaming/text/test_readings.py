"""Texts are said as people read them aloud, whole and letter by letter."""

import pytest

from streaming.text.front import TextFront
from tests.streaming.text.readings import READINGS, Reading


def spoken(*deltas: str) -> str:
    front = TextFront()
    segments = [segment for delta in deltas for segment in front.push(delta)] + front.flush()
    return " ".join(segment.spoken for segment in segments)


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: f"{reading.kind}: {reading.text}")
def test_reading(reading: Reading) -> None:
    said = spoken(reading.text)
    assert reading.allows(said), said
    assert spoken(*reading.text) == said
