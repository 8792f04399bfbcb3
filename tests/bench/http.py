"""Time to the first byte of sound over HTTP, beside the native protocol, on the embedded voice.

`python -m tests.bench.http [--runs N] [--json FILE]`

The same whole text goes to both, turn by turn, on connections that are open. Native: from sending it to the first
packet. HTTP: from sending the request to the first piece of the body, which holds sound in every format.
"""

import argparse
import time

import httpx
import uvloop

from firstword.client import Client, connect
from firstword.protocol import AudioPacket
from tests.bench.report import Report, percentiles
from tests.bench.ttfa import TEXTS
from tests.serving import running_server

FORMATS = ("pcm", "wav", "opus", "flac", "mp3", "aac")
NATIVE = "native opus"


async def native_ms(tts: Client, text: str) -> float:
    """One turn, spoken to its end so that it is in nobody's way."""
    context = tts.context(pace="fast")
    begin = time.perf_counter()
    await context.send(text)
    await context.end()
    first = 0.0
    async for event in context:
        if isinstance(event, AudioPacket) and not first:
            first = time.perf_counter()
    return (first - begin) * 1000


async def http_ms(client: httpx.AsyncClient, text: str, response_format: str) -> float:
    """As above."""
    begin = time.perf_counter()
    fields = {"input": text, "response_format": response_format}
    async with client.stream("POST", "/v1/audio/speech", json=fields) as response:
        pieces = response.aiter_raw()
        await anext(pieces)
        first = time.perf_counter()
        async for _ in pieces:
            pass
    return (first - begin) * 1000


async def measured(url: str, runs: int) -> dict[str, list[float]]:
    """Milliseconds of every turn, by protocol and format."""
    times: dict[str, list[float]] = {name: [] for name in (NATIVE, *FORMATS)}
    async with connect(url) as tts, httpx.AsyncClient(base_url=url, timeout=60) as client:
        for run in range(runs + 1):
            text = TEXTS["en"][run % len(TEXTS["en"])]
            for name, values in times.items():
                ms = await native_ms(tts, text) if name == NATIVE else await http_ms(client, text, name)
                if run:  # the first one warms everything up
                    values.append(ms)
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--json", help="write the figures here")
    arguments = parser.parse_args()
    with running_server() as server:
        times = uvloop.run(measured(server.url, arguments.runs))
    report = Report(f"First sound over HTTP and the native protocol, ms, {arguments.runs} turns each")
    figures = {name: percentiles(values) for name, values in times.items()}
    for name, values in figures.items():
        report.row(name, values)
    report.print({"first_byte_ms": figures}, arguments.json)


if __name__ == "__main__":
    main()
