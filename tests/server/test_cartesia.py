"""Cartesia's messages, one by one."""

import base64
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from server.protocols.cartesia import CartesiaWire
from server.voices import VoiceRegistry
from tests.conftest import Serve
from tests.doubles import INFO
from tests.server.talk import Talk

KEY = "a-key-of-enough-length"
REQUEST: dict[str, Any] = {
    "context_id": "a",
    "model_id": "sonic-3",
    "voice": {"mode": "id", "id": "alto"},
    "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000},
    "language": None,
    "add_timestamps": True,
    "max_buffer_delay_ms": 0,
}


@pytest.fixture
def talk() -> Talk:
    return Talk(lambda session: CartesiaWire(session, VoiceRegistry(lambda: INFO)))


def kinds(messages: list[Any]) -> list[str]:
    """Their types, with runs of chunks as one."""
    found: list[str] = []
    for message in messages:
        assert message["context_id"] == "a"
        if not (found and found[-1] == message["type"] == "chunk"):
            found.append(message["type"])
    return found


def audio(messages: list[Any]) -> bytes:
    return b"".join(base64.b64decode(m["data"]) for m in messages if m["type"] == "chunk")


@pytest.mark.parametrize("end", ["", " "])
def test_a_turn_as_the_frameworks_speak_it(talk: Talk, end: str) -> None:
    talk.say(**REQUEST, transcript="Hello there, my friend.", **{"continue": True})
    talk.say(**REQUEST, transcript="How are you?", **{"continue": True})
    talk.say(**REQUEST, transcript=end, **{"continue": False})
    messages = talk.spoken()
    assert messages[-1] == {"type": "done", "context_id": "a", "done": True, "status_code": 200}
    assert kinds(messages).count("done") == 1
    times = [m["word_timestamps"] for m in messages if m["type"] == "timestamps"]
    words = [word for time in times for word in time["words"]]
    starts = [start for time in times for start in time["start"]]
    assert words == ["Hello", "there,", "my", "friend.", "How", "are", "you?"]
    assert starts == sorted(starts) and starts[0] == 0.0
    assert times[-1]["end"][-1] <= len(audio(messages)) / 48_000
    assert not any(message["done"] for message in messages[:-1])


def test_no_times_unless_they_are_asked_for(talk: Talk) -> None:
    talk.say(**{**REQUEST, "add_timestamps": False}, transcript="Hello there.")
    assert kinds(talk.spoken()) == ["chunk", "done"]


def test_flushes_are_numbered_and_answered_behind_their_audio(talk: Talk) -> None:
    for text in ("One is here", "Two is here"):
        talk.say(**REQUEST, transcript=text, flush=True, **{"continue": True})
    messages = [m for m in talk.spoken() if m["type"] != "timestamps"]
    assert kinds(messages) == ["chunk", "flush_done", "chunk", "flush_done"]
    assert [m["flush_id"] for m in messages if m["type"] == "flush_done"] == [1, 2]


def test_cancelling_is_answered_once_and_silences(talk: Talk) -> None:
    talk.say(**REQUEST, transcript="Hello there.", **{"continue": True})
    talk.session.settle()
    talk.speech.emit(talk.speech.live[0].request_id, 24_000)
    assert audio(talk.told())
    talk.say(**REQUEST, transcript="", **{"continue": False})
    talk.say(context_id="a", cancel=True)
    talk.say(context_id="a", cancel=True)
    assert kinds(talk.told()) == ["done"]
    assert talk.speech.live == [] and talk.spoken() == []


def test_the_end_of_nothing_is_done(talk: Talk) -> None:
    talk.say(**REQUEST, transcript="", **{"continue": False})
    assert kinds(talk.told()) == ["done"]


def test_text_in_which_there_is_nothing_to_say_is_a_little_silence(talk: Talk) -> None:
    talk.say(**REQUEST, transcript="...")
    messages = talk.spoken()
    assert audio(messages) == bytes(4800) and kinds(messages)[-1] == "done"


@pytest.mark.parametrize(
    "output_format",
    [
        {"container": "mp3", "sample_rate": 44_100},
        {"container": "raw", "encoding": "opus", "sample_rate": 24_000},
        {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 11_025},
        {"container": "raw", "encoding": 7},
    ],
)
def test_what_can_not_be_had_is_one_error_that_is_the_last_message(talk: Talk, output_format: dict[str, Any]) -> None:
    talk.say(**{**REQUEST, "output_format": output_format}, transcript="Hello there.", **{"continue": True})
    talk.say(**REQUEST, transcript="", **{"continue": False})
    (first, *others) = talk.spoken()
    assert (first["type"], first["done"], first["context_id"]) == ("error", True, "a")
    assert first["status_code"] == 400 and first["message"].endswith(".")
    assert kinds(others) in ([], ["done"])


def test_a_failure_is_the_last_message(talk: Talk) -> None:
    talk.say(**REQUEST, transcript="Hello there.")
    talk.speech.fail("engine_failed")
    (message,) = talk.told()
    assert (message["type"], message["done"], message["status_code"]) == ("error", True, 500)
    assert talk.spoken() == []


def test_what_is_no_message_is_an_error(talk: Talk) -> None:
    talk.say("{")
    (message,) = talk.told()
    assert (message["type"], message["context_id"]) == ("error", None)


async def test_keys_as_its_clients_send_them(serve: Serve) -> None:
    server = await serve(keys=KEY)
    url = f"{server.url}/tts/websocket"
    async with connect(url, additional_headers={"X-API-Key": KEY, "Cartesia-Version": "2026-03-01"}):
        pass
    async with connect(f"{url}?cartesia_version=2025-04-16&api_key={KEY}"):
        pass
    with pytest.raises(InvalidStatus, match="401"):
        await connect(url)


async def test_speech_over_http(serve: Serve) -> None:
    server = await serve()
    async with httpx.AsyncClient(base_url=server.http) as http:
        body = {**REQUEST, "transcript": "Hello there."}
        raw = await http.post("/tts/bytes", json=body)
        assert len(raw.content) == 2 * round(24_000 * (12 * 480 / 24_000 + 0.45))
        wav = await http.post(
            "/tts/bytes",
            json={**body, "output_format": {"container": "wav", "encoding": "pcm_s16le", "sample_rate": 24_000}},
        )
        assert wav.content[44:] == raw.content
        mp3 = {"container": "mp3", "sample_rate": 44_100, "bit_rate": 128_000}
        assert (await http.post("/tts/bytes", json={**body, "output_format": mp3})).content
        refused = await http.post("/tts/bytes", json={**body, "output_format": {"container": "ogg"}})
        assert refused.status_code == 400 and refused.json()["error_code"] == "unsupported_format"
