"""The asyncio client: one connection, many contexts.

```python
async with connect("ws://127.0.0.1:8000") as tts:
    context = tts.context(voice="hibari")
    await context.send("Hello ")
    await context.send("there.")
    await context.end()
    async for event in context:
        ...
```
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as connect_websocket
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.typing import Subprotocol

from firstword import protocol
from firstword.protocol import AudioPacket, Ended, Error, Flushed, Hello, Opened, Segment, Timing

ContextEvent = Opened | Segment | Timing | Flushed | Ended | Error | AudioPacket

_NAMED = (Opened, Segment, Timing, Flushed, Ended, Error)


class FirstwordError(Exception):
    """Root of this client's errors."""


class ConnectError(FirstwordError):
    """The server can't be reached, or does not let us in."""


class ServerGoneError(FirstwordError):
    """The connection ended before the context did. `code` and `reason` are the WebSocket's."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"The server closed the connection ({code}{': ' + reason if reason else ''}).")
        self.code = code
        self.reason = reason


class SpeechError(FirstwordError):
    """The server said no. `error` is its message."""

    def __init__(self, error: Error) -> None:
        super().__init__(f"{error.message} [{error.code}]")
        self.error = error


class Context:
    """One reply being spoken. Iterate over it for its events; `Ended` is the last."""

    def __init__(self, client: "Client", opening: protocol.Open) -> None:
        self.name = opening.context
        self.opened: Opened | None = None
        self._client = client
        self._opening: protocol.Open | None = opening
        self._events: asyncio.Queue[ContextEvent | FirstwordError] = asyncio.Queue()
        self._done: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        self._cancelled = False

    async def open(self) -> None:
        """Make the context now. Otherwise the first text does."""
        opening, self._opening = self._opening, None
        if opening is not None:
            await self._client.send(opening)

    async def send(self, text: str) -> None:
        """Append text, cut anywhere."""
        await self.open()
        await self._client.send(protocol.Text(context=self.name, text=text))

    async def flush(self) -> None:
        """Have what was sent spoken without waiting for more."""
        await self._client.send(protocol.Flush(context=self.name))

    async def end(self) -> None:
        """Say that no more text comes."""
        await self.open()
        await self._client.send(protocol.End(context=self.name))

    async def cancel(self, played_ms: float | None = None) -> Ended:
        """Stop at once; the answer says what was heard. Events that were on their way are dropped."""
        if self._opening is not None:
            self._opening = None
            self.deliver(Ended(context=self.name, reason="cancelled", samples=0, spoken="", spoken_chars=0))
        elif not self._done.done():
            self._cancelled = True
            self._events = asyncio.Queue()
            await self._client.send(protocol.Cancel(context=self.name, played_ms=played_ms))
        return await asyncio.shield(self._done)

    async def credit(self, buffered_ms: float) -> None:
        """Tell the server how much audio waits here unplayed."""
        await self._client.send(protocol.Credit(context=self.name, buffered_ms=buffered_ms))

    async def __aiter__(self) -> AsyncIterator[ContextEvent]:
        """Events in order until `Ended`.

        Raises `ServerGoneError` if the connection ends first, `SpeechError` if the server would not open the context.
        """
        while True:
            event = await self._events.get()
            if isinstance(event, FirstwordError):
                raise event
            yield event
            if isinstance(event, Ended):
                return

    def deliver(self, event: ContextEvent | FirstwordError) -> None:
        """For the client: an event of this context, or why there are no more."""
        if isinstance(event, Opened):
            self.opened = event
        if isinstance(event, Ended):
            self._done.set_result(event)
        elif isinstance(event, FirstwordError):
            self._done.set_exception(event)
            self._done.exception()  # whoever iterates hears of it; nobody has to wait for `cancel`
        elif self._cancelled:
            return
        self._events.put_nowait(event)


class Client:
    """A connection to a server. Made by `connect`."""

    def __init__(self, websocket: ClientConnection, hello: Hello) -> None:
        self.hello = hello
        self._websocket = websocket
        self._contexts: dict[str, Context] = {}
        self._numbers: dict[int, Context] = {}
        self._names = itertools.count(1)

    def context(
        self,
        name: str | None = None,
        *,
        voice: str | None = None,
        codec: str = "opus",
        sample_rate: int | None = None,
        language: str | None = None,
        speed: float = 1.0,
        seed: int = 0,
        pace: str = "realtime",
        max_buffer_ms: int = 300,
        lead_in_ms: int = 0,
        tail_ms: int = 0,
        emoji: str = "silent",
        urls: str = "host",
        lexicon: tuple[protocol.LexiconEntry, ...] = (),
        params: Mapping[str, protocol.ParamValue] | None = None,
    ) -> Context:
        """A new context; `protocol.Open` says what the arguments mean. Nothing is sent yet."""
        name = name or f"c{next(self._names)}"
        if name in self._contexts:
            raise ValueError(f"context {name!r} has not ended yet")
        opening = protocol.Open(
            context=name,
            voice=voice,
            codec=codec,
            sample_rate=sample_rate,
            language=language,
            speed=speed,
            seed=seed,
            pace=pace,
            max_buffer_ms=max_buffer_ms,
            lead_in_ms=lead_in_ms,
            tail_ms=tail_ms,
            emoji=emoji,
            urls=urls,
            lexicon=lexicon,
            params=params,
        )
        context = self._contexts[name] = Context(self, opening)
        return context

    async def send(self, message: protocol.ClientMessage) -> None:
        """Send one message. Raises `ServerGoneError`."""
        try:
            await self._websocket.send(protocol.serialize(message))
        except ConnectionClosed as closed:
            raise _gone(closed) from None

    async def receive(self) -> None:
        """Hand frames to their contexts until the connection ends. `connect` runs this."""
        try:
            async for frame in self._websocket:
                self._dispatch(frame)
        except ConnectionClosed:
            pass
        gone = ServerGoneError(self._websocket.close_code or 1006, self._websocket.close_reason or "")
        for context in self._contexts.values():
            context.deliver(gone)

    def _dispatch(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            packet = protocol.parse_packet(frame)
            if context := self._numbers.get(packet.number):
                context.deliver(packet)
            return
        try:
            message = protocol.parse_server(frame)
        except protocol.MessageError as error:
            if error.code is protocol.ErrorCode.UNKNOWN_TYPE:
                return
            raise
        if isinstance(message, _NAMED):
            self._deliver(message)

    def _deliver(self, message: ContextEvent) -> None:
        assert not isinstance(message, AudioPacket)
        context = self._contexts.get(message.context or "")
        if context is None:
            return
        if isinstance(message, Opened):
            self._numbers[message.number] = context
        if isinstance(message, Ended):
            self._forget(context)
        if isinstance(message, Error) and context.opened is None:
            self._forget(context)
            context.deliver(SpeechError(message))
        else:
            context.deliver(message)

    def _forget(self, context: Context) -> None:
        del self._contexts[context.name]
        if context.opened is not None:
            self._numbers.pop(context.opened.number, None)


@asynccontextmanager
async def connect(url: str, *, key: str | None = None) -> AsyncIterator[Client]:
    """Connect to a server: `ws://HOST:PORT`, or `wss://` behind TLS; the path is added where it is missing.

    Raises `ConnectError` with a sentence if it can't be reached or refuses us.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    subprotocols = [Subprotocol(protocol.SUBPROTOCOL)]
    try:
        websocket = await connect_websocket(
            _endpoint(url), additional_headers=headers, subprotocols=subprotocols, compression=None, max_size=2**20
        )
    except InvalidStatus as refused:
        body = (refused.response.body or b"").decode(errors="replace").strip()
        raise ConnectError(f"{url} answered {refused.response.status_code}: {body}") from None
    except (OSError, InvalidURI, InvalidHandshake, TimeoutError) as error:
        raise ConnectError(f"There is no server at {url}: {error}.") from None
    async with websocket:
        client = Client(websocket, await _hello(websocket))
        receiving = asyncio.create_task(client.receive())
        try:
            yield client
        finally:
            await websocket.close()
            await receiving


def _endpoint(url: str) -> str:
    parts = urlsplit(url.replace("http", "ws", 1) if url.startswith("http") else url)
    return urlunsplit(parts._replace(path=parts.path if parts.path.strip("/") else "/v1/stream"))


async def _hello(websocket: ClientConnection) -> Hello:
    try:
        message = protocol.parse_server(await websocket.recv())
    except ConnectionClosed as closed:
        raise _gone(closed) from None
    if not isinstance(message, Hello) or message.protocol != protocol.VERSION:
        raise ConnectError(f"The server does not speak version {protocol.VERSION} of the protocol.")
    return message


def _gone(closed: ConnectionClosed) -> ServerGoneError:
    frame = closed.rcvd
    return ServerGoneError(frame.code if frame else 1006, frame.reason if frame else "connection lost")
