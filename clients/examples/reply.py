"""One answer being spoken, for the examples: text comes in pieces, and it may be interrupted until its last sound."""

import asyncio
import time
from collections.abc import AsyncIterator

from firstword.client import Client
from firstword.protocol import AudioPacket, Ended, Flushed
from firstword.sink import Sink


class Reply:
    """Speaks `pieces` to `sink` as they come.

    The server sends ahead of what is heard. So the context is flushed at the end of the text, and ended only once all
    of it was heard: until then a cancel still says which words were.
    """

    def __init__(self, tts: Client, sink: Sink, pieces: AsyncIterator[str], voice: str | None = None) -> None:
        self._context = tts.context(voice=voice, codec=sink.codec)
        self._sink = sink
        self._began: float | None = None
        self._writing = asyncio.create_task(self._write(pieces))
        self._playing = asyncio.create_task(self._play())

    @property
    def over(self) -> bool:
        """It was heard to its end."""
        return self._playing.done()

    async def finish(self) -> str:
        """Speak to the end; returns the text. Raises what the writer raised."""
        _, ended = await asyncio.shield(asyncio.gather(self._writing, self._playing))
        return ended.spoken

    async def interrupt(self) -> str:
        """Silence; returns the text that was heard."""
        if self.over:
            return await self.finish()
        self._writing.cancel()
        self._playing.cancel()
        played_ms = 1000 * (time.monotonic() - self._began) if self._began else 0.0
        return (await self._context.cancel(played_ms=played_ms)).spoken

    async def _write(self, pieces: AsyncIterator[str]) -> None:
        await self._context.open()
        try:
            async for piece in pieces:
                await self._context.send(piece)
        finally:
            await self._context.flush()

    async def _play(self) -> Ended:
        async for event in self._context:
            if isinstance(event, AudioPacket):
                self._began = self._began or time.monotonic()
                await asyncio.to_thread(self._sink.write, event.payload, self._rate)
            elif isinstance(event, Flushed):
                await asyncio.sleep((self._began or 0.0) + event.samples / self._rate - time.monotonic())
                await self._context.end()
            elif isinstance(event, Ended):
                return event
        raise AssertionError("a context ends with `ended`")

    @property
    def _rate(self) -> int:
        assert self._context.opened is not None
        return self._context.opened.sample_rate
