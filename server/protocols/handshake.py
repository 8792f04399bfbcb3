"""What the endpoints of other services' protocols share: what comes before a socket is accepted."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.websockets import WebSocket

from server.auth import Denied
from server.edge import Edge
from server.host import Refusal
from server.protocols.connection import Connection, Wire
from server.protocols.transport import WebSocketTransport
from server.session import Session

MESSAGE_S = 0.1
"""Audio in one message: few enough messages for clients that decode each from JSON."""

FLOOR_S = 0.1
"""Silence for text in which there is nothing to say: the frameworks take no audio for a failure and ask again."""

_READY_WAIT_S = 8.0
"""Less than clients wait for the answer to a handshake."""
_LONGEST_TAG = 35


def edge_of(connection: HTTPConnection) -> Edge:
    """The server's shared parts."""
    edge: Edge = connection.app.state.edge
    return edge


async def known(edge: Edge) -> None:
    """Wait for an engine: there are no voices before. Raises `Denied`."""
    try:
        async with asyncio.timeout(_READY_WAIT_S):
            await edge.pool.known()
    except TimeoutError:
        raise Denied(503, "No engine is ready yet; try again soon.") from None


@asynccontextmanager
async def denying(websocket: WebSocket, body: Callable[[str, str], Mapping[str, object]]) -> AsyncIterator[None]:
    """A handshake: what is raised in it becomes an HTTP response, whose JSON `body` makes of a code and a sentence."""
    try:
        yield
    except Denied as denied:
        response = JSONResponse(body("denied", str(denied)), denied.status)
        await websocket.send_denial_response(response)
    except Refusal as refusal:
        await websocket.send_denial_response(JSONResponse(body(refusal.code, str(refusal)), 400))


async def serve(
    websocket: WebSocket, edge: Edge, wire: Callable[[Session], Wire], subprotocol: str | None = None
) -> None:
    """Accept it and speak until its end."""
    await websocket.accept(subprotocol=subprotocol)
    await Connection(WebSocketTransport(websocket), edge, wire).run()


def language_tag(value: str | None) -> str | None:
    """A language, if it is one."""
    return value if value and len(value) <= _LONGEST_TAG else None
