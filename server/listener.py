"""uvicorn, with buffers small enough to feel a slow client, patience that ends, and signals that drain."""

import asyncio
import socket
from asyncio.transports import BaseTransport, Transport
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from server.settings import Settings

_SEND_BUFFER = 16_384
"""About 4 s of Opus: the pacing must notice a client that does not read."""

_REQUEST_S = 10.0
"""How long a connection may be open before its request is there."""


ABORT = "firstword.abort"
"""ASGI extension: a callable that ends the connection though its buffers are full."""


class SmallBufferWebSocket(WebSocketsSansIOProtocol):
    """Blocks the sender as soon as the kernel's own small buffer is full, and can be cut off then."""

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        cast("Transport", transport).set_write_buffer_limits(high=_SEND_BUFFER)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            self.scope["extensions"][ABORT] = {"call": self.transport.abort}


class ImpatientHTTP(H11Protocol):
    """Closes connections that ask for nothing."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._patience = self.loop.call_later(_REQUEST_S, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._patience.cancel()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        if self.cycle:
            self.cycle.scope.setdefault("extensions", {})[ABORT] = {"call": self.transport.abort}

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._patience.cancel()
        super().handle_websocket_upgrade(event)

    def _give_up(self) -> None:
        if self.cycle is None:
            self.transport.close()


class Listener(uvicorn.Server):
    """A uvicorn server that leaves signals to its owner: uvicorn's own handling cuts WebSockets off at once."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop_accepting(self) -> None:
        """New connections are refused from now on; those there are go on."""
        for server in self.servers:
            server.close()


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. Its small send buffer is handed down to every connection. Raises `OSError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise OSError(error.errno, error.strerror, f"{host} port {port}") from None
    sock.set_inheritable(False)
    return sock


def create_listener(app: Starlette, settings: Settings) -> Listener:
    """A server for `app`, not started."""
    config = uvicorn.Config(
        app,
        http=ImpatientHTTP,
        ws=SmallBufferWebSocket,
        ws_max_size=16 * settings.max_message_bytes,
        ws_ping_interval=settings.ping_s,
        ws_ping_timeout=settings.ping_s,
        ws_per_message_deflate=False,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    return Listener(config)
