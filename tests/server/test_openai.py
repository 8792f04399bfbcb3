"""OpenAI's speech endpoint over a real socket, byte by byte; `tests/clients` asks its own library."""

import asyncio
import base64
import json
from typing import Any

import httpx
import numpy as np
import pytest

from firstword.client import connect
from firstword.protocol import AudioPacket
from tests.conftest import Serve, Served
from tests.server.audio.signals import played

KEY = "a-key-of-enough-length"
TEXT = "Hello there. How are you today?"
RATE = 24_000

MEDIA_TYPES = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
}

DELAYS = {"mp3": 1105, "aac": 1024}
"""Samples before the first one, as documented."""


async def ask(server: Served, key: str = "", **fields: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(base_url=server.http) as client:
        return await client.post(
            "/v1/audio/speech", json={"model": "tts-1", "voice": "alto", **fields}, headers=headers
        )


async def native(server: Served, text: str) -> bytes:
    """The samples that the native protocol gives for a text."""
    async with connect(server.url) as tts:
        context = tts.context(codec="pcm_s16le", voice="alto", pace="fast")
        await context.send(text)
        await context.end()
        return b"".join([event.payload async for event in context if isinstance(event, AudioPacket)])


def error(response: httpx.Response) -> dict[str, str]:
    fields: dict[str, str] = response.json()["error"]
    assert set(fields) == {"message", "type", "param", "code"}
    return fields


async def idle(server: Served) -> None:
    async with asyncio.timeout(5):
        while server.edge.pool.streams:
            await asyncio.sleep(0.01)


async def test_pcm_is_what_the_native_protocol_says(serve: Serve) -> None:
    server = await serve()
    response = await ask(server, input=TEXT, response_format="pcm")
    assert response.status_code == 200
    assert response.headers["content-type"] == "audio/pcm"
    assert response.headers["transfer-encoding"] == "chunked"
    assert response.content == await native(server, TEXT)


async def test_every_container_plays_to_its_documented_length(serve: Serve) -> None:
    server = await serve()
    samples = len(await native(server, TEXT)) // 2
    for name, media_type in MEDIA_TYPES.items():
        response = await ask(server, input=TEXT, response_format=name)
        assert response.headers["content-type"] == media_type
        heard = len(played(response.content))
        match name:
            case "wav" | "flac":
                assert heard == samples
            case "opus":
                assert heard == 2 * (samples + 480)
            case _:
                assert 0 <= heard - DELAYS[name] - samples <= 3 * 1152
    assert (await ask(server, input="Hi.")).headers["content-type"] == "audio/mpeg", "unless it is asked for"


async def test_sound_leaves_before_the_text_is_spoken_and_a_client_who_leaves_stops_it(serve: Serve) -> None:
    server = await serve()
    fields = {"input": "This sentence is one of many. " * 200, "voice": "alto", "response_format": "opus"}
    async with (
        httpx.AsyncClient(base_url=server.http) as client,
        client.stream("POST", "/v1/audio/speech", json=fields) as response,
    ):
        assert (await anext(response.aiter_raw())).startswith(b"OggS")
        assert server.edge._connections, "what nobody reads is not made"
    await idle(server)


async def test_a_long_text_is_spoken_as_fast_as_it_can_be(serve: Serve) -> None:
    server = await serve()
    response = await ask(server, input="This sentence is one of many. " * 60, response_format="pcm")
    assert len(response.content) > 2 * RATE * 30


async def test_events(serve: Serve) -> None:
    server = await serve()
    response = await ask(server, input=TEXT, response_format="pcm", stream_format="sse")
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    *lines, end = response.text.split("\n\n")
    *deltas, done = (json.loads(line.removeprefix("data: ")) for line in lines)
    assert end == ""
    assert {delta["type"] for delta in deltas} == {"speech.audio.delta"}
    pcm = b"".join(base64.b64decode(delta["audio"]) for delta in deltas)
    assert pcm == await native(server, TEXT)
    packets = -(-len(pcm) // 960)
    usage = {"input_tokens": len(TEXT), "output_tokens": packets, "total_tokens": len(TEXT) + packets}
    assert done == {"type": "speech.audio.done", "usage": usage}


REFUSED: list[tuple[dict[str, Any], str, str | None]] = [
    ({}, "bad_message", None),
    ({"input": " "}, "bad_message", None),
    ({"input": 7}, "bad_message", None),
    ({"input": "Hi.", "response_format": "mp4"}, "unsupported_format", "response_format"),
    ({"input": "Hi.", "speed": 5}, "bad_message", None),
    ({"input": "Hi.", "speed": "fast"}, "bad_message", None),
    ({"input": "Hi.", "stream_format": "x"}, "bad_message", None),
    ({"input": "Hi.", "voice": ["alto"]}, "bad_message", None),
    ({"input": "x " * 600}, "text_too_long", "input"),
]


async def test_what_can_not_be_had_is_a_400_with_a_sentence(serve: Serve) -> None:
    server = await serve(max_context_chars=1000, max_message_bytes=1024)
    for fields, code, param in REFUSED:
        response = await ask(server, **fields)
        assert response.status_code == 400
        told = error(response)
        assert (told["type"], told["code"], told["param"]) == ("invalid_request_error", code, param)
        assert told["message"].endswith(".")
    async with httpx.AsyncClient(base_url=server.http) as client:
        for content in (b"", b"{", b"[]", b"\xff", b"null", b"[" * 10_000):
            response = await client.post("/v1/audio/speech", content=content)
            assert (response.status_code, error(response)["code"]) == (400, "bad_message")
    response = await ask(server, input="x", filler="x" * 14_000)
    assert (response.status_code, error(response)["code"]) == (413, "message_too_large")
    await idle(server)


async def test_a_key_where_one_is_needed(serve: Serve) -> None:
    server = await serve(keys=KEY)
    for key in ("", "a-wrong-key-of-that-length"):
        response = await ask(server, key, input="Hi.")
        assert (response.status_code, error(response)["code"]) == (401, "invalid_api_key")
    assert (await ask(server, KEY, input="Hi.")).status_code == 200
    async with httpx.AsyncClient(base_url=server.http) as client:
        for path in ("/v1/models", "/v1/models/scripted", "/v1/audio/voices"):
            assert (await client.get(path)).status_code == 401


async def test_a_page_of_elsewhere_may_not_ask(serve: Serve) -> None:
    server = await serve()
    async with httpx.AsyncClient(base_url=server.http, headers={"Origin": "https://evil.example"}) as client:
        response = await client.post("/v1/audio/speech", json={"input": "Hi."})
    assert (response.status_code, error(response)["code"]) == (403, "forbidden")


async def test_a_page_that_may_ask_is_told_so(serve: Serve) -> None:
    server = await serve(keys=KEY, origins="https://app.example")
    asking = {
        "Origin": "https://app.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type",
    }
    async with httpx.AsyncClient(base_url=server.http) as client:
        asked = await client.options("/v1/audio/speech", headers=asking)
        assert asked.status_code == 200
        assert asked.headers["access-control-allow-origin"] == "https://app.example"
        headers = {"Origin": "https://app.example", "Authorization": f"Bearer {KEY}"}
        response = await client.post("/v1/audio/speech", json={"input": "Hi."}, headers=headers)
        assert response.status_code == 200
        assert response.headers["access-control-allow-origin"] == "https://app.example"
        refused = await client.options("/v1/audio/speech", headers={**asking, "Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in refused.headers


async def test_a_full_server_says_when_to_come_again(serve: Serve) -> None:
    server = await serve(max_streams=1)
    async with connect(server.url) as tts:
        context = tts.context()
        await context.send("hang now, please. ")
        await context.flush()
        while not server.edge.pool.streams:
            await asyncio.sleep(0.01)
        response = await ask(server, input="Hi.")
        assert (response.status_code, error(response)["code"]) == (503, "overloaded")
        assert int(response.headers["retry-after"]) >= 1
        assert error(response)["type"] == "server_error"


async def test_one_connection_too_many_is_a_503_and_costs_nothing(serve: Serve) -> None:
    server = await serve(max_connections=1)
    async with connect(server.url):
        response = await ask(server, input="This sentence is one of many. " * 60)
        assert server.edge.pool.streams == 0
    assert (response.status_code, error(response)["code"]) == (503, "overloaded")


async def test_a_failure_before_the_first_sound_is_a_status(serve: Serve) -> None:
    response = await ask(await serve(), input="break at start, please.")
    assert (response.status_code, error(response)["code"]) == (500, "engine_failed")


async def test_a_failure_after_it_cuts_the_response(serve: Serve) -> None:
    server = await serve()
    with pytest.raises(httpx.RemoteProtocolError):
        await ask(server, input="Hello there. break at start, please.", response_format="pcm")
    got = b""
    async with httpx.AsyncClient(base_url=server.http) as client:
        fields = {"input": "Hello there. break at start, please.", "stream_format": "sse"}
        with pytest.raises(httpx.RemoteProtocolError):
            async with client.stream("POST", "/v1/audio/speech", json=fields) as response:
                async for piece in response.aiter_raw():
                    got += piece
    last = json.loads(got.decode().strip().rpartition("data: ")[2])
    assert (last["type"], last["error"]["code"]) == ("error", "engine_failed")
    await idle(server)


async def test_text_without_words_is_a_moment_of_silence(serve: Serve) -> None:
    server = await serve()
    for text in ("...", "🙂", "**"):
        response = await ask(server, input=text, response_format="pcm")
        assert response.status_code == 200
        assert not np.frombuffer(response.content, "<i2").any()
        assert len(response.content) == 2 * RATE // 10


async def test_voices_of_openai_are_voices_of_ours_the_same_ones_always(serve: Serve) -> None:
    server = await serve()
    names = ["alloy", "ash", "ballad", "coral", "echo", "fable", "marin", "nova", "onyx", "sage", "shimmer", "verse"]
    alto, bass = [
        (await ask(server, input="Hi.", response_format="pcm", voice=voice)).content for voice in ("alto", "bass")
    ]
    for name in names:
        heard = (await ask(server, input="Hi.", response_format="pcm", voice=name)).content
        assert heard in (alto, bass)
    assert (await ask(server, input="Hi.", response_format="pcm", voice={"id": "bass"})).content == bass


async def test_strictly_they_are_not(serve: Serve) -> None:
    server = await serve(strict_voices=True, voice_aliases="alloy=bass")
    response = await ask(server, input="Hi.", voice="nova")
    assert (response.status_code, error(response)["param"]) == (400, "voice")
    assert (await ask(server, input="Hi.", voice="alloy")).status_code == 200


async def test_what_there_is(serve: Serve) -> None:
    server = await serve()
    async with httpx.AsyncClient(base_url=server.http) as client:
        voices = (await client.get("/v1/audio/voices")).json()["voices"]
        assert [(voice["id"], voice["name"]) for voice in voices] == [("alto", "alto"), ("bass", "bass")]
        (model,) = (await client.get("/v1/models")).json()["data"]
        assert (model["id"], model["object"]) == ("scripted", "model")
        assert (await client.get("/v1/models/scripted")).json() == model
        response = await client.get("/v1/models/tts-9")
        assert (response.status_code, error(response)["code"]) == (404, "not_found")


async def test_a_response_is_finished_before_the_server_goes(serve: Serve) -> None:
    server = await serve({"samples_per_step": 480})
    whole = await native(server, TEXT)
    fields = {"input": TEXT, "voice": "alto", "response_format": "pcm"}
    async with (
        httpx.AsyncClient(base_url=server.http) as client,
        client.stream("POST", "/v1/audio/speech", json=fields) as response,
    ):
        pieces = response.aiter_raw()
        got = await anext(pieces)
        draining = asyncio.create_task(server.edge.drain())
        async for piece in pieces:
            got += piece
        await draining
        assert got == whole
        late = await client.post("/v1/audio/speech", json=fields)
        assert late.status_code == 503


async def test_a_client_that_does_not_read_is_cut_off(serve: Serve) -> None:
    server = await serve(stall_s=0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]), limit=1024)
    body = json.dumps({"input": "This sentence is one of many. " * 100, "response_format": "wav"}).encode()
    head = f"POST /v1/audio/speech HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await reader.readline()
    async with asyncio.timeout(20):
        while server.edge._connections:
            await asyncio.sleep(0.02)
    await idle(server)
    writer.close()
