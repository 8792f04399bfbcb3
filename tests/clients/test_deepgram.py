"""The `deepgram-sdk`, unmodified, against a server of ours."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from deepgram import AsyncDeepgramClient, DeepgramClientEnvironment
from deepgram.speak.v1.types import SpeakV1Text

from tests.clients.snippets import run_snippet
from tests.clients.spoken import assert_same, spoken
from tests.conftest import Serve, Served

TURN = ["Hello there, ", "my friend. ", "How are you today?"]
LONG = "This is a long answer, and it goes on and on. " * 40
SILENCE_S = 0.02
"""What may be missing of the silence at the end of a turn: it waits for its packet to fill."""


@asynccontextmanager
async def connected(server: Served, key: str = "any", **options: str) -> AsyncIterator[Any]:
    environment = DeepgramClientEnvironment(
        base=server.http, production=server.url, agent=server.url, agent_rest=server.http
    )
    client = AsyncDeepgramClient(api_key=key, environment=environment)
    async with client.speak.v1.connect(model="aura-2-thalia-en", **options) as socket:
        assert (await socket.recv()).type == "Metadata"
        yield socket


async def turn(socket: Any, *texts: str) -> bytes:
    for text in texts:
        await socket.send_text(SpeakV1Text(type="Speak", text=text))
    await socket.send_flush()
    heard = b""
    while isinstance(message := await socket.recv(), bytes):
        heard += message
    assert message.type == "Flushed"
    return heard


async def test_three_turns_on_one_connection(serve: Serve) -> None:
    server = await serve({"samples_per_step": 480}, keys="the-key-of-the-house", voice_aliases="aura-2-thalia-en=alto")
    plain = await serve()

    async def check(heard: bytes, *texts: str) -> None:
        expected = await spoken(plain, "".join(texts))
        assert 0 <= len(expected) - len(heard) <= 48_000 * SILENCE_S
        assert_same(heard, expected[: len(heard)])

    async with connected(server, "the-key-of-the-house", encoding="linear16", sample_rate="24000") as socket:
        await check(await turn(socket, *TURN), *TURN)

        await socket.send_text(SpeakV1Text(type="Speak", text=LONG))
        first = await socket.recv()
        await socket.send_clear()
        while isinstance(message := await socket.recv(), bytes):
            first += message
        assert message.type == "Cleared"
        assert_same(first, (await spoken(plain, LONG))[: len(first)])

        await check(await turn(socket, "Once more, then."), "Once more, then.")
        await socket.send_flush()
        assert (await socket.recv()).type == "Flushed"

        await socket.send_text(SpeakV1Text(type="Speak", text="And this is the last of it."))
        await socket.send_close()
        last = b"".join([message async for message in socket])
        assert_same(last, await spoken(plain, "And this is the last of it."))


async def test_a_telephone(serve: Serve) -> None:
    server = await serve()
    async with connected(server, encoding="mulaw", sample_rate="8000") as socket:
        heard = await turn(socket, "Hello there.")
    expected = await spoken(server, "Hello there.", codec="pcm_mulaw", sample_rate=8000)
    assert 0 <= len(expected) - len(heard) <= 8_000 * 0.06


@pytest.mark.parametrize(("options", "status"), [({"encoding": "opus"}, 400), ({"sample_rate": "fast"}, 400)])
async def test_what_can_not_be_had_is_refused_at_the_handshake(
    serve: Serve, options: dict[str, str], status: int
) -> None:
    server = await serve()
    with pytest.raises(Exception, match=str(status)):
        async with connected(server, **options):
            pass


async def test_the_snippet(serve: Serve, tmp_path: Path) -> None:
    server = await serve()
    await run_snippet("deepgram", tmp_path, http=server.http.removeprefix("http://"))
    assert len((tmp_path / "hello.pcm").read_bytes()) > 48_000
