"""The `openai` SDK, unmodified, against a server of ours."""

import asyncio
import json
from pathlib import Path
from typing import Any, Literal

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from firstword.client import connect
from tests.clients.snippets import run_snippet
from tests.clients.spoken import assert_same, spoken
from tests.conftest import Serve, Served
from tests.server.audio.signals import played

TURN = "Hello there, my friend. How are you today?"
LONG = "This is a long answer, and it goes on and on. " * 100
KEY = "a-key-of-enough-length"


def client(server: Served, key: str = "any", **options: Any) -> AsyncOpenAI:
    return AsyncOpenAI(api_key=key, base_url=f"{server.http}/v1", **options)


def turn(api: AsyncOpenAI, text: str, response_format: Literal["pcm", "mp3"] = "pcm", **options: Any) -> Any:
    return api.audio.speech.with_streaming_response.create(
        model="tts-1", voice="alto", input=text, response_format=response_format, **options
    )


async def read(api: AsyncOpenAI, text: str) -> bytes:
    async with turn(api, text) as response:
        return b"".join([piece async for piece in response.iter_bytes()])


async def test_three_turns_the_second_interrupted(serve: Serve) -> None:
    server = await serve()
    async with client(server) as api:
        assert_same(await read(api, TURN), await spoken(server, TURN))
        async with turn(api, LONG) as response:
            assert await anext(response.iter_bytes())
            assert server.edge._connections
        async with asyncio.timeout(5):
            while server.edge.pool.streams:
                await asyncio.sleep(0.01)
        assert_same(await read(api, "Once more, then."), await spoken(server, "Once more, then."))


async def test_without_asyncio(serve: Serve) -> None:
    server = await serve()

    def whole() -> bytes:
        api = OpenAI(api_key="any", base_url=f"{server.http}/v1")
        return api.audio.speech.create(model="tts-1", voice="alto", input=TURN, response_format="wav").read()

    assert_same((await asyncio.to_thread(whole))[44:], await spoken(server, TURN))


async def test_events(serve: Serve) -> None:
    server = await serve()
    async with client(server) as api, turn(api, TURN, stream_format="sse") as response:
        events = [json.loads(line.removeprefix("data: ")) async for line in response.iter_lines() if line]
    assert [event["type"] for event in events[:-1]] == ["speech.audio.delta"] * (len(events) - 1)
    assert events[-1]["type"] == "speech.audio.done"


async def test_what_can_not_be_had_is_an_exception_of_the_sdk(serve: Serve) -> None:
    server = await serve(keys=KEY)
    async with client(server, "another-key-altogether") as api:
        with pytest.raises(openai.AuthenticationError, match="A key is needed"):
            await api.models.list()
    async with client(server, KEY) as api:
        with pytest.raises(openai.BadRequestError, match="There is no format 'mp4'") as refused:
            await turn(api, TURN, "mp4").__aenter__()  # type: ignore[arg-type]
        assert (refused.value.code, refused.value.param) == ("unsupported_format", "response_format")
        with pytest.raises(openai.NotFoundError, match="there is: scripted"):
            await api.models.retrieve("tts-1")
        assert [model.id async for model in api.models.list()] == ["scripted"]
    async with client(server, KEY, max_retries=0) as api:
        with pytest.raises(openai.InternalServerError, match="The engine failed"):
            await read(api, "break at start, please.")


async def test_a_cut_response_is_not_taken_for_a_whole_one(serve: Serve) -> None:
    server = await serve()
    async with client(server, max_retries=0) as api:
        with pytest.raises(Exception, match="incomplete chunked read"):
            await read(api, "Hello there. break at start, please.")


async def test_the_sdk_comes_again_when_there_is_room(serve: Serve) -> None:
    server = await serve(max_streams=1)
    async with connect(server.url) as tts, client(server) as api, asyncio.timeout(10):
        other = tts.context()
        await other.send("hang now, please.")
        await other.flush()
        while not server.edge.pool.streams:
            await asyncio.sleep(0.01)
        waiting = asyncio.create_task(read(api, TURN))
        while not server.edge.metrics.refusals.labels("overloaded")._value.get():
            await asyncio.sleep(0.01)
        await other.cancel()
        heard = await waiting
    assert_same(heard, await spoken(server, TURN))


@pytest.mark.parametrize(
    ("name", "file"), [("openai", "hello.opus"), ("openai-async", "hello.pcm"), ("curl", "hello.mp3")]
)
async def test_the_snippets(serve: Serve, name: str, file: str, tmp_path: Path) -> None:
    server = await serve()
    await run_snippet(name, tmp_path, http=server.http.removeprefix("http://"))
    data = (tmp_path / file).read_bytes()
    assert len(data if file.endswith("pcm") else played(data)) > 24_000
