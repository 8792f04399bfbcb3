"""LiveKit's plugins, unmodified, against a server of ours."""

import asyncio
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from livekit.plugins import cartesia, deepgram, elevenlabs, openai

from tests.clients.snippets import run_snippet
from tests.clients.spoken import assert_same, spoken
from tests.conftest import Serve, Served

TURN = "Hello there, my friend. How are you today?"
SENTENCES = ["Hello there, my friend. ", "How are you today? "]
"""As the ElevenLabs plugin sends them, each with a flush."""
LONG = "This is a long answer, and it goes on and on. " * 20
PATIENCE_S = 30.0


def elevenlabs_pcm(server: Served, session: aiohttp.ClientSession) -> Any:
    return elevenlabs.TTS(
        api_key="any", base_url=f"{server.http}/v1", voice_id="alto", encoding="pcm_24000", http_session=session
    )


def cartesia_pcm(server: Served, session: aiohttp.ClientSession) -> Any:
    return cartesia.TTS(api_key="any", base_url=server.http, voice="alto", http_session=session)


def deepgram_pcm(server: Served, session: aiohttp.ClientSession) -> Any:
    return deepgram.TTS(api_key="any", base_url=f"{server.http}/v1/speak", model="alto", http_session=session)


def openai_pcm(server: Served, session: aiohttp.ClientSession) -> Any:
    return openai.TTS(
        api_key="any", base_url=f"{server.http}/v1", model="firstword", voice="alto", response_format="pcm"
    )


async def synthesized(tts: Any, text: str) -> bytes:
    """What is heard of a text that is there at once."""
    async with asyncio.timeout(PATIENCE_S), tts.synthesize(text) as stream:
        return b"".join([bytes(event.frame.data) async for event in stream])


async def turn(tts: Any, text: str) -> tuple[bytes, str]:
    """What is heard, and the transcript."""
    async with asyncio.timeout(PATIENCE_S), tts.stream() as stream:
        for word in text.split(" "):
            stream.push_text(f"{word} ")
        stream.end_input()
        heard, words = b"", ""
        async for event in stream:
            heard += bytes(event.frame.data)
            words += "".join(event.frame.userdata.get("lk.timed_transcripts", []))
    return heard, words


async def interrupt(tts: Any, text: str) -> bytes:
    """The first of what is heard."""
    async with asyncio.timeout(PATIENCE_S), tts.stream() as stream:
        stream.push_text(text)
        event = await anext(aiter(stream))
        return bytes(event.frame.data)


def loud(pcm: bytes, rate: int) -> list[bool]:
    """Is there speech, for each 20 ms."""
    samples = array("h", pcm)
    frame = rate // 50
    return [max(map(abs, samples[at : at + frame])) > 3_000 for at in range(0, len(samples), frame)]


@pytest.mark.parametrize(
    ("create", "texts", "missing_s", "timed"),
    [
        (elevenlabs_pcm, SENTENCES, 0.0, True),
        (cartesia_pcm, SENTENCES, 0.0, True),
        (deepgram_pcm, [TURN], 0.02, False),
    ],
)
async def test_three_turns(
    serve: Serve, create: Callable[..., Any], texts: list[str], missing_s: float, *, timed: bool
) -> None:
    server = await serve({"samples_per_step": 480})
    plain = await serve()

    async def check(tts: Any, text: str, *flushed: str) -> None:
        heard, words = await turn(tts, text)
        expected = await spoken(plain, *flushed)
        assert 0 <= len(expected) - len(heard) <= 48_000 * missing_s
        assert_same(heard, expected[: len(heard)])
        assert words.split() == (text.split() if timed else [])

    async with aiohttp.ClientSession() as session:
        tts = create(server, session)
        await check(tts, TURN, *texts)
        cut = await interrupt(tts, LONG)
        assert_same(cut, (await spoken(plain, LONG))[: len(cut)])
        await check(tts, "Once more, then, my friend.", "Once more, then, my friend. ")
        await tts.aclose()


@pytest.mark.parametrize(("encoding", "rate"), [(None, 22_050), ("opus_48000_32", 48_000), ("mp3_44100_128", 44_100)])
async def test_compressed_audio_is_as_long_as_it_should_be(serve: Serve, encoding: str | None, rate: int) -> None:
    server = await serve()
    async with aiohttp.ClientSession() as session:
        chosen = {"encoding": encoding} if encoding else {}
        tts = elevenlabs.TTS(
            api_key="any", base_url=f"{server.http}/v1", voice_id="alto", http_session=session, **chosen
        )
        heard, _ = await turn(tts, TURN)
        await tts.aclose()
    expected = await spoken(server, *SENTENCES)
    assert tts.sample_rate == rate
    assert 0 <= len(heard) / 2 / rate - len(expected) / 48_000 <= 0.12, "a codec's delay and its last frame"
    pairs = zip(loud(heard, rate), loud(expected, 24_000), strict=False)
    assert sum(a != b for a, b in pairs) <= 12, "six edges, each late by a codec's delay"


@pytest.mark.parametrize("create", [elevenlabs_pcm, cartesia_pcm, deepgram_pcm, openai_pcm])
async def test_a_whole_text_at_once(serve: Serve, create: Callable[..., Any]) -> None:
    server = await serve()
    async with aiohttp.ClientSession() as session:
        tts = create(server, session)
        for text in (TURN, "Once more, then, my friend."):
            heard, expected = await synthesized(tts, text), await spoken(server, text)
            assert_same(heard[: len(expected)], expected)
            assert heard[len(expected) :].strip(b"\0") == b"" and len(heard) - len(expected) < 1000, "its own padding"
        await tts.aclose()


async def test_the_snippet(serve: Serve, tmp_path: Path) -> None:
    server = await serve()
    await run_snippet("livekit", tmp_path, http=server.http.removeprefix("http://"))
    assert len((tmp_path / "hello.pcm").read_bytes()) > 48_000
