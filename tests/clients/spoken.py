"""What a client should have heard."""

from firstword.client import connect
from firstword.protocol import AudioPacket, Ended
from tests.conftest import Served


async def spoken(server: Served, *texts: str, codec: str = "pcm_s16le", sample_rate: int = 24_000) -> bytes:
    """The audio of texts that are flushed one by one, by the native protocol."""
    async with connect(server.url) as tts:
        context = tts.context(codec=codec, sample_rate=sample_rate, pace="fast")
        for text in texts:
            await context.send(text)
            await context.flush()
        await context.end()
        events = [event async for event in context]
    assert isinstance(events[-1], Ended) and events[-1].reason == "completed"
    return b"".join(event.payload for event in events if isinstance(event, AudioPacket))


def assert_same(heard: bytes, expected: bytes) -> None:
    """Without the minutes that a comparison of two long byte strings takes to be explained."""
    assert 0 < len(heard) == len(expected), f"{len(heard)} bytes, not {len(expected)}"
    differ = [n for n in range(0, len(heard), 480) if heard[n : n + 480] != expected[n : n + 480]]
    assert differ[:5] == []
