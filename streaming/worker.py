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
    Alive,
    Cancel,
    Capacity,
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
from streaming.meter import Meter
from streaming.scheduler import Scheduler

_log = logging.getLogger(__name__)

_ALIVE_S = 1.0
_TELL_S = 0.25
"""Between two reports of the capacity."""


def main(spec: EngineSpec, commands: Connection, reports: Connection) -> None:
    """Entry point of the process. Ends on `Stop`, or when the edge is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the edge decides when we end
    logging.basicConfig(level=logging.WARNING)
    engine = build_engine(spec)
    gc.collect()
    gc.freeze()  # a full collection over the models' dictionaries would be heard as a pause
    Worker(engine, commands, reports, max_lead_s=spec.max_lead_s, headroom=spec.headroom).run()


def build_engine(spec: EngineSpec) -> Engine:
    """Import what the spec names and call it."""
    module, _, factory = spec.factory.partition(":")
    engine: Engine = getattr(importlib.import_module(module), factory)(**spec.options)
    return engine


class Worker:
    """A plain loop around one engine. Everything but reading commands and the sign of life happens on one thread."""

    def __init__(
        self, engine: Engine, commands: Connection, reports: Connection, *, max_lead_s: float, headroom: float
    ) -> None:
        info = engine.info
        self._engine = engine
        self._reports = reports
        self._inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._scheduler = Scheduler(
            slots=info.slots, batch=info.batch, sample_rate=info.sample_rate, max_lead_s=max_lead_s
        )
        self._meter = Meter(batch=info.batch, headroom=headroom)
        self._told_at = 0.0
        self._writing = threading.Lock()
        self._waiting = False
        self._stopped = False
        self._reader = threading.Thread(target=_read, args=(commands, engine, self._inbox), daemon=True)

    def run(self) -> None:
        """Until `Stop`."""
        self._reader.start()
        self._report(Ready(self._engine.info))
        threading.Thread(target=self._live, daemon=True).start()
        wait_s: float | None = 0.0
        while not self._stopped:
            self._drain_commands(None if self._scheduler.idle else wait_s)
            began = time.monotonic()
            plan = self._scheduler.plan(began, self._meter.guard_s)
            self._start(plan.start)
            made_s = self._step(plan.run)
            now = time.monotonic()
            if plan.run:
                self._meter.stepped(len(plan.run), now - began, made_s)
                self._tell_capacity(now)
            wait_s = 0.0 if plan.resume_at is None else plan.resume_at - now

    def _drain_commands(self, wait_s: float | None) -> None:
        """Obey what is there; without any wait so long for it, None: for ever."""
        if wait_s is None or wait_s > 0:
            self._waiting = True
            with suppress(queue.Empty):
                self._obey(self._inbox.get(timeout=wait_s))
            self._waiting = False
        while not self._inbox.empty():
            self._obey(self._inbox.get())

    def _obey(self, command: Command) -> None:
        match command:
            case Submit(request):
                self._scheduler.add(request, time.monotonic())
            case Cancel(request_id):
                if self._scheduler.remove(request_id, time.monotonic()):
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
                self._release(request.request_id)
                self._fail(Failed(request.request_id, "engine_failed", f"The engine failed: {error!r}."))

    def _step(self, planned: tuple[int, ...]) -> float:
        """Seconds of audio that came of it."""
        request_ids = [request_id for request_id in planned if self._scheduler.holds(request_id)]
        if not request_ids:
            return 0.0
        made = self._advance(request_ids)
        for item in made:
            if isinstance(item, Failed):
                self._fail(item)
        return self._hand_over([item for item in made if isinstance(item, Chunk)])

    def _advance(self, request_ids: list[int]) -> list[Chunk | Failed]:
        """A step. If it fails, each of its requests gets one alone, so that only those fail that are at fault."""
        try:
            return self._engine.step(request_ids)
        except Exception as error:  # noqa: BLE001  # our bug costs a request, not the worker
            _log.exception("a step failed for requests %s", request_ids)
            if len(request_ids) > 1:
                return [item for request_id in request_ids for item in self._advance([request_id])]
            self._release(request_ids[0])
            return [Failed(request_ids[0], "engine_failed", f"The engine failed: {error!r}.")]

    def _release(self, request_id: int) -> None:
        """Free what a failed request may hold: how far it got is not known."""
        try:
            self._engine.cancel(request_id)
        except Exception:  # noqa: BLE001
            _log.debug("request %d held nothing", request_id, exc_info=True)

    def _hand_over(self, chunks: list[Chunk]) -> float:
        now = time.monotonic()
        rate = self._engine.info.sample_rate
        for chunk in chunks:
            self._scheduler.produced(chunk.request_id, len(chunk.pcm) // SAMPLE_BYTES, now)
            if chunk.stop is not None:
                self._scheduler.remove(chunk.request_id, now)
        if chunks:
            self._report(Chunks(tuple(chunks)))
        return sum(len(chunk.pcm) for chunk in chunks) / SAMPLE_BYTES / rate

    def _tell_capacity(self, now: float) -> None:
        if self._meter.measured and now - self._told_at > _TELL_S:
            self._told_at = now
            load = self._meter.load(self._scheduler.listeners)
            self._report(Capacity(self._meter.capacity, load))

    def _live(self) -> None:
        """Its own thread: says that a long step is work and not a hang."""
        while not self._stopped:
            time.sleep(_ALIVE_S)
            self._report(Alive(time.process_time(), self._waiting))

    def _fail(self, failed: Failed) -> None:
        self._scheduler.remove(failed.request_id, time.monotonic())
        self._report(failed)

    def _report(self, report: Report) -> None:
        with self._writing:
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
