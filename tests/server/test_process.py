"""The server as a process, with the voice it comes with: signals, kills, options."""

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import httpx
import pytest
from wyoming.client import AsyncTcpClient
from wyoming.tts import Synthesize

from firstword.client import connect
from firstword.explain import explain
from firstword.protocol import AudioPacket, Ended
from server.settings import SettingsError, load
from streaming.chattts.options import Options
from tests.serving import ROOT, running_server

TEXT = "This is the first sentence of a reply. Here is the second one, a little longer. And this is the last."


async def hear(url: str, text: str, *, after_first: int | None = None) -> tuple[bytes, Ended]:
    """The text's samples; `after_first` is a process to kill when the first packet is there."""
    async with connect(url) as tts:
        context = tts.context(codec="pcm_s16le", pace="fast")
        await context.send(text)
        await context.end()
        pcm = b""
        async for event in context:
            if isinstance(event, AudioPacket):
                if not pcm and after_first is not None:
                    os.kill(after_first, signal.SIGKILL)
                pcm += event.payload
            elif isinstance(event, Ended):
                return pcm, event
    raise AssertionError


def worker(url: str) -> dict[str, int]:
    state: dict[str, int] = httpx.get(f"{url}/readyz").json()["workers"][0]
    return state


def test_kill_9_in_the_middle_of_speech_is_not_heard() -> None:
    with running_server() as server:
        undisturbed, _ = asyncio.run(hear(server.url, TEXT))
        victim = worker(server.url)["pid"]
        disturbed, ended = asyncio.run(hear(server.url, TEXT, after_first=victim))
        assert ended.reason == "completed"
        assert disturbed == undisturbed
        assert worker(server.url)["restarts"] == 1
        assert worker(server.url)["pid"] != victim


def test_sigterm_finishes_what_is_being_spoken() -> None:
    with running_server() as server:

        async def interrupted() -> tuple[bytes, Ended]:
            async with connect(server.url) as tts:
                context = tts.context(codec="pcm_s16le")
                await context.send(TEXT + " And it goes on without a full stop")
                pcm = b""
                async for event in context:
                    if isinstance(event, AudioPacket):
                        if not pcm:
                            server.process.send_signal(signal.SIGTERM)
                        pcm += event.payload
                    elif isinstance(event, Ended):
                        return pcm, event
            raise AssertionError

        pcm, ended = asyncio.run(interrupted())
        assert (ended.reason, ended.spoken) == ("completed", TEXT + " And it goes on without a full stop")
        assert len(pcm) == 2 * ended.samples
        assert server.process.wait(timeout=10) == 0


def test_sigterm_amid_twenty_streams_loses_nothing() -> None:
    text = "This is said to its end."
    with running_server("--drain-s", "300") as server:

        async def crowd() -> list[tuple[bytes, Ended]]:
            speaking = [asyncio.create_task(hear(server.url, text)) for _ in range(20)]
            async with httpx.AsyncClient() as http:
                async with asyncio.timeout(120):
                    while (await http.get(f"{server.url}/readyz")).json()["streams"] < 20 and not any(
                        task.done() for task in speaking
                    ):
                        await asyncio.sleep(0)
            server.process.send_signal(signal.SIGTERM)
            return await asyncio.gather(*speaking)

        heard = asyncio.run(crowd())
        assert {(ended.reason, ended.spoken) for _, ended in heard} == {("completed", text)}
        assert all(len(pcm) == 2 * ended.samples for pcm, ended in heard)
        assert server.process.wait(timeout=60) == 0


def test_devices_have_workers_of_their_own() -> None:
    assert len(load(["--devices", "cpu,cpu", "--workers", "2"]).engine_specs) == 4
    flags = ["--engine", "chattts", "--weights", "w", "--precision", "bf16", "--devices", "cuda:0,cuda:1"]
    assert [spec.options["device"] for spec in load(flags).engine_specs] == ["cuda:0", "cuda:1"]
    with running_server("--devices", "cpu,cpu") as server:
        assert len(httpx.get(f"{server.url}/readyz").json()["workers"]) == 2


def test_home_assistant_has_a_port_of_its_own() -> None:
    with running_server("--wyoming", "127.0.0.1:0") as server:
        assert server.process.stdout is not None
        port = int(server.process.stdout.readline().rpartition(":")[2])

        async def heard() -> bytes:
            async with AsyncTcpClient("127.0.0.1", port) as client:
                await client.write_event(Synthesize(TEXT).event())
                pcm = b""
                while (event := await client.read_event()) and event.type != "audio-stop":
                    pcm += event.payload or b""
                return pcm

        assert asyncio.run(heard()) == asyncio.run(hear(server.url, TEXT))[0]


def test_sighup_reads_the_lexicon_again(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text("SQL\tsequel\n")
    with running_server("--lexicon", str(path)) as server:
        assert explain(server.url, "SQL")["segments"][0]["spoken"] == "sequel"
        path.write_text("SQL\tsquirrel\n")
        server.process.send_signal(signal.SIGHUP)
        spoken = ""
        while spoken != "squirrel":
            spoken = explain(server.url, "SQL")["segments"][0]["spoken"]
        path.write_text("SQL\n")
        command = [sys.executable, "-m", "server", "--lexicon", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
        assert done.returncode == 2
        assert "words.tsv: line 1: write a word" in done.stderr


def test_a_public_address_needs_a_key() -> None:
    command = [sys.executable, "-m", "server", "--host", "0.0.0.0"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert done.returncode == 2
    assert "--keys" in done.stderr and "--insecure" in done.stderr


def test_an_address_in_use_is_a_sentence() -> None:
    with running_server() as server:
        port = server.url.rpartition(":")[2]
        command = [sys.executable, "-m", "server", "--port", port]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
        assert done.returncode == 1
        assert done.stderr.startswith(f"error: can't listen on 127.0.0.1 port {port}: Address already in use.")


def test_flags_go_before_variables_before_the_file(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    config = f"{tmp_path}/firstword.toml"
    with open(config, "w") as file:  # noqa: PTH123
        file.write('port = 1\nmax_contexts = 2\nkeys = ["from-the-file-1234"]\nidle_s = 3.5\n')
    monkeypatch.setenv("FIRSTWORD_PORT", "4")
    monkeypatch.setenv("FIRSTWORD_MAX_CONTEXTS", "5")
    settings = load(["--config", config, "--port", "6"])
    assert (settings.port, settings.max_contexts, settings.idle_s) == (6, 5, 3.5)
    assert settings.keys == ("from-the-file-1234",)


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--port", "70000"], "--port: .*65535"),
        (["--keys", "short"], "--keys: a key is at least 16"),
        (["--host", "192.0.2.1"], "192.0.2.1 can be reached"),
        (["--config", "/nowhere.toml"], "There is no file /nowhere.toml"),
        (["--tls-key", "key.pem"], "--tls-key needs --tls-cert"),
        (["--tls-cert", "/nowhere.pem"], "no file /nowhere.pem"),
        (["--voice-aliases", "alloy"], "--voice-aliases: .*NAME=VOICE"),
        (["--wyoming", "0.0.0.0:10200", "--keys", "a-key-of-enough-length"], "Wyoming has no keys: say --insecure"),
        (["--wyoming", "10200"], "--wyoming takes HOST:PORT"),
        (["--engine", "steam"], "--engine: .*embedded"),
        (["--devices", "cuda:0"], "embedded voices run on cpu only"),
        (["--engine", "chattts"], "needs --weights"),
        (["--engine", "chattts", "--weights", "w", "--precision", "int4"], "precision is one of fp32, bf16, int8"),
        (["--engine", "chattts", "--weights", "w", "--device", "cuda"], "int8 runs on a CPU only"),
        (["--engine", "chattts", "--weights", "w", "--slots", "0"], "slots must be from 1 to 256"),
    ],
)
def test_options_that_make_no_sense_are_sentences(flags: list[str], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        load(flags)


def test_every_option_of_chattts_reaches_it() -> None:
    flags = ["--weights", "w", "--precision", "bf16", "--device", "cuda:1", "--slots", "3"]
    flags += ["--length", "512", "--speakers", "v", "--graphs"]
    (spec,) = load(["--engine", "chattts", *flags]).engine_specs
    chosen = Options(**spec.options)  # type: ignore[arg-type]
    assert chosen == Options("w", precision="bf16", device="cuda:1", slots=3, length=512, speakers="v", graphs=True)
    assert load(["--engine", "chattts", "--weights", "w"]).engine_specs[0].options == asdict(Options("w"))


def test_keys_and_insecure_open_the_address() -> None:
    assert load(["--host", "0.0.0.0", "--keys", "a-key-of-enough-length,another-key-of-length"]).keys == (
        "a-key-of-enough-length",
        "another-key-of-length",
    )
    assert load(["--host", "::", "--insecure"]).insecure
