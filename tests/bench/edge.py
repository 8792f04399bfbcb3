"""What the edge costs: an engine that makes audio for free at real-time rate, Opus out, a socket for each stream.

`python -m tests.bench.edge [--streams 50 100] [--seconds 10] [--idle 1000] [--json FILE]`

Added latency: from the moment the engine had a 20 ms frame to the moment its packet was in the client, another process
on the same machine; both read the machine's one monotonic clock.
"""

import argparse
import asyncio
import json
import os
import re
import resource
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
from websockets.asyncio.client import ClientConnection, connect

from tests.bench.report import Report, percentiles
from tests.bench.scripted import FRAME, MOST_FRAMES
from tests.serving import RunningServer, running_server

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Load:
    """What so many streams cost."""

    latency_ms: Mapping[str, float]
    loop_lag_ms: Mapping[str, float]
    cpu_percent_a_stream: float


async def listen(url: str, number: int, frames: int, start: asyncio.Event) -> list[float]:
    """One stream's packet arrival times."""
    async with connect(url, compression=None) as socket:
        await socket.recv()
        await start.wait()
        seed = number * MOST_FRAMES + frames
        await socket.send(json.dumps({"type": "open", "context": "c", "seed": seed}))
        await socket.send(json.dumps({"type": "text", "context": "c", "text": "Go."}))
        await socket.send(json.dumps({"type": "end", "context": "c"}))
        arrivals: list[float] = []
        async for message in socket:
            if isinstance(message, bytes):
                arrivals.append(time.monotonic())
            elif '"ended"' in message:
                break
        return arrivals


async def load(server: RunningServer, streams: int, seconds: float, log: Path) -> Load:
    """So many streams at once, their starts spread over a second."""
    url = server.url.replace("http", "ws", 1) + "/v1/stream"
    frames = round(seconds * 50)
    starts = [asyncio.Event() for _ in range(streams)]
    listeners = [asyncio.create_task(listen(url, n, frames, starts[n])) for n in range(streams)]
    await asyncio.sleep(1)
    lag_before, cpu_before, began = lag_counts(server), cpu_s(server), time.monotonic()
    for start in starts:
        start.set()
        await asyncio.sleep(1 / streams)
    arrivals = await asyncio.gather(*listeners)
    cpu = (cpu_s(server) - cpu_before) / (time.monotonic() - began) / streams
    made = read_log(log)
    latencies = [
        1000 * (arrived - frame_made)
        for n in range(streams)
        for arrived, frame_made in zip(arrivals[n], made[n], strict=False)
    ]
    return Load(percentiles(latencies), lag_percentiles(lag_before, lag_counts(server)), 100 * cpu)


def read_log(log: Path) -> dict[int, list[float]]:
    """When each frame of each stream was made. A stream's number is used again by a later load, whose line counts."""
    return dict(json.loads(line) for line in log.read_text().splitlines())


async def idle(server: RunningServer, connections: int) -> float:
    """Kilobytes of the server's memory for each connection that says nothing."""
    url = server.url.replace("http", "ws", 1) + "/v1/stream"
    before = rss_kb(server)
    sockets: list[ClientConnection] = []
    for _ in range(connections):
        socket = await connect(url, compression=None)
        await socket.recv()
        sockets.append(socket)
    each = (rss_kb(server) - before) / connections
    await asyncio.gather(*(socket.close() for socket in sockets))
    return each


def cpu_s(server: RunningServer) -> float:
    """The edge process's CPU time; its worker is another process."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def rss_kb(server: RunningServer) -> int:
    """Resident memory of the edge process."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{server.process.pid}/status").read_text())
    assert found
    return int(found.group(1))


def lag_counts(server: RunningServer) -> dict[float, float]:
    """How often the event loop was at most so many milliseconds late, from the server's own metrics."""
    text = httpx.get(f"{server.url}/metrics").text
    buckets = re.findall(r'firstword_loop_lag_seconds_bucket\{le="([^"]+)"\} (\S+)', text)
    return {1000 * float(bound): float(count) for bound, count in buckets}


def lag_percentiles(before: Mapping[float, float], after: Mapping[float, float]) -> dict[str, float]:
    """The bucket bounds that p50 and p99 are under."""
    counts = {bound: after[bound] - before[bound] for bound in after}
    total = max(counts.values())
    return {
        name: next(bound for bound, count in counts.items() if count >= share * total)
        for name, share in (("p50", 0.5), ("p99", 0.99))
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, nargs="+", default=[50, 100])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--idle", type=int, default=1000)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    report = Report(f"Edge, {FRAME} samples a packet, Opus, {arguments.seconds:g} s a load")
    data: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "made"
        module = ("tests.bench.scripted", str(log))
        with running_server("--max-connections", "2000", "--no-admission", module=module) as server:
            each = asyncio.run(idle(server, arguments.idle))
            for streams in arguments.streams:
                measured = asyncio.run(load(server, streams, arguments.seconds, log))
                report.row(f"added latency at {streams} streams, ms", measured.latency_ms)
                report.row("  event-loop lag under, ms", measured.loop_lag_ms)
                report.row("  CPU a stream, % of a core", measured.cpu_percent_a_stream)
                data[str(streams)] = measured
    report.row(f"memory an idle connection of {arguments.idle}, kB", each)
    report.print(_json(data, arguments.streams[0], each), arguments.json)


def _json(data: Mapping[str, object], first: int, idle_kb: float) -> dict[str, object]:
    loads = {streams: measured for streams, measured in data.items() if isinstance(measured, Load)}
    head = loads[str(first)]
    return {
        "added_latency_ms": head.latency_ms,
        "loop_lag_ms": head.loop_lag_ms,
        "idle_connection_kb": round(idle_kb, 1),
        "by_streams": {
            streams: {
                "added_latency_ms": measured.latency_ms,
                "loop_lag_ms": measured.loop_lag_ms,
                "cpu_percent_a_stream": round(measured.cpu_percent_a_stream, 2),
            }
            for streams, measured in loads.items()
        },
    }


if __name__ == "__main__":
    main()
