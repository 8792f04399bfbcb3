"""The page speaks: at once, as a model writes, while it is typed; and what is heard is what the server sent."""

import io
import wave

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.web.browser import UNHURRIED, choose_pace, recorded, set_up, settle
from tests.web.conftest import Visit
from tests.web.sound import assert_played, spoken

TEXT = "Good morning. The train to the coast leaves at noon, so there is time."


def test_what_is_heard_is_what_the_server_sent(visit: Visit, url: str) -> None:
    page = visit()
    set_up(page, **UNHURRIED)
    choose_pace(page, "At once")
    page.fill("#text", TEXT)
    page.click("#speak")
    expect(page.locator("#status")).to_contain_text("Spoken")
    settle(page)
    assert_played(spoken(url, TEXT).samples, recorded(page))
    assert page.locator("#underruns").inner_text() == "0"
    assert page.locator("#transcript").inner_text() == TEXT
    assert page.locator("#transcript .word:not(.said)").count() == 0
    assert page.locator("#ttfa").inner_text().endswith(" ms")
    assert 0 < float(page.locator("#rtf").inner_text()) < 2


@pytest.mark.parametrize(("decoder", "codec"), [("webcodecs", "opus"), ("wasm", "opus"), ("pcm", "pcm_s16le")])
def test_every_decoder_gives_the_same(visit: Visit, url: str, decoder: str, codec: str) -> None:
    page = visit()
    choose_pace(page, "At once")
    set_up(page, decoder=decoder, **UNHURRIED)
    page.fill("#text", TEXT)
    page.click("#speak")
    expect(page.locator("#status")).to_contain_text("Spoken")
    settle(page)
    assert_played(spoken(url, TEXT, codec=codec).samples, recorded(page))


def test_a_real_voice_is_heard_as_it_was_sent(visit: Visit, voices_url: str) -> None:
    page = visit(voices_url)
    set_up(page, **UNHURRIED)
    choose_pace(page, "At once")
    page.fill("#text", TEXT)
    page.click("#speak")
    expect(page.locator("#status")).to_contain_text("Spoken")
    settle(page)
    assert_played(spoken(voices_url, TEXT).samples, recorded(page))


def test_a_browser_without_webcodecs_decodes_by_webassembly(visit: Visit, url: str) -> None:
    page = visit(scripts=["delete globalThis.AudioDecoder"])
    set_up(page, **UNHURRIED)
    choose_pace(page, "At once")
    page.fill("#text", "No other decoder is here.")
    page.click("#speak")
    expect(page.locator("#status")).to_contain_text("Spoken")
    settle(page)
    assert_played(spoken(url, "No other decoder is here.").samples, recorded(page))


def test_a_browser_without_any_decoder_asks_for_pcm(visit: Visit) -> None:
    page = visit(scripts=["delete globalThis.AudioDecoder; delete globalThis.WebAssembly"])
    page.fill("#text", "Then samples it is.")
    page.click("#speak")
    expect(page.locator("#status")).to_contain_text("Spoken")


def test_speech_begins_before_the_text_ends(visit: Visit) -> None:
    page = visit()
    page.fill("#text", "This is here already, " + "and then more words follow " * 4)
    page.fill("#pace", "4")
    page.click("#speak")
    page.wait_for_selector(".word.now")
    assert len(page.locator("#transcript").inner_text()) < len(page.locator("#text").input_value())
    page.keyboard.press("Escape")


def test_typing_is_spoken_and_enter_ends_the_reply(visit: Visit) -> None:
    page = visit()
    choose_pace(page, "As I type")
    page.locator("#text").press_sequentially("Hello there, this is typed", delay=20)
    page.wait_for_selector(".word.now")
    page.locator("#text").press_sequentially(" by hand.", delay=20)
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("Spoken")
    assert page.locator("#transcript").inner_text() == "Hello there, this is typed by hand."
    assert page.locator("#text").input_value() == ""


def test_a_reply_shorter_than_the_start_buffer_is_heard(visit: Visit, url: str) -> None:
    page = visit()
    set_up(page, **UNHURRIED)
    choose_pace(page, "At once")
    page.fill("#text", "OK.")
    page.click("#speak")
    expect(page.locator("#status")).to_contain_text("Spoken")
    settle(page)
    assert_played(spoken(url, "OK.").samples, recorded(page))


def test_what_was_said_can_be_saved(visit: Visit, url: str) -> None:
    page = visit()
    choose_pace(page, "At once")
    page.fill("#text", "Keep this.")
    page.click("#speak")
    with page.expect_download() as download:
        page.click("#save")
    signal = spoken(url, "Keep this.").samples
    with wave.open(io.BytesIO(download.value.path().read_bytes())) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (48_000, 1, 2)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32_767
    assert len(samples) == len(signal)
    assert np.corrcoef(samples, signal)[0, 1] > 0.999
