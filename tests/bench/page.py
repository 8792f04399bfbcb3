"""What the page adds: from a click on Speak to the first sound that leaves the loudspeaker, in a real browser.

The page's part is that time less the server's time to first packet, the silence that the audio begins with, and the
start buffer. It holds the browser's event, two crossings of the socket, decoding, and the latency that the browser
reports for its output.
"""

import argparse
import json
from collections.abc import Callable
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
    def page(self) -> float:
        """What is the page's."""
        return self.total - self.server - self.silence - self.start_buffer


FIGURES: dict[str, tuple[str, Callable[[Click], float]]] = {
    "click_to_sound_ms": ("click to first sound, ms", lambda click: click.total),
    "server_ms": ("  of it: text to first packet in the server", lambda click: click.server),
    "silence_ms": ("  of it: silence before the first sound", lambda click: click.silence),
    "start_buffer_ms": ("  of it: the start buffer", lambda click: click.start_buffer),
    "page_ms": ("  of it: the page", lambda click: click.page),
    "output_latency_ms": ("    of that: the output's latency", lambda click: click.latency),
}


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
    data = {}
    for key, (name, measure) in FIGURES.items():
        data[key] = percentiles([measure(one) for one in clicks[1:]])
        report.row(name, data[key])
    report.print(data, arguments.json)


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
