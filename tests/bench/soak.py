"""A server under everything at once, for as long as it is asked to: `python -m tests.bench.soak [--minutes 20]`.

Listeners join, cancel, vanish or stop reading, at random; the worker is killed now and then in the first half. At the
end: every context had exactly one end, nothing is left behind, and the memory of edge and worker is what it was
after the first half, within 2 % and the noise of one reading.
"""

import argparse
import asyncio
import os
import random
import signal
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

import httpx

from firstword.client import FirstwordError, ServerGoneError, connect
from firstword.protocol import AudioPacket, Ended
from tests.bench.report import Report
from tests.bench.ttfa import TEXTS
from tests.serving import RunningServer, running_server

LISTENERS = 6
KILL_S = 45.0
SAMPLE_S = 2.0
_ENDS = ("listens", "cancels", "vanishes", "stops reading")


def resident_mb(pid: int) -> float:
    """Resident memory of a process, in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_files(server: RunningServer) -> int:
    """Descriptors of the edge."""
    return sum(1 for _ in Path(f"/proc/{server.process.pid}/fd").iterdir())


async def visit(url: str, chance: random.Random, count: Counter[str]) -> None:
    """One listener's connection, from joining to whatever ends it."""
    manner = chance.choices(_ENDS, (6, 6, 2, 1))[0]
    patience = chance.randint(1, 60)
    ends = 0
    client = connect(url)
    async with client as tts:
        context = tts.context(pace=chance.choice(("realtime", "realtime", "fast")))
        for word in " ".join(chance.sample(TEXTS["en"], 2)).split(" "):
            await context.send(f"{word} ")
        await context.end()
        async for event in context:
            patience -= isinstance(event, AudioPacket)
            ends += isinstance(event, Ended)
            if patience <= 0 and manner == "cancels":
                await context.cancel()
                patience = 10**9
            elif patience <= 0 and manner == "vanishes":
                count[manner] += 1
                return
            elif patience <= 0 and manner == "stops reading":
                await asyncio.sleep(chance.uniform(1, 5))
                patience = 10**9
    count[manner] += 1
    count["contexts without exactly one end"] += ends != 1


async def come_and_go(url: str, seed: int, until: float, count: Counter[str]) -> None:
    """Visit after visit."""
    chance = random.Random(seed)
    while time.monotonic() < until:
        try:
            await visit(url, chance, count)
        except ServerGoneError:
            count["connections that the server ended"] += 1
        except FirstwordError:
            count["contexts refused"] += 1
        await asyncio.sleep(chance.uniform(0, 0.5))


def state(server: RunningServer) -> dict[str, object]:
    """What `/readyz` says."""
    body: dict[str, object] = httpx.get(f"{server.url}/readyz", timeout=10).json()
    return body


def worker_of(body: dict[str, object]) -> dict[str, object]:
    """The only worker."""
    workers = body["workers"]
    assert isinstance(workers, list)
    worker: dict[str, object] = workers[0]
    return worker


async def soak(server: RunningServer, minutes: float, count: Counter[str]) -> dict[str, list[float]]:
    """Memory of edge and worker in the second half, in MB."""
    began = time.monotonic()
    until, half = began + 60 * minutes, began + 30 * minutes
    crowd = [asyncio.create_task(come_and_go(server.url, n, until, count)) for n in range(LISTENERS)]
    memory: dict[str, list[float]] = {"edge": [], "worker": []}
    kill_at = began + KILL_S / 2
    while (now := time.monotonic()) < until:
        await asyncio.sleep(SAMPLE_S)
        worker = worker_of(await asyncio.to_thread(state, server))
        pid = worker["pid"]
        if not worker["ready"] or not isinstance(pid, int):
            continue
        if kill_at < now < half:
            os.kill(pid, signal.SIGKILL)
            count["kills"] += 1
            kill_at = now + KILL_S
        elif now > half + 15 * min(1.0, minutes):  # the last worker is warm, too
            memory["edge"].append(resident_mb(server.process.pid))
            memory["worker"].append(resident_mb(pid))
    await asyncio.gather(*crowd)
    return memory


def growth(readings: list[float]) -> float:
    """Of the last third over the first, in per cent."""
    third = max(1, len(readings) // 3)
    return 100 * (statistics.median(readings[-third:]) / statistics.median(readings[:third]) - 1)


def left_behind(server: RunningServer) -> int:
    """Streams, listeners waiting and requests that are there when nobody is; given a while to go."""
    for _ in range(100):
        body = state(server)
        left = int(str(body["streams"])) + int(str(body["waiting"])) + int(str(worker_of(body)["requests"]))
        if not left:
            break
        time.sleep(0.1)
    return left


def main() -> int:
    """See the module. 1 if something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    count: Counter[str] = Counter()
    with running_server() as server:
        files = open_files(server)
        memory = asyncio.run(soak(server, options.minutes, count))
        left = left_behind(server)
        files = open_files(server) - files
    report = Report(f"Soak, {options.minutes:g} minutes, {LISTENERS} listeners at once")
    for name, number in sorted(count.items()):
        report.row(name, f"{number}")
    grown = {name: growth(readings) for name, readings in memory.items()}
    for name, readings in memory.items():
        report.row(f"memory of the {name}, MB", {"median": statistics.median(readings), "growth %": grown[name]})
    report.row("streams and requests left behind", f"{left}")
    report.row("files left open", f"{files}")
    bad = count["contexts without exactly one end"] + left + max(0, files - 2)
    bad += sum(each > 2 for each in grown.values())
    report.print({"problems": bad, "growth_percent": grown, "left": left, "files": files, **count}, options.json)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
