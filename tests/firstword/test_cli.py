"""`firstword say` as a process, against a real server."""

import asyncio
import json
import sys
import wave
from pathlib import Path

from tests.conftest import Serve
from tests.doubles import RATE

TEXT = "Hello there. How are you?"


async def explain(*arguments: str) -> tuple[int, str, str]:
    """Run `firstword explain`; give its exit status, standard output and standard error."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "firstword.cli",
        "explain",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), errors.decode()


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


async def test_explain_prints_the_stages(serve: Serve) -> None:
    server = await serve()
    status, out, _ = await explain("Dr. **Who** paid $5.\nไทย", "--url", server.url, "--voice", "bass")
    assert status == 0
    assert (
        out
        == """voice bass, alphabet chinese-and-english

0-20  en  then pause 450 ms
  source    Dr. **Who** paid $5.
  markup    Dr. Who paid $5.
  numbers   Dr. Who paid five dollars.
  words     Doctor Who paid five dollars.
  spoken    Doctor Who paid five dollars.

21-24  en  then pause 120 ms
  source    ⏎ไทย
  markup    ไทย
  alphabet
  spoken
  skipped   ไทย at 21-24: unsupported
"""
    )
    status, out, _ = await explain("5 😀", "--url", server.http, "--emoji", "name", "--json")
    assert json.loads(out)["segments"][0]["spoken"] == "five grinning face"
    status, _, errors = await explain("hi", "--url", server.url, "--voice", "nobody")
    assert (status, "There is no voice 'nobody'" in errors) == (1, True)
    status, _, errors = await explain("hi", "--url", "ftp://127.0.0.1")
    assert (status, "is no address of a server" in errors) == (1, True)
