"""One engine worker process and the two pipes to it, seen from the event loop."""

import asyncio
import fcntl
import multiprocessing
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from streaming import worker
from streaming.engine import Command, EngineSpec, Report, Stop
from streaming.pipe import Unpacker

_SPAWN = multiprocessing.get_context("spawn")


_PIPE_BYTES = 2**20
"""A sentence of PCM is several times the usual 64 KiB: each fill of the pipe would be a wait for the other side."""


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """A worker that loads, and the edge's ends of its pipes."""

    process: BaseProcess
    commands: Connection
    reports: Connection


def start_process(spec: EngineSpec) -> WorkerProcess:
    """Start a worker. Needs no event loop: it can load while the edge still imports."""
    commands_out, commands = _SPAWN.Pipe(duplex=False)
    reports, reports_in = _SPAWN.Pipe(duplex=False)
    _widen(reports)
    process = _SPAWN.Process(target=worker.main, args=(spec, commands_out, reports_in), daemon=True)
    process.start()
    commands_out.close()
    reports_in.close()
    return WorkerProcess(process, commands, reports)


class WorkerLink:
    """Carries messages. Calls back on the loop: reports in order, then one exit code.

    Reports are read by the loop itself, which never waits for the rest of one. Commands have a thread, because a hung
    worker blocks whoever writes to it.
    """

    def __init__(
        self, started: WorkerProcess, on_report: Callable[[Report], None], on_exit: Callable[[int | None], None]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_report = on_report
        self._on_exit = on_exit
        self._outbox: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self._process = started.process
        self._reports = started.reports
        self._unpacker = Unpacker()
        os.set_blocking(self._reports.fileno(), False)
        self._loop.add_reader(self._reports.fileno(), self._read)
        self._loop.add_reader(self._process.sentinel, self._exited)
        threading.Thread(target=self._write, args=(started.commands,), daemon=True).start()

    @property
    def pid(self) -> int:
        """The process."""
        assert self._process.pid is not None
        return self._process.pid

    def send(self, command: Command) -> None:
        """Never blocks; a dead worker loses it, and says so by its exit."""
        self._outbox.put(command)

    def kill(self) -> None:
        """End the process now. The exit is called back as ever."""
        self._process.kill()

    def stop(self) -> None:
        """Ask the process to end."""
        self.send(Stop())

    def _write(self, commands: Connection) -> None:
        while (command := self._outbox.get()) is not None:
            try:
                commands.send(command)
            except OSError:
                break
        commands.close()

    def _read(self) -> bool:
        """What is there. False: nothing is, or nothing follows."""
        try:
            data = os.read(self._reports.fileno(), _PIPE_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._loop.remove_reader(self._reports.fileno())
        for report in self._unpacker.push(data):
            self._on_report(report)
        return bool(data)

    def _exited(self) -> None:
        self._loop.remove_reader(self._process.sentinel)
        while self._read():
            pass
        self._loop.remove_reader(self._reports.fileno())
        self._reports.close()
        self._outbox.put(None)
        self._process.join()
        exitcode = self._process.exitcode
        self._process.close()
        self._on_exit(exitcode)


def _widen(pipe: Connection) -> None:
    """Linux only; elsewhere, and where the system says no, the pipe stays as it is."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
