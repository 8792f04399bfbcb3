"""Starts, watches and addresses the engine workers. What a dead worker was speaking is spoken by the next one."""

import asyncio
import itertools
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from firstword.protocol import ErrorCode
from server.host import Listener, Refusal
from server.metrics import Metrics
from server.worker_link import WorkerLink, WorkerProcess, start_process
from streaming.engine import (
    SAMPLE_BYTES,
    Cancel,
    Chunk,
    Chunks,
    EngineInfo,
    EngineSpec,
    Failed,
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
    link: WorkerLink | None = None
    info: EngineInfo | None = None
    flights: dict[int, _Flight] = field(default_factory=dict)
    restarts: int = 0
    failures: int = 0
    problem: str = "starting"
    heard_at: float = 0.0


class WorkerPool:
    """All engine workers. Owns them and every request in flight; lives on the event loop."""

    def __init__(
        self, specs: Sequence[EngineSpec], metrics: Metrics, clock: Callable[[], float], limits: PoolLimits
    ) -> None:
        self._workers = [_Worker(spec, index) for index, spec in enumerate(specs)]
        self._metrics = metrics
        self._clock = clock
        self._limits = limits
        self._info: EngineInfo | None = None
        self._known = asyncio.Event()
        self._request_ids = itertools.count(1)
        self._stream_ids = itertools.count(1)
        self._waiting: dict[int, _Flight] = {}
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
        assert self._info is not None
        return self._info

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
        """Each worker, for people: pid, whether it is ready, what is wrong, restarts, requests."""
        return [
            {
                "worker": worker.index,
                "pid": worker.link.pid if worker.link else None,
                "ready": worker.info is not None,
                "problem": None if worker.info else worker.problem,
                "restarts": worker.restarts,
                "requests": len(worker.flights),
            }
            for worker in self._workers
        ]

    # Speech, as a session sees it.

    @property
    def sample_rate(self) -> int:
        """Samples per second of the engine's PCM."""
        assert self._info is not None
        return self._info.sample_rate

    @property
    def alphabet(self) -> Alphabet:
        """What the engine can read."""
        assert self._info is not None
        return self._info.alphabet

    @property
    def segment_limits(self) -> SegmentLimits:
        """How long its segments are best."""
        assert self._info is not None
        return self._info.limits

    @property
    def controls(self) -> frozenset[str]:
        """Bracketed controls that the engine knows."""
        assert self._info is not None
        return self._info.controls

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What the engine alone can be asked for."""
        assert self._info is not None
        return self._info.parameters

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
        self._place(_Flight(request, listener))

    def cancel(self, request_id: int) -> None:
        """Nothing more of it is wanted."""
        self._waiting.pop(request_id, None)
        for worker in self._workers:
            if worker.flights.pop(request_id, None) and worker.link:
                worker.link.send(Cancel(request_id))

    # Inside.

    def _launch(self, worker: _Worker, started: WorkerProcess | None = None) -> None:
        worker.problem = "starting"
        worker.heard_at = self._clock()
        worker.link = WorkerLink(
            started or start_process(worker.spec),
            lambda report: self._heard(worker, report),
            lambda code: self._lost(worker, code),
        )

    def _heard(self, worker: _Worker, report: Report) -> None:
        worker.heard_at = self._clock()
        match report:
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
        worker = min(ready, key=lambda w: (not _speaks(w, request.stream_id), len(w.flights)))
        worker.flights[request.request_id] = flight
        assert worker.link is not None
        worker.heard_at = self._clock() if len(worker.flights) == 1 else worker.heard_at
        worker.link.send(Submit(request))

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
                if (worker.flights or not worker.info) and now - worker.heard_at > limit and worker.link:
                    _log.error("worker hangs", extra={"worker": worker.index, "silent_s": now - worker.heard_at})
                    worker.link.kill()

    def _flights(self) -> Iterator[_Flight]:
        yield from self._waiting.values()
        for worker in self._workers:
            yield from worker.flights.values()

    def _spawn(self, coroutine: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _speaks(worker: _Worker, stream_id: int) -> bool:
    return any(flight.request.stream_id == stream_id for flight in worker.flights.values())
