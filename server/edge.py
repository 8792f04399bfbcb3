"""What all connections of one server share, and its life from start to drained."""

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Protocol

from server.audio.pool import EncoderPool
from server.auth import Gate
from server.host import Host
from server.lexicon_file import LexiconFile
from server.mailbox import Mailbox
from server.metrics import Metrics
from server.settings import Settings
from server.voices import VoiceRegistry
from server.worker_link import WorkerProcess
from server.worker_pool import WorkerPool
from streaming.engine import EngineSpec

VERSION = "0.1.0"

_LAG_PERIOD_S = 0.05

_log = logging.getLogger(__name__)


class Connection(Protocol):
    """A client's connection, as the edge sees it."""

    def drain(self) -> None:
        """Finish what is being spoken, take nothing new, then close."""

    def shut_down(self) -> None:
        """End what is being spoken now, then close."""


class Edge:
    """Owns the workers, the encoders and the list of connections. Made on the event loop."""

    def __init__(self, settings: Settings, engines: Sequence[EngineSpec]) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.gate = Gate.of(settings)
        self.pool = WorkerPool(engines, self.metrics, time.monotonic, settings.pool_limits)
        self.voices = VoiceRegistry(lambda: self.pool.info, settings.voice_alias_map, strict=settings.strict_voices)
        self.lexicon = LexiconFile(settings.lexicon)
        self.draining = False
        self._mailbox = Mailbox(asyncio.get_running_loop())
        self._encoders = EncoderPool(settings.encoder_threads, self._mailbox.post)
        self._connections: set[Connection] = set()
        self._empty = asyncio.Event()
        self._empty.set()
        self.host = Host(
            clock=time.monotonic,
            encoders=self._encoders,
            speech=self.pool,
            voices=self.voices,
            limits=settings.session_limits,
            lexicon=lambda: self.lexicon.lexicon,
        )

    @property
    def full(self) -> bool:
        """One more connection would be too many."""
        return len(self._connections) >= self.settings.max_connections

    def start(self, started: Sequence[WorkerProcess]) -> None:
        """Start the workers, and watch how late the loop is."""
        self.pool.start(started)
        self._watching = asyncio.create_task(self._watch_loop())

    async def stop(self) -> None:
        """End the workers and the encoders."""
        self._watching.cancel()
        await self.pool.stop()
        self._encoders.close()
        self._mailbox.close()

    def join(self, connection: Connection) -> None:
        """A client connected."""
        self._connections.add(connection)
        self._empty.clear()
        self.metrics.connections.inc()

    def leave(self, connection: Connection) -> None:
        """A client is gone."""
        self._connections.discard(connection)
        self.metrics.connections.dec()
        if not self._connections:
            self._empty.set()

    async def drain(self) -> None:
        """Let every connection finish what it is speaking, for as long as the settings allow; then end them."""
        self.draining = True
        _log.info("draining", extra={"connections": len(self._connections)})
        for connection in list(self._connections):
            connection.drain()
        if not await self._emptied(self.settings.drain_s):
            for connection in list(self._connections):
                connection.shut_down()
            await self._emptied(2.0)

    async def _watch_loop(self) -> None:
        """Lag is what every stream feels at once, so it is the first thing to look at."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _LAG_PERIOD_S
            await asyncio.sleep(_LAG_PERIOD_S)
            self.metrics.loop_lag.observe(max(0.0, loop.time() - due))

    async def _emptied(self, timeout_s: float) -> bool:
        try:
            async with asyncio.timeout(timeout_s):
                await self._empty.wait()
        except TimeoutError:
            return False
        return True
