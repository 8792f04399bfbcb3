"""Starts, watches and addresses the engine workers. What a dead worker was speaking is spoken by the next one."""

import asyncio
import itertools
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from firstword.protocol import ErrorCode
from server.admission import Queue, Seats
from server.host import Listener, Refusal
from server.metrics import Metrics
from server.worker_link import WorkerLink, WorkerProcess, start_process
from streaming.engine import (
    SAMPLE_BYTES,
    Alive,
    Cancel,
    Capacity,
    Chunk,
    Chunks,
    EngineInfo,
    EngineSpec,
    Failed,
    Pace,
    Ready,
    Report,
    SegmentRequest,
    Started,
    Submit,
)
from streaming.parameter import Parameter
from streaming.text.alphabet import Alphabet
from streaming.text.limits import SegmentLimits

_log = logging.getLogger(__name__)

_WORKING_S = 0.2
"""A worker that used so much processor time since its last sign of life works, however long its step takes."""

_TEND_S = 0.02
"""Between two looks at who waits to be let in."""

_LONGEST = 6
"""A step that takes so many times `stall_s` hangs, however busy it is."""


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """When to refuse, when to give up, and how long to wait."""

    streams: int = 256
    """Contexts that may be spoken at once."""
    attempts: int = 3
    """Workers that may die on a request before it is given up."""
    start_s: float = 120.0
    """Longest time a worker may take to load."""
    stall_s: float = 10.0
    """Longest time a worker with work may say nothing."""
    backoff_s: float = 0.25
    """Wait before a worker that failed to load is started again; doubles each time."""
    backoff_max_s: float = 30.0
    measured: bool = True
    """Let in no more listeners than the workers are fast enough for."""
    max_wait_s: float = 0.75
    """Longest time a listener waits to be let in."""
    waiting: int = 64
    """Listeners that may wait."""


@dataclass(slots=True)
class _Flight:
    """A request that is not answered to its end."""

    request: SegmentRequest
    listener: Listener
    delivered: int = 0
    """Bytes of PCM the listener has: what a new worker makes of them again is dropped."""
    skip: int = 0
    deaths: int = 0
    started: bool = False


@dataclass(slots=True)
class _Worker:
    """One device's worker, through all its processes."""

    spec: EngineSpec
    index: int
    seats: Seats
    link: WorkerLink | None = None
    info: EngineInfo | None = None
    flights: dict[int, _Flight] = field(default_factory=dict)
    restarts: int = 0
    failures: int = 0
    problem: str = "starting"
    heard_at: float = 0.0
    """When it last showed that it works."""
    reported_at: float = 0.0
    """When it last said something of its requests."""
    cpu_s: float = 0.0


class WorkerPool:
    """All engine workers. Owns them and every request in flight; lives on the event loop."""

    def __init__(
        self, specs: Sequence[EngineSpec], metrics: Metrics, clock: Callable[[], float], limits: PoolLimits
    ) -> None:
        self._workers = [_Worker(spec, index, Seats(clock)) for index, spec in enumerate(specs)]
        self._metrics = metrics
        self._clock = clock
        self._limits = limits
        self._info: EngineInfo | None = None
        self._known = asyncio.Event()
        self._request_ids = itertools.count(1)
        self._stream_ids = itertools.count(1)
        self._waiting: dict[int, _Flight] = {}
        self._outside: dict[int, list[_Flight]] = {}
        """What streams that are not let in yet have asked for, by stream."""
        self._queue = Queue(most=limits.waiting, max_wait_s=limits.max_wait_s, clock=clock)
        self._tasks: set[asyncio.Task[None]] = set()
        self._gone = asyncio.Event()
        self._stopping = False

    # Life.

    def start(self, started: Sequence[WorkerProcess] = ()) -> None:
        """Start every worker, or take over those that were started already, and the watchdog."""
        for worker, process in zip_longest(self._workers, started):
            self._launch(worker, process)
        self._spawn(self._watch())

    async def stop(self) -> None:
        """End every worker; those that do not obey within 2 s are killed."""
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        links = [worker.link for worker in self._workers if worker.link]
        for link in links:
            link.stop()
        if not links:
            return
        try:
            async with asyncio.timeout(2):
                await self._gone.wait()
        except TimeoutError:
            for link in links:
                link.kill()
            await self._gone.wait()

    async def known(self) -> EngineInfo:
        """What the engine is; waits until a worker has been ready once."""
        await self._known.wait()
        return self._engine

    @property
    def info(self) -> EngineInfo | None:
        """What the engine is, once a worker has been ready."""
        return self._info

    @property
    def ready(self) -> bool:
        """A worker can take requests now."""
        return any(worker.info for worker in self._workers)

    @property
    def streams(self) -> int:
        """Contexts being spoken."""
        return len({flight.request.stream_id for flight in self._flights()})

    def state(self) -> list[dict[str, object]]:
        """Each worker, for people. A capacity of None is not measured yet."""
        return [
            {
                "worker": worker.index,
                "pid": worker.link.pid if worker.link else None,
                "ready": worker.info is not None,
                "problem": None if worker.info else worker.problem,
                "restarts": worker.restarts,
                "requests": len(worker.flights),
                "listeners": self._seats(worker).taken,
                "capacity": worker.seats.capacity if worker.seats.measured else None,
                "load": round(worker.seats.load, 3),
            }
            for worker in self._workers
        ]

    # Speech, as a session sees it.

    @property
    def sample_rate(self) -> int:
        """Samples per second of the engine's PCM."""
        return self._engine.sample_rate

    @property
    def alphabet(self) -> Alphabet:
        """What the engine can read."""
        return self._engine.alphabet

    @property
    def segment_limits(self) -> SegmentLimits:
        """How long its segments are best."""
        return self._engine.limits

    @property
    def controls(self) -> frozenset[str]:
        """Bracketed controls that the engine knows."""
        return self._engine.controls

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What the engine alone can be asked for."""
        return self._engine.parameters

    def next_request_id(self) -> int:
        """An id that no other request has."""
        return next(self._request_ids)

    def next_stream_id(self) -> int:
        """An id that no other stream has."""
        return next(self._stream_ids)

    def submit(self, request: SegmentRequest, listener: Listener) -> None:
        """Speak it. A new stream is refused when as many as may be are being spoken."""
        if request.index == 0 and self.streams >= self._limits.streams:
            raise Refusal(
                ErrorCode.OVERLOADED,
                f"{self._limits.streams} contexts are being spoken, as many as may be; try again soon.",
                retry_after_s=1.0,
            )
        flight = _Flight(request, listener)
        if request.stream_id in self._outside:
            self._outside[request.stream_id].append(flight)
        elif request.index or request.pace is Pace.FAST or self._room():
            self._place(flight)
        elif self._queue.full:
            raise self._overloaded()
        else:
            self._outside[request.stream_id] = [flight]
            self._queue.push(request.stream_id)
            if len(self._queue) == 1:
                self._tend_queue()

    def cancel(self, request_id: int) -> None:
        """Nothing more of it is wanted."""
        self._waiting.pop(request_id, None)
        for stream_id, flights in list(self._outside.items()):
            flights[:] = [flight for flight in flights if flight.request.request_id != request_id]
            if not flights:
                self._leave_queue(stream_id)
        for worker in self._workers:
            if worker.flights.pop(request_id, None) and worker.link:
                worker.link.send(Cancel(request_id))

    def leave(self, stream_id: int) -> None:
        """Its place is free for another."""
        for worker in self._workers:
            worker.seats.leave(stream_id)

    @property
    def waiting(self) -> int:
        """Listeners that wait to be let in."""
        return len(self._queue)

    @property
    def capacity(self) -> int | None:
        """Listeners that all workers together are fast enough for; None until all that are ready have spoken."""
        seats = [worker.seats for worker in self._workers if worker.info]
        return sum(s.capacity for s in seats) if seats and all(s.measured for s in seats) else None

    # Inside.

    @property
    def _engine(self) -> EngineInfo:
        """What sessions rely on: none begins before a worker has been ready."""
        assert self._info is not None
        return self._info

    def _seats(self, worker: _Worker) -> Seats:
        for flight in worker.flights.values():
            if flight.request.pace is Pace.REALTIME:
                worker.seats.take(flight.request.stream_id)
        return worker.seats

    def _room(self) -> bool:
        """May one more listener come in now?"""
        return not self._limits.measured or (not self._queue and (not self.ready or self._free_seat()))

    def _overloaded(self) -> Refusal:
        listeners = sum(self._seats(worker).taken for worker in self._workers)
        message = f"{listeners} listeners are as many as can be served without a gap; try again soon."
        return Refusal(ErrorCode.OVERLOADED, message, retry_after_s=1.0 + len(self._queue) / (self.capacity or 1))

    def _tend_queue(self) -> None:
        """Let in who may come in, send away who waited too long, and look again soon."""
        refusal = self._overloaded()
        for stream_id in self._queue.expired():
            for flight in self._outside.pop(stream_id, []):
                failed = Failed(flight.request.request_id, refusal.code, str(refusal), refusal.retry_after_s)
                flight.listener.on_failed(failed)
                break  # the context ends with its first failure
        while (first := self._queue.first) is not None and self._free_seat():
            self._leave_queue(first)
        if self._queue and not self._stopping:
            asyncio.get_running_loop().call_later(_TEND_S, self._tend_queue)

    def _free_seat(self) -> bool:
        return any(worker.info and self._seats(worker).free for worker in self._workers)

    def _leave_queue(self, stream_id: int) -> None:
        self._queue.remove(stream_id)
        for flight in self._outside.pop(stream_id, []):
            self._place(flight)

    def _launch(self, worker: _Worker, started: WorkerProcess | None = None) -> None:
        worker.problem = "starting"
        worker.heard_at = worker.reported_at = self._clock()
        worker.cpu_s = 0.0
        worker.link = WorkerLink(
            started or start_process(worker.spec),
            lambda report: self._heard(worker, report),
            lambda code: self._lost(worker, code),
        )

    def _heard(self, worker: _Worker, report: Report) -> None:
        now = self._clock()
        if not isinstance(report, Alive) or report.waiting:
            worker.heard_at = worker.reported_at = now
        match report:
            case Alive(cpu_s):
                worker.heard_at = now if cpu_s - worker.cpu_s > _WORKING_S else worker.heard_at
                worker.cpu_s = cpu_s
            case Capacity(listeners, load):
                worker.seats.told(listeners, load)
            case Ready(info):
                self._welcome(worker, info)
            case Started(request_ids):
                for request_id in request_ids:
                    if flight := worker.flights.get(request_id):
                        flight.started = True
            case Chunks(chunks):
                for chunk in chunks:
                    self._deliver(worker, chunk)
            case Failed():
                if flight := worker.flights.pop(report.request_id, None):
                    flight.listener.on_failed(report)

    def _welcome(self, worker: _Worker, info: EngineInfo) -> None:
        worker.info = info
        worker.failures = 0
        self._info = self._info or info
        self._known.set()
        _log.info("worker ready", extra={"worker": worker.index, "engine": info.name})
        waiting, self._waiting = self._waiting, {}
        for flight in waiting.values():
            self._place(flight)

    def _deliver(self, worker: _Worker, chunk: Chunk) -> None:
        flight = worker.flights.get(chunk.request_id)
        if flight is None:
            return
        skipped = min(flight.skip, len(chunk.pcm))
        flight.skip -= skipped
        pcm = chunk.pcm[skipped:]
        flight.delivered += len(pcm)
        self._metrics.audio_made(len(pcm) / SAMPLE_BYTES / self.sample_rate)
        if chunk.stop is not None:
            del worker.flights[chunk.request_id]
        if pcm or chunk.stop is not None:
            flight.listener.on_chunk(Chunk(chunk.request_id, pcm, chunk.stop))

    def _place(self, flight: _Flight) -> None:
        """To the worker that speaks this stream already, else to the one with the least to do."""
        request = flight.request
        ready = [worker for worker in self._workers if worker.info and worker.link]
        if not ready:
            self._waiting[request.request_id] = flight
            return
        worker = min(ready, key=lambda w: self._reluctance(w, request.stream_id))
        worker.flights[request.request_id] = flight
        assert worker.link is not None
        if len(worker.flights) == 1:
            worker.heard_at = worker.reported_at = self._clock()
        worker.link.send(Submit(request))

    def _reluctance(self, worker: _Worker, stream_id: int) -> tuple[bool, float, int]:
        seats = self._seats(worker)
        return not _speaks(worker, stream_id), seats.taken / seats.capacity, len(worker.flights)

    def _lost(self, worker: _Worker, exitcode: int | None) -> None:
        was_ready, worker.info, worker.link = worker.info is not None, None, None
        if self._stopping:
            if not any(other.link for other in self._workers):
                self._gone.set()
            return
        worker.restarts += 1
        worker.failures += not was_ready
        worker.problem = f"exited with {exitcode}"
        self._metrics.worker_restarted()
        _log.error("worker lost", extra={"worker": worker.index, "exitcode": exitcode, "was_ready": was_ready})
        self._spawn(self._relaunch(worker))
        flights, worker.flights = worker.flights, {}
        for flight in flights.values():
            self._rescue(flight)

    def _rescue(self, flight: _Flight) -> None:
        """A request is reproducible, so another worker goes on where this one died."""
        flight.deaths += flight.started
        flight.started = False
        flight.skip = flight.delivered
        if flight.deaths < self._limits.attempts:
            self._place(flight)
            return
        message = f"The engine died {flight.deaths} times while speaking this."
        flight.listener.on_failed(Failed(flight.request.request_id, ErrorCode.ENGINE_RESTARTED, message))

    async def _relaunch(self, worker: _Worker) -> None:
        if worker.failures:
            limits = self._limits
            await asyncio.sleep(min(limits.backoff_max_s, limits.backoff_s * 2**worker.failures))
        self._launch(worker)

    async def _watch(self) -> None:
        """End workers that say nothing though they have work or should be loaded by now."""
        while True:
            await asyncio.sleep(min(1.0, self._limits.stall_s / 4))
            now = self._clock()
            for worker in self._workers:
                limit = self._limits.stall_s if worker.info else self._limits.start_s
                hangs = now - worker.heard_at > limit or now - worker.reported_at > _LONGEST * limit
                if (worker.flights or not worker.info) and hangs and worker.link:
                    _log.error("worker hangs", extra={"worker": worker.index, "silent_s": now - worker.reported_at})
                    worker.link.kill()

    def _flights(self) -> Iterator[_Flight]:
        yield from self._waiting.values()
        for flights in self._outside.values():
            yield from flights
        for worker in self._workers:
            yield from worker.flights.values()

    def _spawn(self, coroutine: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _speaks(worker: _Worker, stream_id: int) -> bool:
    return any(flight.request.stream_id == stream_id for flight in worker.flights.values())
