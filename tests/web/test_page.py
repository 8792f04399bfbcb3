"""What the page asks of a browser and of a person."""

import pytest
from playwright.sync_api import expect

from tests.web.browser import set_up
from tests.web.conftest import Visit

UNNAMED = """[...document.querySelectorAll("button, input, select, textarea, [role=tab], a, [tabindex]")]
    .filter((e) => !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim()))
    .map((e) => e.outerHTML)"""
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def test_it_needs_no_microphone_and_asks_for_none(visit: Visit) -> None:
    spy = "window.asked = 0; navigator.mediaDevices.getUserMedia = () => { window.asked++; throw new Error('no') }"
    page = visit(scripts=[spy], permissions=[])
    page.click("#speak")
    page.wait_for_selector(".word.now")
    page.keyboard.press("Escape")
    assert page.evaluate("window.asked") == 0


@pytest.mark.parametrize("decoder", ["auto", "wasm", "pcm"])
def test_it_keeps_its_own_policy(visit: Visit, decoder: str) -> None:
    page = visit(record=False)
    set_up(page, decoder=decoder)
    page.fill("#text", "Nothing here is forbidden.")
    page.click("#speak")
    expect(page.locator("#status")).to_contain_text("Spoken")


def test_it_says_what_the_browser_lacks(visit: Visit) -> None:
    page = visit(scripts=["delete window.AudioWorkletNode"])
    expect(page.locator("#lack")).to_contain_text("no AudioWorklet")


def test_nothing_sounds_before_the_first_gesture(visit: Visit) -> None:
    page = visit()
    expect(page.locator("#connection")).to_have_text("Connected")
    assert page.evaluate("window.soundContext === undefined")
    page.locator("header").click()
    page.wait_for_function("window.soundContext?.state === 'running'")


def test_everything_has_a_name_for_screen_readers(visit: Visit) -> None:
    page = visit()
    assert page.evaluate(UNNAMED) == []


def test_it_can_be_used_by_keyboard_alone(visit: Visit) -> None:
    page = visit()
    expect(page.locator("#connection")).to_have_text("Connected")
    page.locator("#text").focus()
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".word.now")
    page.keyboard.press("Escape")
    expect(page.locator("#status")).to_contain_text("You heard")
    page.locator("#tab-write").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#panel-chat")).to_be_visible()
    assert page.evaluate("document.activeElement.id") == "tab-chat"


def test_it_fits_a_phone(visit: Visit) -> None:
    page = visit(viewport={"width": 360, "height": 740}, has_touch=True)
    for tab in ("#tab-write", "#tab-chat"):
        page.click(tab)
        assert not page.evaluate(TOO_WIDE)


def test_choices_stay(visit: Visit) -> None:
    page = visit()
    page.select_option("#speed", "1.3")
    page.select_option("#voice", "bass")
    page.click("#theme")
    theme = page.evaluate("document.documentElement.dataset.theme")
    page.reload()
    expect(page.locator("#voice")).to_have_value("bass")
    expect(page.locator("#speed")).to_have_value("1.3")
    assert page.evaluate("document.documentElement.dataset.theme") == theme == "dark"


def test_chinese_is_marked_word_by_word(visit: Visit, voices_url: str) -> None:
    page = visit(voices_url)
    expect(page.locator("#connection")).to_have_text("Connected")
    page.select_option("#voice", "zf_xiaobei")
    page.fill("#text", "早上好，今天天气不错。")
    page.click("#speak")
    expect(page.locator("#status")).to_contain_text("Spoken")
    assert page.locator("#transcript").inner_text() == "早上好，今天天气不错。"
    assert page.locator(".word.said").count() > 3
