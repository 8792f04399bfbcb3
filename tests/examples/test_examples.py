"""The examples run as the documents say, with local doubles for what is outside."""

import os
import pty
import re
import subprocess
import sys
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.model_double import model_endpoint
from tests.serving import ROOT, running_server

EXAMPLES = ROOT / "clients" / "examples"
RATE = 16_000
MORE = "And then some more words come. "


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_server() as server:
        yield server.url


def seconds_of(path: Path) -> float:
    with wave.open(str(path)) as file:
        return float(file.getnframes() / file.getframerate())


def test_the_chatbot_speaks_what_the_model_writes(url: str, tmp_path: Path) -> None:
    out = tmp_path / "said.wav"
    with model_endpoint(["It is ", "quite ", "far."]) as model:
        run = subprocess.run(
            [sys.executable, EXAMPLES / "chatbot.py", "--endpoint", model.url, "--url", url, "--out", out],
            input="How far is the moon?\n\nAnd back?\n",
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    assert run.stdout.count("[heard: It is quite far.]") == 2
    assert [message["role"] for message in model.requests[1].body["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert model.requests[1].body["messages"][2]["content"] == "It is quite far."
    assert 1.5 < seconds_of(out) < 6


def test_a_line_interrupts_the_chatbot_and_the_model_learns_what_was_heard(url: str, tmp_path: Path) -> None:
    terminal, other_end = pty.openpty()
    with model_endpoint(["It is quite far. ", *[MORE] * 100], interval_s=0.02) as model:
        command = [sys.executable, str(EXAMPLES / "chatbot.py"), "--endpoint", model.url, "--url", url]
        process = subprocess.Popen(
            [*command, "--out", str(tmp_path / "said.wav")], stdin=other_end, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        try:
            os.write(terminal, b"How far is the moon?\n")
            read_until(process, "more words come. And")
            os.write(terminal, b"Stop\n")
            read_until(process, "[heard: ")
            heard = read_until(process, "]")[:-1]
            read_until(process, "It is")
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            os.close(terminal)
            os.close(other_end)
    assert ("It is quite far. " + MORE * 100).startswith(heard)
    assert model.requests[1].body["messages"][2] == {"role": "assistant", "content": heard}


def read_until(process: "subprocess.Popen[str]", end: str) -> str:
    """Everything up to `end`."""
    assert process.stdout is not None
    text = ""
    while not text.endswith(end):
        char = process.stdout.read(1)
        assert char, f"it ended with {text!r}"
        text += char
    return text


def test_the_assistant_answers_and_is_interrupted(url: str, tmp_path: Path) -> None:
    said = tmp_path / "said.wav"
    run = subprocess.run(
        [sys.executable, EXAMPLES / "assistant.py", "--url", url, "--wav", questions(tmp_path), "--out", said],
        capture_output=True,
        text=True,
        check=True,
        timeout=90,
    )
    first, second = run.stdout.splitlines()
    interrupted = re.fullmatch(r"interrupted after: '(You spoke for 1\.0 seconds\..*)'", first)
    assert interrupted
    assert not interrupted[1].endswith("any moment.")
    assert second.startswith("said: 'You spoke for 0.5 seconds.") and second.endswith("any moment.'")
    assert seconds_of(said) > 8


def questions(folder: Path) -> Path:
    """A second of sound, silence in which the reply begins, half a second that interrupts it, silence."""
    path = folder / "questions.wav"
    parts = [np.zeros(RATE // 2), tone(1.0), np.zeros(3 * RATE), tone(0.5), np.zeros(RATE)]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.concatenate(parts) * 32_767).astype("<i2").tobytes())
    return path


def tone(seconds: float) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return 0.3 * np.sin(2 * np.pi * 300 * np.arange(round(seconds * RATE)) / RATE)
