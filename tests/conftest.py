"""What the whole suite shares: settings, and a server in this process with an engine that a test controls."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from server.app import create_app
from server.edge import Edge
from server.listener import bind, create_listener
from server.settings import Settings
from streaming.engine import EngineSpec

collect_ignore = [
    *([] if find_spec("torch") else ["streaming/chattts", "gpu"]),
    *([] if find_spec("playwright") else ["web"]),
]
"""`make test-chattts` and `make test-web` bring what these need."""

collect_ignore += [] if find_spec("openai") else ["clients"]
"""`make test-clients` brings these."""

settings.register_profile("shared-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared-machine")


@dataclass(frozen=True, slots=True)
class Served:
    """A running server."""

    url: str
    edge: Edge

    @property
    def http(self) -> str:
        return self.url.replace("ws", "http", 1)


Serve = Callable[..., Awaitable[Served]]


@asynccontextmanager
async def served(engine: dict[str, Any], **options: Any) -> AsyncIterator[Served]:
    """A server on a free port whose engine is `tests.doubles.ScriptedEngine(**engine)`."""
    chosen = Settings(port=0, **options)
    app = create_app(chosen, [EngineSpec("tests.doubles:ScriptedEngine", engine)] * chosen.workers)
    sock = bind(chosen.host, chosen.port)
    listener = create_listener(app, chosen)
    serving = asyncio.create_task(listener.serve(sockets=[sock]))
    await listener.listening.wait()
    try:
        yield Served(f"ws://127.0.0.1:{sock.getsockname()[1]}", app.state.edge)
    finally:
        listener.should_exit = True
        await serving
        sock.close()


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a server: `await serve(engine={...}, max_contexts=2)`."""
    async with AsyncExitStack() as stack:

        async def start(engine: dict[str, Any] | None = None, **options: Any) -> Served:
            server = await stack.enter_async_context(served(engine or {}, **options))
            if not (engine or {}).get("fail_to_load"):
                await server.edge.pool.known()
            return server

        yield start
