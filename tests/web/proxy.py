"""A network that a test controls, between the page and the server: slow, broken, or with TLS."""

import asyncio
import ssl
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

_PIECE = 512


class Proxy:
    """Passes bytes between a free port and a server. The event loop that runs it is a thread of its own."""

    def __init__(self, target: str, tls: ssl.SSLContext | None = None) -> None:
        self._target = target
        self._tls = tls
        self._bytes_per_s = float("inf")
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.url = self._call(self._start())

    def lead_to(self, target: str) -> None:
        """New connections go to this server."""
        self._target = target

    def slow_down(self, bytes_per_s: float) -> None:
        """What the server sends takes its time."""
        self._bytes_per_s = bytes_per_s

    def drop(self) -> None:
        """Break all connections."""
        self._call(self._drop())

    def close(self) -> None:
        """The end of it."""
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, work: Coroutine[Any, Any, str]) -> str:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    async def _start(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        port = self._server.sockets[0].getsockname()[1]
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{port}"

    async def _drop(self) -> str:
        for writer in self._writers:
            writer.transport.abort()
        return ""

    async def _stop(self) -> str:
        self._server.close()
        await self._drop()
        await asyncio.sleep(0)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return ""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = urlsplit(self._target)
        try:
            up_reader, up_writer = await asyncio.open_connection(address.hostname, address.port)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, up_writer}
        self._writers |= pair
        try:
            await asyncio.gather(self._pass(reader, up_writer), self._pass(up_reader, writer, slow=True))
        finally:
            self._writers -= pair
            for one in pair:
                one.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, slow: bool = False) -> None:
        try:
            while data := await reader.read(_PIECE):
                writer.write(data)
                await writer.drain()
                if slow:
                    await asyncio.sleep(len(data) / self._bytes_per_s)
            writer.close()
        except OSError:
            pass


@contextmanager
def proxy(target: str, tls: ssl.SSLContext | None = None) -> Iterator[Proxy]:
    """One that ends with the block."""
    running = Proxy(target, tls)
    try:
        yield running
    finally:
        running.close()
