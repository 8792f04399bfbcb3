"""A real server in a process of its own, for tests and benchmarks."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streaming.engine import EngineSpec

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class RunningServer:
    """Where it listens, and its process."""

    url: str
    process: "subprocess.Popen[str]"


@contextmanager
def running_server(*flags: str, module: Sequence[str] = ("server",)) -> Iterator[RunningServer]:
    """Start one on a free port, wait until it is ready, and end it. `module` runs it: its name and first arguments."""
    command = [sys.executable, "-m", *module, "--port", "0", "--log-level", "warning", *flags]
    env = {**os.environ, "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=env)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with {process.wait()} before it was ready")
        yield RunningServer(line.rpartition(" ")[2].strip(), process)
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def serve_engine(spec: "EngineSpec", flags: Sequence[str]) -> int:
    """Be a server with this engine, until it is ended: the `main` of a module that `running_server` runs."""
    import uvloop  # noqa: PLC0415  # the worker imports this module too

    from server import log  # noqa: PLC0415
    from server.run import run  # noqa: PLC0415
    from server.settings import load  # noqa: PLC0415

    settings = load(flags)
    log.set_up(settings.log_level)
    return uvloop.run(run(settings, [spec]))
