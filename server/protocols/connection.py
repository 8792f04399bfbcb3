"""One client, whatever he speaks: the pump between his transport, his session and his wire format."""

import asyncio
import logging
import math
import secrets
from collections.abc import Callable, Sequence
from typing import Protocol

from starlette.websockets import WebSocketDisconnect

from firstword.protocol import CloseCode, ErrorCode, MessageError
from server import events
from server.edge import Edge
from server.host import ContextOptions, Refusal
from server.protocols.transport import Close, Frame, Transport
from server.session import Session
from server.token_bucket import TokenBucket

_log = logging.getLogger(__name__)

_FLOOD_PAUSE_S = 0.1
_MOST_BACKLOG = 256
"""Answers that may wait for the client before it is not read any further."""

_READY_WAIT_S = 10.0
"""How long a client that comes while the first worker loads is kept waiting."""


class Wire(Protocol):
    """A wire format over one session: frames in, frames out. Knows no socket."""

    def greeting(self, connection: str) -> Sequence[Frame]:
        """What a client is told first. `connection` is its id in the logs."""

    def receive(self, frame: Frame) -> None:
        """Translate a client's frame to verbs. Raises `MessageError` or `Refusal`, of which the client is told."""

    def frames(self, event: events.Event) -> Sequence[Frame]:
        """A session's event as the frames that tell it."""

    @property
    def closing(self) -> Close | None:
        """How to close the connection when every context has ended and everything was told; None: it stays."""


class Connection:
    """One client. A reader feeds the session, a writer takes from it; either one's end is the connection's end."""

    def __init__(self, transport: Transport, edge: Edge, wire: Callable[[Session], Wire]) -> None:
        self._transport = transport
        self._edge = edge
        self._id = secrets.token_hex(6)
        self._wakeup = asyncio.Event()
        self._session = Session(edge.host, self._wakeup.set, ContextOptions())
        self._wire = wire(self._session)
        self._limits = edge.settings
        self._heard_at = edge.host.clock()
        self._bucket = TokenBucket(self._limits.max_messages_per_s, edge.host.clock())
        self._taken = asyncio.Event()
        self._leaving = False
        self._sending_since = math.inf

    async def run(self) -> None:
        """To the end."""
        if self._edge.full:
            await self._transport.close(Close(CloseCode.TRY_LATER, "too many connections"))
            return
        if self._edge.draining:
            await self._transport.close(Close(CloseCode.RESTART, "the server is going away"))
            return
        self._edge.join(self)
        _log.info("connected", extra={"connection": self._id, "wire": type(self._wire).__name__})
        try:
            await self._greet()
            await self._pump()
        except (WebSocketDisconnect, OSError):
            pass
        finally:
            self._session.close()
            self._edge.leave(self)
            _log.info("disconnected", extra={"connection": self._id})

    def drain(self) -> None:
        """Speak what is there, then close."""
        self._leaving = True
        self._session.drain()
        self._wakeup.set()

    def shut_down(self) -> None:
        """End now."""
        self._leaving = True
        self._session.shut_down()
        self._wakeup.set()

    async def _greet(self) -> None:
        try:
            async with asyncio.timeout(_READY_WAIT_S):
                await self._edge.pool.known()
        except TimeoutError:
            await self._transport.close(Close(CloseCode.TRY_LATER, "no engine is ready yet"))
            raise WebSocketDisconnect(CloseCode.TRY_LATER) from None
        for frame in self._wire.greeting(self._id):
            await self._send_frame(frame)

    async def _pump(self) -> None:
        tasks = {asyncio.create_task(run()) for run in (self._read, self._write, self._watch)}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()

    # In.

    async def _read(self) -> None:
        while (frame := await self._transport.receive()) is not None:
            self._heard_at = self._edge.host.clock()
            await self._keep_rate()
            self._receive(frame)
            await asyncio.sleep(0)  # a message is some milliseconds' work at most; other clients come between

    async def _keep_rate(self) -> None:
        """A flood, or a client that does not take its answers, is read slowly: its own socket makes it wait."""
        if not self._bucket.take(self._edge.host.clock()):
            await asyncio.sleep(_FLOOD_PAUSE_S)
        while self._session.backlog > _MOST_BACKLOG:
            self._taken.clear()
            await self._taken.wait()

    def _receive(self, frame: Frame) -> None:
        try:
            self._check_size(frame)
            self._wire.receive(frame)
        except MessageError as error:
            self._session.report(events.Refused(error.code, str(error)))
        except Refusal as refusal:
            self._session.report(refusal.told(None))
        self._wakeup.set()

    def _check_size(self, frame: Frame) -> None:
        limit = self._limits.max_message_bytes
        if len(frame) > limit or (isinstance(frame, str) and len(frame.encode()) > limit):
            raise MessageError(
                ErrorCode.MESSAGE_TOO_LARGE, f"A message has at most {limit} bytes; send less at a time."
            )

    # Out.

    async def _write(self) -> None:
        while (close := await self._write_all()) is None:
            await self._wait()
        await self._transport.close(close)

    async def _write_all(self) -> Close | None:
        """Send what may be sent now. Returns how to close the connection if there is nothing left to wait for."""
        while (event := self._session.take()) is not None:
            await self._send(event)
        if self._session.contexts:
            return None
        if self._wire.closing:
            return self._wire.closing
        if self._leaving:
            return Close(CloseCode.RESTART, "the server is going away")
        if self._edge.host.clock() - self._heard_at > self._limits.idle_s:
            return Close(CloseCode.IDLE, "idle")
        return None

    async def _send(self, event: events.Event) -> None:
        self._count(event)
        frames = [event.frame] if isinstance(event, events.Reply) else self._wire.frames(event)
        for frame in frames:
            await self._send_frame(frame)
        self._taken.set()

    async def _send_frame(self, frame: Frame) -> None:
        self._sending_since = self._edge.host.clock()
        await self._transport.send(frame)
        self._sending_since = math.inf

    async def _watch(self) -> None:
        """Cut a client off that does not take its audio. One look now and then is cheaper than a timer a packet."""
        stall_s = self._limits.stall_s
        while self._edge.host.clock() - self._sending_since < stall_s:  # noqa: ASYNC110
            await asyncio.sleep(stall_s / 4)
        _log.warning("stalled", extra={"connection": self._id})
        self._transport.cut()

    async def _wait(self) -> None:
        """Until the session has something, or it is time to look again."""
        due_at = self._session.due_at()
        now = self._edge.host.clock()
        timeout = self._limits.idle_s / 4 if due_at is None else max(0.0, due_at - now)
        self._wakeup.clear()
        timer = asyncio.get_running_loop().call_later(timeout, self._wakeup.set)
        await self._wakeup.wait()
        timer.cancel()
        self._session.settle()

    def _count(self, event: events.Event) -> None:
        metrics = self._edge.metrics
        if isinstance(event, events.Ended):
            metrics.contexts.labels(event.reason).inc()
            if event.ttfa_s is not None:
                metrics.ttfa.observe(event.ttfa_s)
        elif isinstance(event, events.Refused):
            metrics.refusals.labels(event.code).inc()
