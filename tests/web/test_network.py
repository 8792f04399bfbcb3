"""Connections that are slow, lost, secured, or refused."""

import ssl
import subprocess
from pathlib import Path

from playwright.sync_api import expect

from tests.serving import running_server
from tests.web.browser import choose_pace, recorded, set_up, settle
from tests.web.conftest import Visit
from tests.web.murmur import MURMUR
from tests.web.proxy import proxy
from tests.web.sound import spoken

TEXT = "A slow network brings the audio of this sentence later than it is played, and that can be heard."


def test_a_slow_socket_is_an_underrun_and_loses_nothing(visit: Visit, url: str) -> None:
    with proxy(url) as network:
        page = visit(network.url)
        choose_pace(page, "At once")
        page.fill("#text", TEXT)
        network.slow_down(3500)
        page.click("#speak")
        expect(page.locator("#status")).to_contain_text("Spoken", timeout=60_000)
        settle(page)
        assert int(page.locator("#underruns").inner_text()) > 0
        assert page.locator(".word.said").count() == len(TEXT.split())
        seconds = float(page.locator("#status").inner_text().split()[1])
        assert abs(seconds - spoken(url, TEXT).ended.samples / 24_000) < 0.06
        recording = recorded(page)
        assert abs(recording[1:] - recording[:-1]).max() < 0.5  # it fades where it runs dry
        network.slow_down(float("inf"))
        page.fill("#text", "Now there is more in hand before it begins.")
        page.click("#speak")
        expect(page.locator("#ttfa-note")).to_contain_text("300 ms")


def test_the_page_comes_back_after_a_server_restart(visit: Visit) -> None:
    with running_server(module=MURMUR) as first, proxy(first.url) as network:
        page = visit(network.url)
        expect(page.locator("#connection")).to_have_text("Connected")
        choose_pace(page, "At once")
        page.fill("#text", f"{TEXT} " * 5)  # more than the server sends ahead
        page.click("#speak")
        page.wait_for_selector(".word.now")
        first.process.kill()
        expect(page.locator("#connection")).to_have_text("Reconnecting")
        expect(page.locator("#status")).to_contain_text("You heard")
        with running_server(module=MURMUR) as second:
            network.lead_to(second.url)
            expect(page.locator("#connection")).to_have_text("Connected")
            page.fill("#text", "Here it is again.")
            page.click("#speak")
            expect(page.locator("#status")).to_contain_text("Spoken")


def test_behind_tls(visit: Visit, url: str, tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with proxy(url, tls) as network:
        page = visit(network.url, ignore_https_errors=True)
        page.click("#speak")
        page.wait_for_selector(".word.now")
        page.keyboard.press("Escape")


def test_a_key_is_asked_for_and_kept_until_the_tab_closes(visit: Visit) -> None:
    with running_server("--keys", "a-long-and-secret-key", module=MURMUR) as server:
        page = visit(server.url)
        expect(page.locator("#status")).to_contain_text("asks for a key")
        expect(page.locator("#connection")).to_have_text("Key needed")
        set_up(page, key="a-long-and-wrong-key")
        expect(page.locator("#status")).to_contain_text("does not know this key")
        set_up(page, key="a-long-and-secret-key")
        expect(page.locator("#connection")).to_have_text("Connected")
        assert "secret" not in page.evaluate("JSON.stringify({...localStorage})")
        page.reload()
        expect(page.locator("#connection")).to_have_text("Connected")
