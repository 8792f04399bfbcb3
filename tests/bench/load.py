"""How many listeners a server carries, and what happens at twice as many. One command for each engine:

`python -m tests.bench.load --engine embedded [--language zh] --find-capacity [--json FILE]`
`python -m tests.bench.load --engine chattts --weights random:0 --precision int8 --find-capacity`

Listeners arrive at random (open loop: they do not wait for each other), each sends its text word by word, as fast as a
language model writes. A listener plays as a browser does: it begins 200 ms after the first packet, and an underrun is a
packet that comes after all before it were played, by the listener's own clock. Capacity is the most listeners at once
without one underrun, found with admission off; then, with it on, half of that comes and twice that.
"""

import argparse
import asyncio
import random
import time
from dataclasses import dataclass

from firstword.client import Client, SpeechError, connect
from firstword.protocol import AudioPacket, Ended, Error
from tests.bench.report import Report
from tests.bench.ttfa import TEXTS, VOICES, pieces
from tests.serving import running_server

START_S = 0.2
WORD_S = 0.02
_OVERLOADED = "overloaded"


@dataclass(slots=True)
class Listener:
    """What one listener heard."""

    ttfa_s: float | None = None
    underruns: int = 0
    refused_s: float | None = None
    audio_s: float = 0.0
    failed: bool = False


async def listen(client: Client, text: str, language: str) -> Listener:
    """Speak `text` and play it with a start buffer."""
    heard = Listener()
    context = client.context(voice=VOICES[language])
    began = time.monotonic()

    async def write() -> None:
        for word in pieces(text, language):
            await context.send(word)
            await asyncio.sleep(WORD_S)
        await context.end()

    writing = asyncio.create_task(write())
    dry_at: float | None = None
    try:
        async for event in context:
            now = time.monotonic()
            if isinstance(event, AudioPacket):
                rate = context.opened.sample_rate if context.opened else 24_000
                frame_s = (context.opened.frame_samples if context.opened else 480) / rate
                heard.ttfa_s = now - began if heard.ttfa_s is None else heard.ttfa_s
                heard.audio_s += frame_s
                if dry_at is None:
                    dry_at = now + START_S
                elif now > dry_at:
                    heard.underruns += 1
                    dry_at = now + START_S
                dry_at += frame_s
            elif isinstance(event, Error):
                heard.refused_s = now - began if event.code == _OVERLOADED else None
                heard.failed = event.code != _OVERLOADED
            elif isinstance(event, Ended):
                break
    except SpeechError:
        heard.refused_s = time.monotonic() - began
    await writing
    return heard


async def crowd(url: str, listeners: int, seconds: float, language: str, seed: int) -> list[Listener]:
    """Keep about `listeners` at once for so long, by arrivals at random; a reply is three texts long."""
    chance = random.Random(seed)
    heard: list[Listener] = []
    texts = TEXTS[language]
    async with connect(url) as client:
        first = await listen(client, texts[0], language)  # the engine's measure, and how long a text is
        reply = " ".join(texts[:3]) if language == "en" else "".join(texts[:3])
        reply_s = 3 * first.audio_s
        until = time.monotonic() + seconds
        running: list[asyncio.Task[Listener]] = []
        for _ in range(listeners):  # as many as there would be after a while
            await asyncio.sleep(chance.expovariate(listeners / min(reply_s, seconds / 2)))
            running.append(asyncio.create_task(listen(client, reply, language)))
        while time.monotonic() < until:
            await asyncio.sleep(chance.expovariate(listeners / reply_s))
            running.append(asyncio.create_task(listen(client, reply, language)))
        heard += await asyncio.gather(*running)
    return heard


def run(flags: list[str], listeners: int, seconds: float, language: str, seed: int = 1) -> list[Listener]:
    """A crowd at a server of its own."""
    with running_server(*flags, "--max-contexts", "4096") as server:
        return asyncio.run(crowd(server.url, listeners, seconds, language, seed))


def find_capacity(flags: list[str], seconds: float, language: str, most: int) -> int:
    """The most listeners without an underrun, by doubling and halving."""
    fits, fails = 0, most + 1
    n = 1
    while fails - fits > 1:
        heard = run([*flags, "--no-admission"], n, seconds, language)
        dry = sum(each.underruns for each in heard) + sum(each.failed for each in heard)
        print(f"{n} listeners at once, {len(heard)} in all: {dry} underruns", flush=True)
        fits, fails = (fits, n) if dry else (n, fails)
        n = min(2 * n, most) if fails > most else (fits + fails) // 2
    return fits


def p95_ms(values: list[float]) -> float:
    """In milliseconds; NaN for nothing."""
    return 1000 * sorted(values)[int(0.95 * (len(values) - 1))] if values else float("nan")


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("embedded", "chattts"), default="embedded")
    parser.add_argument("--weights", default="random:0")
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--language", choices=("en", "zh"), default="en")
    parser.add_argument("--find-capacity", action="store_true", help="else --listeners is taken for it")
    parser.add_argument("--listeners", type=int, default=4)
    parser.add_argument("--most", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    flags = ["--engine", options.engine]
    if options.engine == "chattts":
        flags += ["--weights", options.weights, "--precision", options.precision]
    capacity = options.listeners
    if options.find_capacity:
        capacity = find_capacity(flags, options.seconds, options.language, options.most)
    report = Report(f"Load, {options.engine}, {options.language}, listeners at once")
    report.row("capacity, nobody runs dry", f"{capacity}")
    rows = {}
    for name, listeners in (("half", max(1, capacity // 2)), ("double", max(2, 2 * capacity))):
        heard = run(flags, listeners, options.seconds, options.language)
        admitted = [each for each in heard if each.refused_s is None]
        refused = [each.refused_s for each in heard if each.refused_s is not None]
        rows[name] = {
            "listeners": float(listeners),
            "admitted": float(len(admitted)),
            "refused": float(len(refused)),
            "underruns": float(sum(each.underruns for each in admitted)),
            "failed": float(sum(each.failed for each in heard)),
            "ttfa_p95_ms": p95_ms([each.ttfa_s for each in admitted if each.ttfa_s is not None]),
            "refused_p95_ms": p95_ms(refused),
        }
        for key, value in rows[name].items():
            report.row(f"{name} load: {key}", value)
    data = {"capacity_streams": capacity, "underruns": rows["double"]["underruns"], **rows}
    report.print(data, options.json)


if __name__ == "__main__":
    main()
