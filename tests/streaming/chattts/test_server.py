"""`python -m server --engine chattts`, through a socket."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from firstword.client import Client, SpeechError, connect
from firstword.protocol import AudioPacket, Ended, EndReason, ErrorCode, ParamValue
from tests.serving import running_server

pytest.importorskip("torch")
pytest.importorskip("ChatTTS", exc_type=ImportError)


async def speak(client: Client, **options: Any) -> tuple[bytes, Ended]:
    context = client.context(codec="pcm_s16le", pace="fast", **options)
    await context.send("Hello there.")
    await context.end()
    pcm = b""
    async for event in context:
        if isinstance(event, AudioPacket):
            pcm += event.payload
        elif isinstance(event, Ended):
            return pcm, event
    raise AssertionError


async def converse(url: str) -> None:
    async with connect(url) as client:
        assert [param.name for param in client.hello.params][:2] == ["temperature", "top_p"]
        assert client.hello.params[0].parts == 4
        plain, ended = await speak(client)
        assert ended.reason == EndReason.COMPLETED
        assert len(plain) == 2 * ended.samples > 0
        defaults: dict[str, ParamValue] = {param.name: param.default for param in client.hello.params}
        for same in ({}, {"params": defaults}, {"params": {"temperature": (0.3,) * 4}}):
            assert (await speak(client, **same))[0] == plain
        for other in ({"params": {"temperature": 1.2}}, {"seed": 3}, {"speed": 0.5}, {"voice": "seed:9"}):
            assert (await speak(client, **other))[0] != plain
        with pytest.raises(SpeechError) as refused:
            await speak(client, params={"top_k": 0})
        assert refused.value.error.code == ErrorCode.INVALID_PARAMS
        assert "`open.params`: top_k must be from 1 to 626, not 0." in str(refused.value)


def test_a_server_speaks_with_it() -> None:
    """And is ready only when it is warm: nothing is compiled for the first who speaks."""
    with running_server("--engine", "chattts", "--weights", "random-tiny:3", "--slots", "2") as server:
        assert httpx.get(f"{server.url}/readyz").status_code == 200
        asyncio.run(converse(server.url))
        assert json.loads(httpx.get(f"{server.url}/v1/voices").text)["voices"]
