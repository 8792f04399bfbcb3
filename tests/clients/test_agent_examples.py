"""The examples for agent frameworks: their pipelines unmodified, a local model, our voice."""

import subprocess
import sys
import wave
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.model_double import model_endpoint
from tests.serving import ROOT, running_server

EXAMPLES = ROOT / "clients" / "examples"
TOKENS = ["It is ", "quite ", "far."]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_server() as server:
        yield server.url


def test_a_pipecat_bot_speaks_what_the_model_writes(url: str, tmp_path: Path) -> None:
    pytest.importorskip("pipecat")
    said = tmp_path / "said.wav"
    with model_endpoint(TOKENS) as model:
        command = [sys.executable, str(EXAMPLES / "pipecat_bot.py"), "--endpoint", model.url, "--out", str(said)]
        questions = "How far is the moon?\nAnd back?\n"
        subprocess.run(
            [*command, "--url", url.replace("http", "ws")],
            input=questions,
            text=True,
            check=True,
            capture_output=True,
            timeout=120,
        )
    assert [m["content"] for m in model.requests[1].body["messages"][1:]] == [
        "How far is the moon?",
        "It is quite far.",
        "And back?",
    ]
    with wave.open(str(said)) as file:
        assert 1.5 < file.getnframes() / file.getframerate() < 6


ROOM = """
import asyncio, importlib.util, sys
from livekit.agents import Agent
from livekit.agents.utils import http_context
from livekit.agents.voice import io

class Room(io.AudioOutput):
    samples = waiting = 0

    def __init__(self):
        super().__init__(label="room", capabilities=io.AudioOutputCapabilities(pause=False), sample_rate=24_000)

    async def capture_frame(self, frame):
        await super().capture_frame(frame)
        self.samples += frame.samples_per_channel
        self.waiting += frame.samples_per_channel

    def flush(self):
        super().flush()
        if self.waiting:
            self.on_playback_finished(playback_position=self.waiting / 24_000, interrupted=False)
        self.waiting = 0

    def clear_buffer(self):
        if self.waiting:
            self.on_playback_finished(playback_position=0, interrupted=True)
        self.waiting = 0

async def main():
    spec = importlib.util.spec_from_file_location("agent", sys.argv[1])
    agent = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(agent)
    room = Room()
    async with http_context.open(), agent.session() as session:
        session.output.audio = room
        await session.start(Agent(instructions=agent.INSTRUCTIONS))
        await session.run(user_input="How far is the moon?")
        print(room.samples, [m.text_content for m in session.history.items if m.type == "message"])

asyncio.run(main())
"""
"""A LiveKit session of the example in place of a room of a LiveKit server."""


def test_a_livekit_agent_speaks_what_the_model_writes(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("livekit.agents")
    with model_endpoint(TOKENS) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        monkeypatch.setenv("FIRSTWORD_URL", url)
        command = [sys.executable, "-c", ROOM, str(EXAMPLES / "livekit_agent.py")]
        run = subprocess.run(command, text=True, check=True, capture_output=True, timeout=120)
    samples, _, messages = run.stdout.strip().splitlines()[-1].partition(" ")
    assert messages == "['How far is the moon?', 'It is quite far.']"
    assert 0.8 < int(samples) / 24_000 < 3
