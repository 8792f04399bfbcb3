"""Pipecat's services, unmodified, in a pipeline of its own, against a server of ours."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    Frame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.cartesia.tts import CartesiaTTSService
from pipecat.services.deepgram.tts import DeepgramTTSService
from pipecat.services.elevenlabs.tts import ElevenLabsTTSService
from pipecat.services.openai.tts import OpenAITTSService
from pipecat.workers.runner import WorkerRunner

from tests.clients.spoken import assert_same, spoken
from tests.conftest import Serve, Served

TURN = "Hello there, my friend. How are you today?"
SENTENCES = ["Hello there, my friend.", " How are you today?"]
"""As they are spoken by services that make a request of each."""
LONG = "This is a long answer, and it goes on and on. " * 20
PATIENCE_S = 30.0


def elevenlabs(server: Served) -> Any:
    return ElevenLabsTTSService(
        api_key="any", url=server.url, settings=ElevenLabsTTSService.Settings(voice="alto", model="eleven_flash_v2_5")
    )


def cartesia(server: Served) -> Any:
    return CartesiaTTSService(
        api_key="any", url=f"{server.url}/tts/websocket", settings=CartesiaTTSService.Settings(voice="alto")
    )


def deepgram(server: Served) -> Any:
    return DeepgramTTSService(api_key="any", base_url=server.url, settings=DeepgramTTSService.Settings(voice="alto"))


def openai(server: Served) -> Any:
    return OpenAITTSService(
        api_key="any",
        base_url=f"{server.http}/v1",
        settings=OpenAITTSService.Settings(voice="alloy", model="firstword"),
    )


class Ear(FrameProcessor):  # type: ignore[misc]
    """The end of the pipeline."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: asyncio.Queue[Frame] = asyncio.Queue()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        self.frames.put_nowait(frame)
        await self.push_frame(frame, direction)

    async def until(self, kind: type) -> list[Frame]:
        """What is heard up to a frame of that kind."""
        heard: list[Frame] = []
        async with asyncio.timeout(PATIENCE_S):
            while not heard or not isinstance(heard[-1], kind):
                heard.append(await self.frames.get())
        return heard


@asynccontextmanager
async def speaking(service: Any) -> AsyncIterator[tuple[Any, Ear]]:
    ear = Ear()
    worker = PipelineWorker(
        Pipeline([service, ear]), cancel_on_idle_timeout=False, params=PipelineParams(audio_out_sample_rate=24_000)
    )
    started = asyncio.Event()

    @worker.event_handler("on_pipeline_started")
    async def on_started(*_: Any) -> None:
        started.set()

    runner = WorkerRunner()
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    await asyncio.wait_for(started.wait(), PATIENCE_S)
    try:
        yield worker, ear
        await worker.queue_frame(EndFrame())
        await asyncio.wait_for(running, PATIENCE_S)
    finally:
        await worker.cancel()


async def say(worker: Any, text: str) -> None:
    await worker.queue_frame(LLMFullResponseStartFrame())
    for word in text.split(" "):
        await worker.queue_frame(LLMTextFrame(f"{word} "))
    await worker.queue_frame(LLMFullResponseEndFrame())


def audio(frames: list[Frame]) -> bytes:
    return b"".join(frame.audio for frame in frames if isinstance(frame, TTSAudioRawFrame))


def told(frames: list[Frame]) -> str:
    """The words that were told as spoken."""
    return " ".join(frame.text.strip() for frame in frames if isinstance(frame, TTSTextFrame))


def assert_turn(frames: list[Frame], expected: bytes, missing_s: float) -> None:
    """All of its audio and nothing else; at most so much silence of the end may still be on its way."""
    heard = audio(frames)
    assert 0 <= len(expected) - len(heard) <= 48_000 * missing_s
    assert_same(heard, expected[: len(heard)])
    assert not [frame for frame in frames if isinstance(frame, ErrorFrame)]


@pytest.mark.parametrize(
    ("create", "texts", "missing_s", "timed"),
    [
        (elevenlabs, SENTENCES, 0.0, True),
        (cartesia, SENTENCES, 0.0, True),
        (deepgram, [TURN], 0.02, False),
        (openai, SENTENCES, 0.0, False),
    ],
)
async def test_three_turns_on_one_connection(
    serve: Serve, create: Callable[[Served], Any], texts: list[str], missing_s: float, *, timed: bool
) -> None:
    server = await serve({"samples_per_step": 480})
    plain = await serve()
    async with speaking(create(server)) as (worker, ear):
        await say(worker, TURN)
        heard = await ear.until(TTSStoppedFrame)
        assert_turn(heard, await spoken(plain, *texts), missing_s)
        assert not timed or told(heard) == TURN

        await say(worker, LONG)
        await ear.until(TTSAudioRawFrame)
        await worker.queue_frame(InterruptionFrame())
        await ear.until(InterruptionFrame)

        await say(worker, "Once more, then.")
        heard = await ear.until(TTSStoppedFrame)
        while not audio(heard):
            heard += await ear.until(TTSStoppedFrame)
        if create is openai:  # lets go of what it had read before it closed the response
            heard = [f for f in heard if getattr(f, "context_id", heard[-1].context_id) == heard[-1].context_id]
        assert_turn(heard, await spoken(plain, "Once more, then."), missing_s)
        assert not timed or told(heard) == "Once more, then."
        assert len(server.edge._connections) <= 1
    assert server.edge.pool.streams == 0
