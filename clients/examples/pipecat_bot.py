"""A Pipecat pipeline that speaks with firstword: its ElevenLabs service, pointed at our server.

    python -m server
    python clients/examples/pipecat_bot.py --model llama3.2 --endpoint http://127.0.0.1:11434/v1

A line is a question. Needs `pip install "pipecat-ai[elevenlabs,openai]" firstword[play]`. In a bot of your own only
`speech` is new; transport, recogniser and model stay as they are.
"""

import argparse
import asyncio
import os
import sys
from pathlib import Path

from pipecat.frames.frames import EndFrame, Frame, LLMMessagesAppendFrame, TTSAudioRawFrame, TTSStoppedFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.elevenlabs.tts import ElevenLabsTTSService
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.workers.runner import WorkerRunner

from firstword.sink import Sink, sink_for

SYSTEM = "You are speaking aloud. Answer in short spoken sentences, without lists or markup."
RATE = 24_000


def speech(url: str, voice: str) -> ElevenLabsTTSService:
    """Our server in a Pipecat pipeline. `url` begins with ws:// or wss://."""
    return ElevenLabsTTSService(
        api_key=os.environ.get("FIRSTWORD_KEY", "none"), url=url, settings=ElevenLabsTTSService.Settings(voice=voice)
    )


async def main() -> None:
    """Read questions until the input ends."""
    arguments = parser().parse_args()
    with sink_for(arguments.out) as sink:
        ear = Ear(sink)
        llm = OpenAILLMService(
            api_key=os.environ.get("OPENAI_API_KEY", "none"),
            base_url=arguments.endpoint,
            settings=OpenAILLMService.Settings(model=arguments.model),
        )
        user, assistant = LLMContextAggregatorPair(LLMContext([{"role": "system", "content": SYSTEM}]))
        pipeline = Pipeline([user, llm, speech(arguments.url, arguments.voice), ear, assistant])
        worker = PipelineWorker(
            pipeline, params=PipelineParams(audio_out_sample_rate=RATE), cancel_on_idle_timeout=False
        )
        runner = WorkerRunner()
        await runner.add_workers(worker)
        running = asyncio.create_task(runner.run())
        while question := (await asyncio.to_thread(sys.stdin.readline)).strip():
            message = {"role": "user", "content": question}
            await worker.queue_frame(LLMMessagesAppendFrame([message], run_llm=True))
            await ear.spoken()
        await worker.queue_frame(EndFrame())
        await running


def parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", default="http://127.0.0.1:11434/v1", help="the model's address (%(default)s)")
    parser.add_argument("--model", default="llama3.2", help="the model's name (%(default)s)")
    parser.add_argument("--url", default="ws://127.0.0.1:8000", help="the speech server (%(default)s)")
    parser.add_argument("--voice", default="hibari", help="one of the server's voices (%(default)s)")
    parser.add_argument("--out", type=Path, help="write a .wav file instead of playing")
    return parser


class Ear(FrameProcessor):  # type: ignore[misc]
    """The loudspeakers at the end of the pipeline, in place of a transport."""

    def __init__(self, sink: Sink) -> None:
        super().__init__()
        self._sink = sink
        self._spoken = asyncio.Event()

    async def spoken(self) -> None:
        """Until the next reply has been heard."""
        self._spoken.clear()
        await self._spoken.wait()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Play audio, pass everything on."""
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame):
            await asyncio.to_thread(self._sink.write, frame.audio, frame.sample_rate)
        elif isinstance(frame, TTSStoppedFrame):
            self._spoken.set()
        await self.push_frame(frame, direction)


if __name__ == "__main__":
    asyncio.run(main())
