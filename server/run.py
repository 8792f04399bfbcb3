"""The server's run: listen, wait for a signal, drain, end."""

import asyncio
import signal
import sys
from collections.abc import Sequence

from starlette.applications import Starlette

from server.app import create_app
from server.edge import Edge
from server.listener import Listener, bind, create_listener
from server.settings import Settings
from server.worker_link import WorkerProcess
from streaming.engine import EngineSpec

_SWITCH_S = 0.0005
"""Encoder threads need the interpreter's lock for microseconds; with the default each could wait 5 ms for it."""


async def run(settings: Settings, engines: Sequence[EngineSpec], started: Sequence[WorkerProcess] = ()) -> int:
    """Until SIGTERM or SIGINT. Returns the process's exit status."""
    sys.setswitchinterval(_SWITCH_S)
    app = create_app(settings, engines, started)
    try:
        sock = bind(settings)
    except OSError as error:
        print(f"error: can't listen on {settings.host} port {settings.port}: {error.strerror}.", file=sys.stderr)
        return 1
    port = sock.getsockname()[1]
    signals = _signals()
    if settings.lexicon:
        _reload_on_hangup(app)
    listener = create_listener(app, settings)
    serving = asyncio.create_task(listener.serve(sockets=[sock]))
    announcing = asyncio.create_task(_announce(listener, app, f"http://{_in_url(settings.host)}:{port}"))
    await asyncio.wait({serving, first := asyncio.create_task(signals.get())}, return_when=asyncio.FIRST_COMPLETED)
    announcing.cancel()
    if first.done():
        await _drain(listener, app.state.edge, signals)
    listener.should_exit = True
    await serving
    return 0 if first.done() else 1


def _signals() -> "asyncio.Queue[signal.Signals]":
    received: asyncio.Queue[signal.Signals] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, received.put_nowait, number)
    return received


def _reload_on_hangup(app: Starlette) -> None:
    """SIGHUP reads the lexicon again. Without one it means what it always does: the terminal is gone."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, lambda: loop.run_in_executor(None, app.state.edge.lexicon.reload))


async def _announce(listener: Listener, app: Starlette, url: str) -> None:
    """One line on standard output once speech can be had there: for people and for what starts us."""
    await listener.listening.wait()
    edge: Edge = app.state.edge
    await edge.pool.known()
    print(f"firstword is ready: {url}", flush=True)


async def _drain(listener: Listener, edge: Edge, signals: "asyncio.Queue[signal.Signals]") -> None:
    listener.stop_accepting()
    draining = asyncio.create_task(edge.drain())
    again = asyncio.create_task(signals.get())
    await asyncio.wait({draining, again}, return_when=asyncio.FIRST_COMPLETED)
    draining.cancel()
    again.cancel()


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
