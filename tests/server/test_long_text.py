"""A long text is one signal: what its segments are apart, end to end, and nothing is heard where they join."""

import asyncio
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest

from firstword.client import connect
from firstword.protocol import AudioPacket, Ended
from streaming.embedded.engine import create
from streaming.engine import Chunk, Engine, Pace, SegmentRequest
from streaming.silence import DECAY_S, LEAD_S, THRESHOLD, Samples
from streaming.text.front import TextFront
from streaming.text.segment import Segment
from streaming.text.speak import TextOptions
from tests.serving import running_server

SENTENCES = (
    "The harbour was quiet, and nobody had seen the boat come in.",
    "She counted the letters twice before she put them away.",
    "Rain fell on the roofs all night; in the morning the streets shone.",
    "He asked for bread, but the baker had gone home already.",
    "Far away a train crossed the bridge, and the dogs began to bark.",
)
LENGTH = 2_000
TEXT = " ".join(SENTENCES[number % len(SENTENCES)] for number in range(40))[:LENGTH]


@dataclass(frozen=True)
class Part:
    """A segment, spoken by the engine alone."""

    segment: Segment
    samples: Samples


async def heard(url: str) -> tuple[Samples, Ended]:
    async with connect(url) as client:
        context = client.context(codec="pcm_f32le", pace="fast")
        await context.send(TEXT)
        await context.end()
        pcm = b""
        async for event in context:
            if isinstance(event, AudioPacket):
                pcm += event.payload
            elif isinstance(event, Ended):
                return np.frombuffer(pcm, "<f4"), event
    raise AssertionError


def alone(engine: Engine) -> list[Part]:
    info = engine.info
    front = TextFront(TextOptions(controls=info.controls, alphabet=info.alphabet), info.limits)
    segments = front.push(TEXT) + front.flush()
    # The sentences come again and again: each need be spoken once.
    spoken = {(each.spoken, each.pause_s): each for each in segments}
    samples = {key: speak(engine, segment) for key, segment in spoken.items()}
    return [Part(segment, samples[segment.spoken, segment.pause_s]) for segment in segments]


def speak(engine: Engine, segment: Segment) -> Samples:
    engine.start(
        SegmentRequest(
            1,
            1,
            0,
            segment.spoken,
            engine.info.default_voice,
            language=segment.language,
            pause_s=segment.pause_s,
            pace=Pace.FAST,
        )
    )
    pcm, stop = b"", None
    while stop is None:
        for chunk in engine.step([1]):
            assert isinstance(chunk, Chunk)
            pcm, stop = pcm + chunk.pcm, chunk.stop
    return np.frombuffer(pcm, np.float32)


def joined(parts: list[Part], rate: int) -> Any:
    """Which samples lie between the last loud one of a segment and the first loud one of the next."""
    mask = np.zeros(sum(part.samples.size for part in parts), bool)
    ends = accumulate(part.samples.size for part in parts)
    for (part, following), end in zip(pairwise(parts), ends, strict=False):
        silence = round(part.segment.pause_s * rate) + round(DECAY_S * rate)
        lead = int(np.argmax(np.abs(following.samples) > THRESHOLD))
        assert lead <= round(LEAD_S * rate)
        mask[end - silence - 2 : end + lead + 2] = True
    return mask


def check(url: str, engine: Engine) -> None:
    signal, ended = asyncio.run(heard(url))
    parts, rate = alone(engine), engine.info.sample_rate
    assert ended.reason == "completed"
    assert ended.spoken == TEXT
    assert signal.size == ended.samples == sum(part.samples.size for part in parts)
    np.testing.assert_allclose(signal, np.concatenate([part.samples for part in parts]), rtol=0, atol=1e-5)

    assert len(parts) > 10
    for part in parts:
        pause = round(part.segment.pause_s * rate)
        assert pause > 0
        assert not part.samples[part.samples.size - pause :].any()
        assert np.abs(part.samples).max() > THRESHOLD
    bends, near = np.abs(np.diff(signal, 2)), joined(parts, rate)[1:-1]
    assert bends[near].max() <= np.percentile(bends[~near], 99.9)


def test_the_embedded_voice() -> None:
    with running_server() as server:
        check(server.url, create())


def test_chattts() -> None:
    pytest.importorskip("ChatTTS", exc_type=ImportError)
    torch = pytest.importorskip("torch")
    from streaming.chattts.engine import build  # noqa: PLC0415  # needs torch

    torch.set_num_threads(1)
    options = ("--engine", "chattts", "--weights", "random-tiny:3", "--slots", "2", "--length", "384")
    with running_server(*options) as server:
        check(server.url, build(weights="random-tiny:3", slots=2, length=384))
