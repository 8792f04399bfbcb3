"""The native protocol of `firstword.protocol` over one WebSocket: a translation of `server.session`, and its pump."""

import asyncio
import logging
import math
import secrets
from functools import singledispatch

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from firstword import protocol as wire
from firstword.protocol import CloseCode, ErrorCode, MessageError
from server import events
from server.audio.encoders import CODECS
from server.audio.format import AudioFormat
from server.edge import VERSION, Edge
from server.host import ContextOptions, Refusal
from server.listener import ABORT
from server.session import Session
from server.token_bucket import TokenBucket
from streaming.engine import Pace, SpeechParams
from streaming.text.lexicon import Entry, Lexicon, LexiconError

_log = logging.getLogger(__name__)

_CLOSE_S = 2.0
"""How long a close frame may wait for a client that does not read."""

_FLOOD_PAUSE_S = 0.1
_MOST_BACKLOG = 256
"""Answers that may wait for the client before it is not read any further."""

_READY_WAIT_S = 10.0
"""How long a client that comes while the first worker loads is kept waiting."""


class NativeConnection:
    """One client. A reader feeds the session, a writer takes from it; either one's end is the connection's end."""

    def __init__(self, websocket: WebSocket, edge: Edge) -> None:
        self._websocket = websocket
        self._edge = edge
        self._id = secrets.token_hex(6)
        self._wakeup = asyncio.Event()
        self._session = Session(edge.host, self._wakeup.set, ContextOptions())
        self._limits = edge.settings
        self._heard_at = edge.host.clock()
        self._bucket = TokenBucket(self._limits.max_messages_per_s, edge.host.clock())
        self._taken = asyncio.Event()
        self._leaving = False
        self._sending_since = math.inf

    async def run(self) -> None:
        """From the accepted socket to its end."""
        if self._edge.full:
            await self._close(CloseCode.TRY_LATER, "too many connections")
            return
        self._edge.join(self)
        _log.info("connected", extra={"connection": self._id})
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
            await self._close(CloseCode.TRY_LATER, "no engine is ready yet")
            raise WebSocketDisconnect(CloseCode.TRY_LATER) from None
        await self._websocket.send_text(wire.serialize(self._hello()))

    def _hello(self) -> wire.Hello:
        settings = self._limits
        return wire.Hello(
            protocol=wire.VERSION,
            server=f"firstword/{VERSION}",
            connection=self._id,
            voice=self._edge.voices.default,
            codecs=tuple(CODECS),
            limits=wire.Limits(
                message_bytes=settings.max_message_bytes,
                contexts=settings.max_contexts,
                context_chars=settings.max_context_chars,
                lead_ms=round(settings.max_lead_s * 1000),
                idle_s=settings.idle_s,
            ),
        )

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
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            self._heard_at = self._edge.host.clock()
            await self._keep_rate()
            self._receive(message.get("text"))
            await asyncio.sleep(0)  # a message is some milliseconds' work at most; other clients come between

    async def _keep_rate(self) -> None:
        """A flood, or a client that does not take its answers, is read slowly: its own socket makes it wait."""
        if not self._bucket.take(self._edge.host.clock()):
            await asyncio.sleep(_FLOOD_PAUSE_S)
        while self._session.backlog > _MOST_BACKLOG:
            self._taken.clear()
            await self._taken.wait()

    def _receive(self, text: str | None) -> None:
        try:
            self._obey(self._parsed(text))
        except MessageError as error:
            self._session.report(events.Refused(error.code, str(error)))
        except Refusal as refusal:
            self._session.report(refusal.told(None))

    def _parsed(self, text: str | None) -> wire.ClientMessage:
        limit = self._limits.max_message_bytes
        if text is None:
            raise MessageError(ErrorCode.BAD_MESSAGE, "Binary messages go from the server to the client only.")
        if len(text) > limit or len(text.encode()) > limit:
            raise MessageError(
                ErrorCode.MESSAGE_TOO_LARGE, f"A message has at most {limit} bytes; send less at a time."
            )
        return wire.parse_client(text)

    def _obey(self, message: wire.ClientMessage) -> None:
        session = self._session
        match message:
            case wire.Text(context=name, text=text):
                session.text(name, text)
            case wire.Open(context=name):
                session.open(name, options_of(message))
            case wire.Flush(context=name):
                session.flush(name)
            case wire.End(context=name):
                session.end(name)
            case wire.Cancel(context=name, played_ms=played_ms):
                session.cancel(name, None if played_ms is None else played_ms / 1000)
            case wire.Credit(context=name, buffered_ms=buffered_ms):
                session.credit(name, buffered_ms / 1000)

    # Out.

    async def _write(self) -> None:
        while True:
            event = self._session.take()
            if event is not None:
                await self._send(event)
            elif self._leaving and not self._session.contexts:
                await self._close(CloseCode.RESTART, "the server is going away")
                return
            elif self._idle():
                await self._close(CloseCode.IDLE, "idle")
                return
            else:
                await self._wait()

    async def _send(self, event: events.Event) -> None:
        self._count(event)
        self._sending_since = self._edge.host.clock()
        if isinstance(event, events.Audio):
            await self._websocket.send_bytes(wire.serialize_packet(packet(event)))
        else:
            await self._websocket.send_text(wire.serialize(translate(event)))
        self._sending_since = math.inf
        self._taken.set()

    async def _watch(self) -> None:
        """Cut a client off that does not take its audio. One look now and then is cheaper than a timer a packet."""
        stall_s = self._limits.stall_s
        while self._edge.host.clock() - self._sending_since < stall_s:  # noqa: ASYNC110
            await asyncio.sleep(stall_s / 4)
        _log.warning("stalled", extra={"connection": self._id})
        self._cut()

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

    def _idle(self) -> bool:
        quiet_s = self._edge.host.clock() - self._heard_at
        return not self._session.contexts and quiet_s > self._limits.idle_s

    def _count(self, event: events.Event) -> None:
        metrics = self._edge.metrics
        if isinstance(event, events.Ended):
            metrics.contexts.labels(event.reason).inc()
            if event.ttfa_s is not None:
                metrics.ttfa.observe(event.ttfa_s)
        elif isinstance(event, events.Refused):
            metrics.refusals.labels(event.code).inc()

    def _cut(self) -> None:
        """A close frame would wait behind the audio that the client does not take."""
        self._websocket.scope["extensions"][ABORT]["call"]()

    async def _close(self, code: CloseCode, reason: str) -> None:
        if self._websocket.application_state is not WebSocketState.CONNECTED:
            return
        try:
            async with asyncio.timeout(_CLOSE_S):
                await self._websocket.close(code, reason)
        except TimeoutError:
            self._cut()


def options_of(message: wire.Open) -> ContextOptions:
    """How a context that is opened like this is to sound. Raises `MessageError`."""
    codec = CODECS.get(message.codec)
    default_rate = codec.default_rate if codec else 0
    return ContextOptions(
        voice=message.voice,
        format=AudioFormat(message.codec, message.sample_rate or default_rate),
        language=message.language,
        emoji=message.emoji,
        urls=message.urls,
        lexicon=_lexicon(message.lexicon),
        params=SpeechParams(speed=message.speed, seed=message.seed),
        pace=Pace(message.pace),
        max_buffer_s=message.max_buffer_ms / 1000,
        lead_in_s=message.lead_in_ms / 1000,
        tail_s=message.tail_ms / 1000,
    )


def _lexicon(entries: tuple[wire.LexiconEntry, ...]) -> Lexicon:
    try:
        return Lexicon.of(Entry(entry.word, entry.say, entry.language, exact=entry.exact) for entry in entries)
    except LexiconError as error:
        raise MessageError(ErrorCode.BAD_MESSAGE, f"`open.lexicon`: {error}.") from None


def packet(audio: events.Audio) -> wire.AudioPacket:
    """A session's packet as the protocol's."""
    return wire.AudioPacket(
        number=audio.number,
        sequence=audio.sequence,
        first_sample=audio.first_sample,
        payload=audio.data,
        first=audio.first,
        last=audio.last,
    )


def _skipped(skipped: tuple[events.Skipped, ...]) -> tuple[wire.Skipped, ...]:
    return tuple(wire.Skipped(start=skip.start, end=skip.end, reason=skip.reason) for skip in skipped)


@singledispatch
def translate(event: events.Event) -> wire.ServerMessage:
    """A session's event as the message that tells it."""
    raise TypeError(type(event))


@translate.register
def _(event: events.Opened) -> wire.ServerMessage:
    return wire.Opened(
        context=event.context,
        number=event.number,
        voice=event.voice.name,
        codec=event.format.codec,
        sample_rate=event.format.sample_rate,
        channels=1,
        frame_samples=event.frame_samples,
        pre_skip=event.pre_skip,
    )


@translate.register
def _(event: events.SegmentStarted) -> wire.ServerMessage:
    return wire.Segment(
        context=event.context,
        index=event.index,
        text=event.text,
        start=event.start,
        end=event.end,
        first_sample=event.first_sample,
        skipped=_skipped(event.skipped),
    )


@translate.register
def _(event: events.SegmentTimed) -> wire.ServerMessage:
    words = tuple(
        wire.Word(text=w.text, start=w.start, end=w.end, first_sample=w.first_sample, samples=w.samples)
        for w in event.words
    )
    return wire.Timing(context=event.context, index=event.index, estimated=True, words=words)


@translate.register
def _(event: events.Flushed) -> wire.ServerMessage:
    return wire.Flushed(context=event.context, samples=event.samples)


@translate.register
def _(event: events.Ended) -> wire.ServerMessage:
    return wire.Ended(
        context=event.context,
        reason=event.reason,
        samples=event.samples,
        spoken=event.spoken,
        spoken_chars=len(event.spoken),
        ttfa_ms=None if event.ttfa_s is None else round(event.ttfa_s * 1000, 1),
        skipped=_skipped(event.skipped),
    )


@translate.register
def _(event: events.Refused) -> wire.ServerMessage:
    return wire.Error(
        code=event.code,
        message=event.message,
        retryable=event.retryable,
        retry_after_ms=None if event.retry_after_s is None else round(event.retry_after_s * 1000),
        context=event.context,
    )
