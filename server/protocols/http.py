"""One text spoken as the body of one HTTP response, as fast as it is made: for every protocol that asks so."""

import asyncio
import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import wraps

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from firstword.protocol import EndReason, ErrorCode, MessageError
from server import events
from server.auth import Denied
from server.edge import Edge
from server.host import ContextOptions, Refusal
from server.listener import ABORT
from server.protocols.connection import Connection
from server.protocols.fields import Fields
from server.protocols.handshake import edge_of, known
from server.protocols.transport import Close, Frame
from server.session import Session
from streaming.engine import Pace

_log = logging.getLogger(__name__)

Endpoint = Callable[[Request, Edge], Awaitable[Response]]

_CONTEXT = "speech"

_STATUS: Mapping[str, int] = {
    ErrorCode.OVERLOADED: 503,
    ErrorCode.SHUTTING_DOWN: 503,
    ErrorCode.ENGINE_RESTARTED: 503,
    ErrorCode.ENGINE_FAILED: 500,
    ErrorCode.MESSAGE_TOO_LARGE: 413,
}
"""Of what is not the client's mistake, which is a 400."""

_DENIALS = {401: "invalid_api_key", 403: "forbidden", 404: "not_found", 503: ErrorCode.OVERLOADED}

_RETRY_AFTER_S = 1.0

_PIECE_S = 0.5
"""Audio in one write, where so much is there."""

_BODY_S = 10.0
"""How long a request may take to arrive."""


class Body(ABC):
    """How a protocol tells of speech in a response: the audio as it is, unless it says otherwise."""

    def __init__(self, media_type: str) -> None:
        self.media_type = media_type

    def audio(self, audio: events.Audio) -> bytes:
        """A piece of the audio."""
        return audio.data

    def ended(self, ended: events.Ended) -> bytes:  # noqa: ARG002
        """What follows all of it."""
        return b""

    def failed(self, refused: events.Refused) -> bytes:  # noqa: ARG002
        """What follows the last piece that there will be, before the response is cut."""
        return b""

    @abstractmethod
    def error(self, status: int, code: str, message: str) -> Mapping[str, object]:
        """The JSON that comes instead of audio."""


def answering(errors: Body) -> Callable[[Endpoint], Callable[[Request], Awaitable[Response]]]:
    """An endpoint for those with a key, once there is an engine. What it raises becomes an error of `errors`."""

    def guarded(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        @wraps(endpoint)
        async def answer(request: Request) -> Response:
            edge = edge_of(request)
            try:
                edge.gate.check(request.headers, (), request.query_params)
                await known(edge)
                return await endpoint(request, edge)
            except Denied as denied:
                return _error_response(errors, denied.status, _DENIALS.get(denied.status, "denied"), str(denied))
            except (MessageError, Refusal) as error:
                return _error_response(errors, _status(error.code), error.code, str(error))
            except ClientDisconnect:
                return Response(status_code=400)

        return answer

    return guarded


async def read_fields(request: Request, most_bytes: int) -> Fields:
    """The JSON object that a request brings. Raises `MessageError`."""
    data = bytearray()
    try:
        async with asyncio.timeout(_BODY_S):
            async for part in request.stream():
                data += part
                if len(data) > most_bytes:
                    raise MessageError(ErrorCode.MESSAGE_TOO_LARGE, f"A request has at most {most_bytes} bytes.")
    except TimeoutError:
        raise MessageError(ErrorCode.BAD_MESSAGE, "The rest of the request did not come.") from None
    return Fields.parse(bytes(data))


def as_body(options: ContextOptions) -> ContextOptions:
    """As quickly as it is made, in large pieces."""
    return replace(options, pace=Pace.FAST, message_s=_PIECE_S)


def spoken_text(fields: Fields, name: str) -> str:
    """What a request wants to be spoken. Raises `MessageError`."""
    text = fields.text(name) or ""
    if not text.strip():
        raise MessageError(ErrorCode.BAD_MESSAGE, f"`{name}` must be the text to speak.")
    return text


def _status(code: str) -> int:
    return _STATUS.get(code, 400)


def _error_response(errors: Body, status: int, code: str, message: str, retry_after_s: float | None = None) -> Response:
    headers = {"Retry-After": str(math.ceil(retry_after_s or _RETRY_AFTER_S))} if status == 503 else None
    return JSONResponse(errors.error(status, code, message), status, headers)


class SpeechResponse(Response):
    """Starts with the first sound, so until then a failure is an error with a status.

    A later one cuts the response off before its end: a client that got all of it knows that it did.
    """

    def __init__(self, edge: Edge, text: str, options: ContextOptions, body: Body) -> None:
        super().__init__()
        self._edge = edge
        self._text = text
        self._options = options
        self._body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Until it is spoken or the client is gone."""
        reply = _Reply(self._body, scope, receive, send)
        await Connection(reply, self._edge, lambda s: _Order(s, reply, self._text, self._options)).run()


class _Reply:
    """The transport: a response, which has one beginning and one end."""

    def __init__(self, body: Body, scope: Scope, receive: Receive, send: Send) -> None:
        self.body = body
        self.headers = {"Content-Type": body.media_type, "Cache-Control": "no-store"}
        self.started = False
        self.failure: events.Refused | None = None
        self._scope = scope
        self._receive = receive
        self._send = send

    async def receive(self) -> Frame | None:
        """The client has said everything, so this returns when he is gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        return None

    async def send(self, frame: Frame) -> None:
        """A piece of the body; the first one takes the head along."""
        assert isinstance(frame, bytes)
        if not self.started:
            self.started = True
            headers = [(name.lower().encode(), value.encode()) for name, value in self.headers.items()]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": frame, "more_body": True})

    async def close(self, close: Close) -> None:
        """The end, if it is one. A body that is left without looks broken to the client, which it is."""
        failure = self.failure
        if failure is None and close.code != _WHOLE.code:
            failure = events.Refused(ErrorCode.OVERLOADED, f"The server has no room: {close.reason}.")
        if failure is None:
            await self.send(b"")  # there may have been no sound
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        elif not self.started:
            response = _error_response(
                self.body, _status(failure.code), failure.code, failure.message, failure.retry_after_s
            )
            await response(self._scope, self._receive, self._send)
        else:
            _log.warning("response cut", extra={"code": failure.code})

    def cut(self) -> None:
        """The client does not take it."""
        self._scope["extensions"][ABORT]["call"]()


_WHOLE = Close(1000)


class _Order:
    """The wire: all that this client says is said at once."""

    closing = _WHOLE

    def __init__(self, session: Session, reply: _Reply, text: str, options: ContextOptions) -> None:
        self._session = session
        self._reply = reply
        self._text = text
        self._options = options

    def greeting(self, connection: str) -> list[Frame]:
        """Speak, now that the connection is let in. No frame, but a header with its id."""
        session = self._session
        session.open(_CONTEXT, self._options)
        if _CONTEXT in session and not session.text(_CONTEXT, self._text):
            session.cancel(_CONTEXT)
        session.end(_CONTEXT)
        self._reply.headers["X-Request-Id"] = connection
        return []

    def receive(self, frame: Frame) -> None:
        """There is none."""

    def frames(self, event: events.Event) -> list[Frame]:
        """Pieces of the body."""
        match event:
            case events.Audio():
                return [self._reply.body.audio(event)]
            case events.Refused() if event.code is not ErrorCode.NOTHING_TO_SAY:
                self._reply.failure = self._reply.failure or event
            case events.Ended(reason=EndReason.COMPLETED):
                return [self._reply.body.ended(event)]
            case events.Ended(reason=reason):
                return self._failed(reason)
        return []

    def _failed(self, reason: EndReason) -> list[Frame]:
        reply = self._reply
        reply.failure = reply.failure or events.Refused(ErrorCode.SHUTTING_DOWN, f"The speech was ended: {reason}.")
        return [reply.body.failed(reply.failure)] if reply.started else []
