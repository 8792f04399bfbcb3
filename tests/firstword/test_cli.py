"""`firstword say` as a process, against a real server."""

import asyncio
import sys
import wave
from pathlib import Path

from tests.conftest import Serve
from tests.doubles import RATE

TEXT = "Hello there. How are you?"


async def say(*arguments: str, stdin: list[str] | None = None) -> tuple[int, str]:
    """Run the command; give its exit status and what it wrote to standard error."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "firstword.cli",
        "say",
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    for piece in stdin or []:
        process.stdin.write(piece.encode())
        await process.stdin.drain()
        await asyncio.sleep(0.05)
    process.stdin.close()
    _, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, errors.decode()


def samples(path: Path) -> bytes:
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, RATE)
        frames: bytes = file.readframes(file.getnframes())
        return frames


async def test_an_argument_a_file_and_standard_input_are_said_alike(serve: Serve, tmp_path: Path) -> None:
    server = await serve()
    (tmp_path / "text").write_text(TEXT)
    status, errors = await say(TEXT, "--url", server.url, "--out", f"{tmp_path}/a.wav")
    assert (status, "first audio after" in errors) == (0, True)
    await say("--file", f"{tmp_path}/text", "--url", server.http, "--out", f"{tmp_path}/b.wav")
    await say("--url", server.url, "--out", f"{tmp_path}/c.wav", stdin=["Hello the", "re. How are", " you?"])
    await say(TEXT, "--url", server.url, "--out", f"{tmp_path}/d.wav", "--word-ms", "5")
    said = [samples(tmp_path / f"{name}.wav") for name in "abcd"]
    assert len(said[0]) > RATE
    assert said == [said[0]] * 4


async def test_an_opus_file_is_ogg(serve: Serve, tmp_path: Path) -> None:
    server = await serve()
    assert (await say(TEXT, "--url", server.url, "--out", f"{tmp_path}/a.opus"))[0] == 0
    data = (tmp_path / "a.opus").read_bytes()
    assert data.startswith(b"OggS") and b"OpusHead" in data[:64]


async def test_what_goes_wrong_is_a_sentence(serve: Serve, tmp_path: Path) -> None:
    server = await serve()
    status, errors = await say(TEXT, "--url", "ws://127.0.0.1:9", "--out", f"{tmp_path}/a.wav")
    assert status == 1 and errors.startswith("error: There is no server at ws://127.0.0.1:9")
    status, errors = await say(TEXT, "--url", server.url, "--voice", "nobody", "--out", f"{tmp_path}/a.wav")
    assert status == 1 and "There is no voice 'nobody'" in errors
    status, errors = await say(TEXT, "--url", server.url, "--out", f"{tmp_path}/a.mp9")
    assert status == 1 and "ends in .opus, .ogg, .wav" in errors
