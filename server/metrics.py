"""What is counted and measured, for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_TTFA_BUCKETS = (0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)

_LAG_BUCKETS = (0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0)


class Metrics:
    """One server's figures, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        r = self._registry
        self.connections = Gauge("firstword_connections", "Open connections.", registry=r)
        self.contexts = Counter("firstword_contexts", "Contexts that ended, by reason.", ["reason"], registry=r)
        self.refusals = Counter("firstword_refusals", "Error events, by code.", ["code"], registry=r)
        self.ttfa = Histogram(
            "firstword_ttfa_seconds",
            "Text of the first segment to its first packet.",
            buckets=_TTFA_BUCKETS,
            registry=r,
        )
        self.loop_lag = Histogram(
            "firstword_loop_lag_seconds", "How late the event loop runs what is due.", buckets=_LAG_BUCKETS, registry=r
        )
        self._audio = Counter("firstword_audio_seconds", "Audio made by the engine.", registry=r)
        self._restarts = Counter("firstword_worker_restarts", "Engine workers lost.", registry=r)
        self._streams = Gauge("firstword_streams", "Contexts being spoken.", registry=r)
        self._waiting = Gauge("firstword_waiting", "Listeners that wait to be let in.", registry=r)
        self._capacity = Gauge(
            "firstword_capacity", "Listeners that the workers are fast enough for; 0: not measured yet.", registry=r
        )

    def audio_made(self, seconds: float) -> None:
        """The engine made this much audio."""
        self._audio.inc(seconds)

    def worker_restarted(self) -> None:
        """An engine worker was lost."""
        self._restarts.inc()

    def exposition(self, streams: int, waiting: int, capacity: int) -> bytes:
        """All figures in Prometheus's text format."""
        self._streams.set(streams)
        self._waiting.set(waiting)
        self._capacity.set(capacity)
        return generate_latest(self._registry)
