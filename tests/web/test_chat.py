"""The chat: tokens are spoken as they come, and typing interrupts the model and the voice."""

from playwright.sync_api import expect

from tests.model_double import model_endpoint
from tests.web.browser import set_up
from tests.web.conftest import Visit


def test_the_echo_answers_aloud(visit: Visit) -> None:
    page = visit()
    page.click("#tab-chat")
    page.fill("#say", "How far is the moon?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".word.now")
    expect(page.locator(".assistant")).to_contain_text("You said: How far is the moon? I am the built-in echo;")
    page.keyboard.press("Escape")
    expect(page.locator(".assistant .unheard")).to_contain_text("built-in echo;")


def test_a_model_is_heard_while_it_writes_and_typing_interrupts_both(visit: Visit) -> None:
    with model_endpoint(
        tokens=["It is ", "quite far, ", *["and then some more words come. "] * 200], interval_s=0.03
    ) as model:
        page = visit()
        page.click("#tab-chat")
        set_up(page, provider="openai", endpoint=model.url, model="tiny", modelKey="model-key")
        page.fill("#say", "How far is the moon?")
        page.keyboard.press("Enter")
        page.wait_for_selector(".word.now")
        assert not model.finished
        page.locator("#say").press_sequentially("Wait")
        expect(page.locator("#status")).to_contain_text("Stopped.")
        expect(page.locator(".assistant .unheard")).not_to_be_empty()
        model.wait_gone()
        heard = page.locator(".assistant").evaluate("(item) => item.firstChild.data")
        page.locator("#say").press_sequentially(", what?")
        page.keyboard.press("Enter")
        page.wait_for_function("document.querySelectorAll('.assistant').length === 2")
        page.wait_for_selector(".word.now")
        page.keyboard.press("Escape")
    first, second = model.requests
    assert first.key == "Bearer model-key"
    assert first.body["model"] == "tiny" and first.body["stream"] is True
    assert [m["role"] for m in first.body["messages"]] == ["system", "user"]
    assert second.body["messages"][-2:] == [
        {"role": "assistant", "content": heard},
        {"role": "user", "content": "Wait, what?"},
    ]
    assert len(heard) < 200


def test_a_model_that_is_not_there_is_told(visit: Visit) -> None:
    page = visit()
    page.click("#tab-chat")
    set_up(page, provider="openai", endpoint="http://127.0.0.1:9/v1")
    page.fill("#say", "Hello?")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("cannot be reached")
