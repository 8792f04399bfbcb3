"""Writes the pictures in `docs/screenshots`: the page idle, speaking, interrupted, in the chat, dark, and on a phone.

`python -m docs.screenshots` (or `make screenshots`).
"""

from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.serving import running_server
from tests.web.browser import chromium, opened

TARGET = Path(__file__).parent / "screenshots"
DESK = {"viewport": {"width": 1000, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def main() -> None:
    """Write them all."""
    TARGET.mkdir(exist_ok=True)
    with running_server() as server, chromium() as browser:
        take(browser, server.url, "idle", DESK)
        take(browser, server.url, "speaking", DESK, speak)
        take(browser, server.url, "interrupted", DESK, speak, interrupt)
        take(browser, server.url, "chat", DESK, chat)
        take(browser, server.url, "dark", DESK | {"color_scheme": "dark"}, speak)
        take(browser, server.url, "phone", PHONE, speak)


def take(browser: Browser, url: str, name: str, options: dict[str, Any], *actions: Any) -> None:
    """One picture, after what a person does."""
    with opened(browser, url, record=False, **options) as page:
        expect(page.locator("#connection")).to_have_text("Connected")
        page.evaluate("document.fonts.ready.then(() => null)")
        for action in actions:
            action(page)
        page.screenshot(path=TARGET / f"{name}.png")


def speak(page: Page) -> None:
    """Until the second sentence."""
    page.click("#speak")
    page.wait_for_selector(".word.said >> nth=12")


def interrupt(page: Page) -> None:
    """Stop it."""
    page.keyboard.press("Escape")
    expect(page.locator("#status")).to_contain_text("You heard")


def chat(page: Page) -> None:
    """A question and the start of its answer."""
    page.click("#tab-chat")
    page.fill("#say", "How far is the moon?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".word.said >> nth=6")


if __name__ == "__main__":
    main()
