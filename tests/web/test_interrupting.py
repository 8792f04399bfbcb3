"""Stopping silences at once, and the page says what was heard."""

import numpy as np
from playwright.sync_api import Page, expect

from tests.web.browser import UNHURRIED, choose_pace, recorded, set_up, settle
from tests.web.conftest import Visit
from tests.web.sound import RATE, assert_played, offset_of, spoken

LONG = "The reply begins with a first clause, and then it goes on and on, as if nobody would ever interrupt it. "
FRAME = "Math.round(window.soundContext.currentTime * window.soundContext.sampleRate)"


def speak(page: Page, text: str) -> None:
    choose_pace(page, "At once")
    page.fill("#text", text)
    page.click("#speak")


def test_stop_silences_at_once_and_tells_what_was_heard(visit: Visit) -> None:
    page = visit()
    speak(page, LONG * 8)
    page.wait_for_function("document.querySelectorAll('.word.said').length > 3")
    page.evaluate(f"document.querySelector('#stop').addEventListener('click', () => window.stoppedAt = {FRAME})")
    page.click("#stop")
    expect(page.locator("#status")).to_contain_text("You heard")
    settle(page)
    recording = recorded(page)
    last = int(np.flatnonzero(recording)[-1]) + page.evaluate("window.recordings.at(-1).frame")
    assert last - page.evaluate("window.stoppedAt") < 0.05 * RATE
    said = "".join(page.locator(".word.said").all_inner_texts()).replace(" ", "")
    heard = page.locator("#status").inner_text().partition("“")[2].rpartition("”")[0]
    assert said.endswith(heard.replace("… ", "").replace(" ", ""))
    assert 3 < page.locator(".word.said").count() < 20
    assert page.locator("#save").is_visible()


def test_stop_after_the_server_has_ended_tells_it_too(visit: Visit) -> None:
    page = visit()
    sockets: list[str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sockets.append(str(frame))))
    page.reload()
    speak(page, LONG)
    page.wait_for_function("document.querySelectorAll('.word.said').length > 2")
    while not any('"ended"' in frame for frame in sockets):
        page.wait_for_timeout(20)
    page.keyboard.press("Escape")
    expect(page.locator("#status")).to_contain_text("You heard: “The reply")
    assert page.locator(".word.said").count() < 12


def test_a_new_reply_is_not_mixed_with_the_one_it_interrupts(visit: Visit, url: str) -> None:
    page = visit()
    speak(page, LONG * 8)
    page.wait_for_selector(".word.now")
    set_up(page, **UNHURRIED)
    speak(page, "Something else.")
    expect(page.locator("#status")).to_contain_text("Spoken")
    settle(page)
    signal = spoken(url, "Something else.").samples
    assert_played(signal, recorded(page))
    assert page.locator("#transcript").inner_text() == "Something else."
    first, second = recorded(page, -2), recorded(page)
    frames = page.evaluate("window.recordings.slice(-2).map((recording) => recording.frame)")
    assert np.flatnonzero(first)[-1] + frames[0] < offset_of(signal, second) + frames[1]


def test_stop_before_the_first_sound(visit: Visit) -> None:
    page = visit()
    page.fill("#pace", "2")
    page.fill("#text", "slow words that are never heard at all")
    page.click("#speak")
    expect(page.locator("#transcript")).to_contain_text("slow")
    page.keyboard.press("Escape")
    expect(page.locator("#status")).to_contain_text("Stopped before the first word.")
    expect(page.locator("#save")).to_be_hidden()
