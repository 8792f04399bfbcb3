"""Wyoming with its own client, used as Home Assistant uses it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import Describe, Info, SelectProgram
from wyoming.ping import Ping, Pong
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
    SynthesizeVoice,
)

from firstword.client import connect
from firstword.protocol import AudioPacket
from server.listener import bind
from server.protocols import wyoming
from tests.conftest import Serve, Served

TEXT = "Hello there. How are you today?"
DELTAS = ("Hel", "lo there. How", " are you", " today?")

Start = Callable[..., Awaitable[tuple[Served, int]]]


@pytest.fixture
async def start(serve: Serve) -> AsyncIterator[Start]:
    """Start a server; returns it and its Wyoming port."""
    opened: list[asyncio.Server] = []

    async def start(*engine: dict[str, Any], **options: Any) -> tuple[Served, int]:
        server = await serve(*engine, **options)
        sock = bind("127.0.0.1", 0)
        opened.append(await wyoming.serve(server.edge, sock))
        return server, sock.getsockname()[1]

    yield start
    for listening in opened:
        listening.close()


async def native(server: Served, text: str, voice: str = "alto") -> bytes:
    async with connect(server.url) as tts:
        context = tts.context(codec="pcm_s16le", voice=voice, pace="fast")
        await context.send(text)
        await context.end()
        return b"".join([event.payload async for event in context if isinstance(event, AudioPacket)])


async def event(client: AsyncTcpClient) -> Event:
    received = await asyncio.wait_for(client.read_event(), 20)
    assert received is not None, "the server closed the connection"
    return received


async def until(client: AsyncTcpClient, kind: type) -> list[Event]:
    """Everything up to the first event of that kind."""
    events = [await event(client)]
    while not kind.is_type(events[-1].type):  # type: ignore[attr-defined]
        events.append(await event(client))
    return events


def types(events: list[Event]) -> list[str]:
    """In order, but a run of audio counts once."""
    return [
        e.type for before, e in zip([None, *events], events, strict=False) if before is None or before.type != e.type
    ]


def audio(events: list[Event]) -> bytes:
    chunks = [AudioChunk.from_event(e) for e in events if AudioChunk.is_type(e.type)]
    assert {(chunk.rate, chunk.width, chunk.channels) for chunk in chunks} <= {(24_000, 2, 1)}
    assert all(0 < chunk.samples <= 1920 and len(chunk.audio) % 2 == 0 for chunk in chunks)
    return b"".join(chunk.audio for chunk in chunks)


async def stream(client: AsyncTcpClient, *deltas: str, voice: str | None = None) -> None:
    """A streamed reply as Home Assistant sends it, with the whole text again for older servers."""
    await client.write_event(SynthesizeStart(voice=SynthesizeVoice(name=voice) if voice else None).event())
    for delta in deltas:
        await client.write_event(SynthesizeChunk(delta).event())
    await client.write_event(Synthesize("".join(deltas)).event())
    await client.write_event(SynthesizeStop().event())


async def test_a_streamed_reply_as_home_assistant_asks_for_it(start: Start) -> None:
    server, port = await start()
    async with AsyncTcpClient("127.0.0.1", port) as client:
        await stream(client, *DELTAS)
        events = await until(client, SynthesizeStopped)
    assert types(events) == ["audio-start", "audio-chunk", "audio-stop", "synthesize-stopped"]
    assert AudioStart.from_event(events[0]) == AudioStart(24_000, 2, 1)
    assert audio(events) == await native(server, TEXT)


async def test_a_whole_text_and_more_of_them_on_one_connection(start: Start) -> None:
    server, port = await start()
    async with AsyncTcpClient("127.0.0.1", port) as client:
        for voice in ("alto", "bass"):
            await client.write_event(Synthesize(TEXT, voice=SynthesizeVoice(name=voice)).event())
        for voice in ("alto", "bass"):
            events = await until(client, AudioStop)
            assert types(events) == ["audio-start", "audio-chunk", "audio-stop"]
            assert audio(events) == await native(server, TEXT, voice)
        await stream(client, *DELTAS)
        await stream(client, "Goodbye, then.", voice="bass")
        assert audio(await until(client, SynthesizeStopped)) == await native(server, TEXT)
        assert audio(await until(client, SynthesizeStopped)) == await native(server, "Goodbye, then.", "bass")


async def test_sound_comes_before_the_text_has_ended(start: Start) -> None:
    _, port = await start()
    async with AsyncTcpClient("127.0.0.1", port) as client:
        await client.write_event(SynthesizeStart().event())
        await client.write_event(SynthesizeChunk("Hello there, my friend. And then ").event())
        assert audio(await until(client, AudioChunk))


async def test_the_voices_are_described(start: Start) -> None:
    _, port = await start()
    async with AsyncTcpClient("127.0.0.1", port) as client:
        await client.write_event(Describe().event())
        info = Info.from_event(await event(client))
        (program,) = info.tts
        assert (program.name, program.installed, program.supports_synthesize_streaming) == ("firstword", True, True)
        assert [(v.name, v.languages, v.installed) for v in program.voices] == [
            ("alto", ["en"], True),
            ("bass", ["en", "zh"], True),
        ]
        await client.write_event(SelectProgram("firstword").event())
        await client.write_event(Event("never-heard-of", {"x": 1}, b"payload"))
        await client.write_event(Ping("are you there").event())
        assert Pong.from_event(await event(client)).text == "are you there"


async def test_a_language_chooses_who_speaks_it(start: Start) -> None:
    server, port = await start()
    async with AsyncTcpClient("127.0.0.1", port) as client:
        for language, voice in (("zh-CN", "bass"), ("en_GB", "alto"), ("fr", "alto")):
            await client.write_event(Synthesize(TEXT, voice=SynthesizeVoice(language=language)).event())
            assert audio(await until(client, AudioStop)) == await native(server, TEXT, voice)


async def test_hanging_up_interrupts(start: Start) -> None:
    server, port = await start()
    async with AsyncTcpClient("127.0.0.1", port) as client:
        await client.write_event(Synthesize("This sentence is one of many. " * 200).event())
        await until(client, AudioChunk)
        assert server.edge._connections
    async with asyncio.timeout(5):
        while server.edge.pool.streams or server.edge._connections:
            await asyncio.sleep(0.01)


async def test_a_failure_is_told_and_ends_what_the_client_waits_for(start: Start) -> None:
    server, port = await start(strict_voices=True)
    async with AsyncTcpClient("127.0.0.1", port) as client:
        await stream(client, "Hello there. break at start, ", "please. ", "And more.")
        events = await until(client, SynthesizeStopped)
        kinds = [kind for kind in types(events) if kind != "audio-chunk"]
        assert kinds == ["audio-start", "error", "audio-stop", "synthesize-stopped"]
        assert audio(events), "what was said before is heard"
        (error,) = [Error.from_event(e) for e in events if Error.is_type(e.type)]
        assert error.code == "engine_failed" and error.text.endswith(".")
        await stream(client, TEXT, voice="nobody")
        assert types(await until(client, SynthesizeStopped)) == ["error", "audio-stop", "synthesize-stopped"]
        await client.write_event(Synthesize(TEXT, voice=SynthesizeVoice(name="nobody")).event())
        assert types(await until(client, AudioStop)) == ["error", "audio-stop"]
        await stream(client, *DELTAS)
        assert audio(await until(client, SynthesizeStopped)) == await native(server, TEXT), "and it goes on"


async def test_nothing_to_say_ends_like_anything_else(start: Start) -> None:
    _, port = await start()
    async with AsyncTcpClient("127.0.0.1", port) as client:
        await stream(client)
        assert types(await until(client, SynthesizeStopped)) == ["audio-start", "audio-stop", "synthesize-stopped"]
        await stream(client, "...")
        events = await until(client, SynthesizeStopped)
        assert audio(events) == bytes(2 * 2400), "silence, or it would be taken for a failure"
        await client.write_event(Synthesize("").event())
        assert types(await until(client, AudioStop)) == ["audio-start", "audio-stop"]


NO_EVENTS = [
    b"GET / HTTP/1.1\r\n\r\n",
    b"[]\n",
    b"{}\n",
    b'{"type":"ping","data_length":99999999}\n',
    b'{"type":"ping","payload_length":"x"}\n',
    b"[" * 20_000 + b"\n",
    b"x" * 200_000,
]


async def test_what_is_no_event_ends_the_connection(start: Start) -> None:
    server, port = await start()
    for line in NO_EVENTS:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(line)
        assert await asyncio.wait_for(reader.read(), 10) == b"", line[:80]
        writer.close()
    assert not server.edge._connections


async def test_wrong_fields_are_an_error_event(start: Start) -> None:
    _, port = await start()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for message in ({"type": 7}, {"type": "synthesize", "data": {"text": 7}}, {"type": "synthesize", "data": []}):
        writer.write(json.dumps(message).encode() + b"\n")
    writer.write(b'{"type":"ping"}\n')
    told = b""
    while b"pong" not in told:
        told += await asyncio.wait_for(reader.readline(), 10)
    assert told.count(b'"error"') == 3
    writer.close()
