"""What carries a client's frames: a WebSocket here; others bring their own."""

import asyncio
from dataclasses import dataclass
from typing import Protocol

from starlette.websockets import WebSocket, WebSocketState

from server.listener import ABORT

_CLOSE_S = 2.0
"""How long a close frame may wait for a client that does not read."""

Frame = str | bytes
"""A text frame or a binary frame."""


@dataclass(frozen=True, slots=True)
class Close:
    """How a connection is to be closed (RFC 6455, section 7.4)."""

    code: int
    reason: str = ""


class Transport(Protocol):
    """The way to one client and back. Every method may raise `OSError` or `WebSocketDisconnect`: he is gone."""

    async def receive(self) -> Frame | None:
        """What he says next; None: he is gone."""

    async def send(self, frame: Frame) -> None:
        """Returns when the next frame may follow."""

    async def close(self, close: Close) -> None:
        """Nothing follows. A second time, and after he is gone, it does nothing."""

    def cut(self) -> None:
        """End it though what was sent has not been taken."""


class WebSocketTransport:
    """An accepted WebSocket."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket

    async def receive(self) -> Frame | None:
        """A frame as it is."""
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        text: str | None = message.get("text")
        if text is not None:
            return text
        data: bytes = message["bytes"]
        return data

    async def send(self, frame: Frame) -> None:
        """A frame as it is."""
        if isinstance(frame, bytes):
            await self._websocket.send_bytes(frame)
        else:
            await self._websocket.send_text(frame)

    async def close(self, close: Close) -> None:
        """With a close frame, if the client takes it soon."""
        if self._websocket.application_state is not WebSocketState.CONNECTED:
            return
        try:
            async with asyncio.timeout(_CLOSE_S):
                await self._websocket.close(close.code, close.reason)
        except TimeoutError:
            self.cut()

    def cut(self) -> None:
        """A close frame would wait behind the audio that the client does not take."""
        self._websocket.scope["extensions"][ABORT]["call"]()
