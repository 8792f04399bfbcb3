"""The system's Chromium, and a page of it as a person uses it."""

import base64
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, expect, sync_playwright

Float = NDArray[np.float32]

_RECORDER = (Path(__file__).parent / "recorder.js").read_text()
_FLAGS = (
    "--no-sandbox",  # it runs as root in containers
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
UNHURRIED = {"buffer": "3000,3000"}
"""Settings with which even a busy machine plays without a gap."""
PATIENCE_MS = 60_000
"""How long a test waits for what should come at once: the machine may be busy."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """One browser."""
    path = shutil.which("chromium")
    if path is None:
        raise RuntimeError("There is no chromium on the path; `make chromium` installs it.")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser, url: str, scripts: Sequence[str] = (), *, record: bool = True, **options: Any
) -> Iterator[Page]:
    """The page; `record` what it plays. An error in it that nobody caught fails the test.

    The recorder is a script that the page's own policy would not let in, so with it there is no policy.
    """
    context = browser.new_context(bypass_csp=record, **options)
    try:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if "Content Security Policy" in line.text else None)
        for script in (*scripts, *([_RECORDER] if record else [])):
            page.add_init_script(script)
        page.goto(url)
        yield page
        assert errors == []
    finally:
        context.close()


def recorded(page: Page, track: int = -1) -> Float:
    """What a track handed to the loudspeaker, the last one by default, silence around it included."""
    encoded = page.evaluate(
        """(track) => {
            const parts = window.recordings.at(track).parts;
            const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
            let at = 0;
            for (const part of parts) {
                bytes.set(new Uint8Array(part.buffer), at);
                at += part.byteLength;
            }
            let text = "";
            for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
            return btoa(text);
        }""",
        track,
    )
    return np.frombuffer(base64.b64decode(encoded), "<f4")


def choose_pace(page: Page, name: str) -> None:
    """How the text is sent: a label of the page."""
    page.get_by_label(name, exact=True).check()


def set_up(page: Page, **settings: str) -> None:
    """Choose in the settings, by the names of the fields."""
    page.click("#settings-open")
    for name, value in settings.items():
        field = page.locator(f"#settings [name={name}]")
        if field.evaluate("(field) => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    page.click("#settings button.primary")


def settle(page: Page) -> None:
    """Until the reply is over and its recording complete."""
    expect(page.locator("#stop")).to_be_disabled()
    frames = page.evaluate("window.recordings.at(-1).parts.length")
    page.wait_for_function("(frames) => window.recordings.at(-1).parts.length > frames + 4", arg=frames)
