"""The ASGI application: routes, and the lifespan that starts and ends what they share."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from firstword.protocol import SUBPROTOCOL
from server.auth import Denied
from server.edge import Edge
from server.explain import explain_text
from server.metrics import CONTENT_TYPE
from server.protocols import cartesia, deepgram, elevenlabs, elevenlabs_http, openai
from server.protocols.connection import Connection
from server.protocols.native import NativeWire
from server.protocols.transport import WebSocketTransport
from server.settings import Settings
from server.worker_link import WorkerProcess
from streaming.engine import EngineSpec

_WEB = Path(__file__).parent.parent / "clients" / "web"


def create_app(settings: Settings, engines: Sequence[EngineSpec], started: Sequence[WorkerProcess] = ()) -> Starlette:
    """The whole server as one ASGI application, a worker for each engine; `app.state.edge` exists while it runs.

    `started` are the engines' workers, if they were started already.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.edge = edge = Edge(settings, engines)
        edge.start(started)
        try:
            yield
        finally:
            await edge.stop()

    routes = [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/metrics", metrics),
        Route("/v1/voices", voices),
        Route("/v1/audio/speech", openai.speech, methods=["POST"]),
        Route("/v1/audio/voices", openai.voices),
        Route("/v1/models", openai.models),
        Route("/v1/models/{model}", openai.model),
        Route("/v1/explain", explain_text, methods=["POST"]),
        WebSocketRoute("/v1/stream", stream),
        Route("/v1/text-to-speech/{voice}", elevenlabs_http.speech, methods=["POST"]),
        Route("/v1/text-to-speech/{voice}/stream", elevenlabs_http.speech, methods=["POST"]),
        Route("/tts/bytes", cartesia.tts_bytes, methods=["POST"]),
        Route("/v1/speak", deepgram.speech, methods=["POST"]),
        WebSocketRoute("/tts/websocket", cartesia.tts_websocket),
        WebSocketRoute("/v1/speak", deepgram.speak),
        WebSocketRoute("/v1/text-to-speech/{voice}/multi-stream-input", elevenlabs.multi_stream_input),
        WebSocketRoute("/v1/text-to-speech/{voice}/stream-input", elevenlabs.stream_input),
        Mount("/", StaticFiles(directory=_WEB, html=True)),
    ]
    allowed = Middleware(
        CORSMiddleware, allow_origins=settings.origins, allow_methods=["GET", "POST"], allow_headers=["*"]
    )
    return Starlette(routes=routes, middleware=[allowed], lifespan=lifespan, exception_handlers={Denied: denied})


async def healthz(_request: Request) -> Response:
    """The event loop runs."""
    return JSONResponse({"status": "ok"})


async def readyz(request: Request) -> Response:
    """Speech can be had now, and if not, why."""
    edge = _edge(request)
    status = "draining" if edge.draining else "ready" if edge.pool.ready else "starting"
    body = {
        "status": status,
        "streams": edge.pool.streams,
        "max_streams": edge.settings.max_streams,
        "waiting": edge.pool.waiting,
        "capacity": edge.pool.capacity,
        "workers": edge.pool.state(),
    }
    return JSONResponse(body, status_code=200 if status == "ready" else 503)


async def metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    edge = _edge(request)
    edge.gate.check(request.headers)
    return Response(
        edge.metrics.exposition(edge.pool.streams, edge.pool.waiting, edge.pool.capacity or 0), media_type=CONTENT_TYPE
    )


async def voices(request: Request) -> Response:
    """The voices that `open.voice` may name, in a shape that ElevenLabs' clients read, too."""
    edge = _edge(request)
    edge.gate.check(request.headers)
    listed = [
        {
            "voice_id": voice.name,
            "name": voice.name,
            "category": "premade",
            "labels": {"language": ", ".join(voice.languages), "gender": voice.sex},
            "languages": list(voice.languages),
            "sex": voice.sex,
            "licence": voice.licence,
            "description": voice.description,
            "default": voice.name == edge.voices.default,
        }
        for voice in edge.voices.all()
    ]
    return JSONResponse({"voices": listed})


async def stream(websocket: WebSocket) -> None:
    """The native protocol."""
    edge = _edge(websocket)
    offered = websocket.scope["subprotocols"]
    try:
        edge.gate.check(websocket.headers, offered)
    except Denied as refusal:
        await websocket.send_denial_response(PlainTextResponse(str(refusal), status_code=refusal.status))
        return
    await websocket.accept(subprotocol=SUBPROTOCOL if SUBPROTOCOL in offered else None)
    await Connection(WebSocketTransport(websocket), edge, lambda session: NativeWire(session, edge)).run()


async def denied(_request: Request, error: Exception) -> Response:
    """A refusal of the gate as an HTTP response."""
    assert isinstance(error, Denied)
    return JSONResponse({"error": str(error)}, status_code=error.status)


def _edge(connection: HTTPConnection) -> Edge:
    edge: Edge = connection.app.state.edge
    return edge
