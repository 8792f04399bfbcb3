"""What the page adds: from a click on Speak to the first sound that leaves the loudspeaker, in a real browser.

`overhead` is that time less what is not the page's: the server's time to first packet, the silence that the audio begins
with, and the start buffer. It holds the browser's event, two crossings of the socket, decoding, and the latency that the
browser reports for its output.
"""

import argparse
import json
from dataclasses import dataclass

import numpy as np
from playwright.sync_api import Page, expect

from firstword.latency import AUDIBLE
from tests.bench.report import Report, percentiles
from tests.serving import running_server
from tests.web.browser import choose_pace, chromium, opened, recorded

TEXT = "Good morning, it is nice to hear from you again."
CLICKED = """document.querySelector("#speak").addEventListener("click", () => {
    window.clickedAt = window.soundContext?.currentTime ?? 0;
}, {capture: true})"""
LATENCY = "window.soundContext.outputLatency + window.soundContext.baseLatency"
HEARD = f"""window.recordings.length > COUNT
    && window.recordings.at(-1).parts.some((part) => part.some((sample) => Math.abs(sample) > {AUDIBLE}))"""


@dataclass(frozen=True, slots=True)
class Click:
    """One click, in ms."""

    total: float
    latency: float
    server: float
    silence: float
    start_buffer: float

    @property
    def overhead(self) -> float:
        """What is the page's."""
        return self.total - self.server - self.silence - self.start_buffer


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    with running_server() as server, chromium() as browser, opened(browser, "about:blank") as page:
        ended = listen_to_ends(page)
        page.goto(server.url)
        expect(page.locator("#connection")).to_have_text("Connected")
        choose_pace(page, "At once")
        page.fill("#text", TEXT)
        page.evaluate(CLICKED)
        clicks = [click(page, ended) for _ in range(arguments.runs + 1)]
    report = Report(f"Click to sound in Chromium, {arguments.runs} clicks after the first")
    rows = {
        "click_to_sound_ms": percentiles([one.total for one in clicks[1:]]),
        "overhead_ms": percentiles([one.overhead for one in clicks[1:]]),
        "output_latency_ms": percentiles([one.latency for one in clicks[1:]]),
        "server_ms": percentiles([one.server for one in clicks[1:]]),
        "silence_ms": percentiles([one.silence for one in clicks[1:]]),
        "start_buffer_ms": percentiles([one.start_buffer for one in clicks[1:]]),
    }
    names = {"overhead_ms": "  of it: the page", "output_latency_ms": "    of that: the output's latency"}
    for key, values in rows.items():
        report.row(names.get(key, f"  of it: {key.removesuffix('_ms').replace('_', ' ')}" if key != "click_to_sound_ms" else "click to first sound, ms"), values)
    report.print(rows, arguments.json)


def listen_to_ends(page: Page) -> list[float]:
    """The server's own TTFA of each context, as it is told."""
    ttfa: list[float] = []

    def on_frame(frame: str | bytes) -> None:
        if isinstance(frame, str) and (message := json.loads(frame))["type"] == "ended":
            ttfa.append(message["ttfa_ms"])

    page.on("websocket", lambda socket: socket.on("framereceived", on_frame))
    return ttfa


def click(page: Page, ended: list[float]) -> Click:
    """Speak until it is heard."""
    count = page.evaluate("window.recordings.length")
    told = len(ended)
    page.click("#speak")
    page.wait_for_function(HEARD.replace("COUNT", str(count)))
    start_buffer = float(page.locator("#ttfa-note").inner_text().split()[1])
    page.keyboard.press("Escape")
    while len(ended) == told:
        page.wait_for_timeout(10)
    recording = recorded(page)
    rate = page.evaluate("window.soundContext.sampleRate")
    begin = int(np.flatnonzero(recording)[0])
    audible = int(np.flatnonzero(np.abs(recording) > AUDIBLE)[0])
    heard_at = (page.evaluate("window.recordings.at(-1).frame") + audible) / rate
    latency = page.evaluate(LATENCY)
    return Click(
        total=1000 * (heard_at + latency - page.evaluate("window.clickedAt")),
        latency=1000 * latency,
        server=ended[-1],
        silence=1000 * (audible - begin) / rate,
        start_buffer=start_buffer,
    )


if __name__ == "__main__":
    main()
