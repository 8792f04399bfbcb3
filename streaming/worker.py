"""The child process: commands in, a step at a time, chunks out. One per device; shares nothing but messages."""

import gc
import importlib
import logging
import os
import queue
import signal
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection

from streaming import pipe
from streaming.engine import (
    SAMPLE_BYTES,
    Cancel,
    Chunk,
    Chunks,
    Command,
    Engine,
    EngineSpec,
    Failed,
    Ready,
    Report,
    RequestError,
    SegmentRequest,
    Started,
    Stop,
    Submit,
)
from streaming.scheduler import Scheduler

_log = logging.getLogger(__name__)


def main(spec: EngineSpec, commands: Connection, reports: Connection) -> None:
    """Entry point of the process. Ends on `Stop`, or when the edge is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the edge decides when we end
    logging.basicConfig(level=logging.WARNING)
    engine = build_engine(spec)
    gc.collect()
    gc.freeze()  # a full collection over the models' dictionaries would be heard as a pause
    Worker(engine, commands, reports).run()


def build_engine(spec: EngineSpec) -> Engine:
    """Import what the spec names and call it."""
    module, _, factory = spec.factory.partition(":")
    engine: Engine = getattr(importlib.import_module(module), factory)(**spec.options)
    return engine


class Worker:
    """A plain loop around one engine. Everything but reading commands happens on one thread."""

    def __init__(self, engine: Engine, commands: Connection, reports: Connection) -> None:
        info = engine.info
        self._engine = engine
        self._reports = reports
        self._inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._scheduler = Scheduler(slots=info.slots, batch=info.batch, sample_rate=info.sample_rate)
        self._stopped = False
        self._reader = threading.Thread(target=_read, args=(commands, engine, self._inbox), daemon=True)

    def run(self) -> None:
        """Until `Stop`."""
        self._reader.start()
        self._report(Ready(self._engine.info))
        while not self._stopped:
            self._drain_commands()
            plan = self._scheduler.plan(time.monotonic())
            self._start(plan.start)
            self._step(plan.run)
            if not plan.run and not self._stopped:
                self._wait(plan.resume_at)

    def _drain_commands(self) -> None:
        while not self._inbox.empty():
            self._obey(self._inbox.get())

    def _wait(self, until: float | None) -> None:
        """For a command, or until a listener needs more."""
        timeout_s = None if until is None else max(0.0, until - time.monotonic())
        with suppress(queue.Empty):
            self._obey(self._inbox.get(timeout=timeout_s))

    def _obey(self, command: Command) -> None:
        match command:
            case Submit(request):
                self._scheduler.add(request, time.monotonic())
            case Cancel(request_id):
                if self._scheduler.remove(request_id):
                    self._engine.cancel(request_id)
            case Stop():
                self._stopped = True

    def _start(self, requests: tuple[SegmentRequest, ...]) -> None:
        if requests:
            self._report(Started(tuple(request.request_id for request in requests)))
        for request in requests:
            try:
                self._engine.start(request)
            except RequestError as error:
                self._fail(Failed(request.request_id, error.code, str(error)))
            except Exception as error:  # noqa: BLE001  # our bug costs this request, not the worker
                _log.exception("request %d could not start", request.request_id)
                self._engine.cancel(request.request_id)
                self._fail(Failed(request.request_id, "engine_failed", f"The engine failed: {error!r}."))

    def _step(self, planned: tuple[int, ...]) -> None:
        request_ids = [request_id for request_id in planned if self._scheduler.holds(request_id)]
        if not request_ids:
            return
        try:
            made = self._engine.step(request_ids)
        except Exception as error:  # noqa: BLE001  # our bug costs these requests, not the worker
            _log.exception("a step failed for requests %s", request_ids)
            made = self._abandon(request_ids, f"The engine failed: {error!r}.")
        self._hand_over([item for item in made if isinstance(item, Chunk)])
        for item in made:
            if isinstance(item, Failed):
                self._fail(item)

    def _abandon(self, request_ids: list[int], message: str) -> list[Chunk | Failed]:
        for request_id in request_ids:
            self._engine.cancel(request_id)
        return [Failed(request_id, "engine_failed", message) for request_id in request_ids]

    def _hand_over(self, chunks: list[Chunk]) -> None:
        now = time.monotonic()
        for chunk in chunks:
            self._scheduler.produced(chunk.request_id, len(chunk.pcm) // SAMPLE_BYTES, now)
            if chunk.stop is not None:
                self._scheduler.remove(chunk.request_id)
        if chunks:
            self._report(Chunks(tuple(chunks)))

    def _fail(self, failed: Failed) -> None:
        self._scheduler.remove(failed.request_id)
        self._report(failed)

    def _report(self, report: Report) -> None:
        try:
            pipe.send(self._reports.fileno(), report)
        except OSError:
            self._stopped = True


def _read(commands: Connection, engine: Engine, inbox: queue.SimpleQueue[Command]) -> None:
    """Its own thread, so that a cancel can interrupt a step and a dead edge ends the process even in one."""
    while True:
        try:
            command: Command = commands.recv()
        except (EOFError, OSError):
            os._exit(0)
        inbox.put(command)
        if isinstance(command, Cancel):
            engine.interrupt(command.request_id)
