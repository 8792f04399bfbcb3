"""Deepgram's messages, one by one."""

from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from server.protocols.deepgram import DeepgramWire
from tests.conftest import Serve
from tests.server.talk import OPTIONS, Talk

KEY = "a-key-of-enough-length"


@pytest.fixture
def talk() -> Talk:
    return Talk(lambda session: DeepgramWire(session, OPTIONS, "aura-2-thalia-en"))


def kinds(frames: list[Any]) -> list[Any]:
    """Their types, with runs of audio as one."""
    found: list[Any] = []
    for frame in frames:
        kind = "audio" if isinstance(frame, bytes) else (frame["type"], frame.get("sequence_id"))
        if not (found and found[-1] == kind == "audio"):
            found.append(kind)
    return found


def audio(frames: list[Any]) -> bytes:
    return b"".join(frame for frame in frames if isinstance(frame, bytes))


def test_turns_word_by_word(talk: Talk) -> None:
    for turn in range(3):
        for word in ("Hello ", "there, ", "my ", "friend. "):
            talk.say(type="Speak", text=word)
        talk.say(type="Flush")
        frames = talk.spoken()
        assert kinds(frames) == ["audio", ("Flushed", turn)]
    assert len({request.stream_id for request in talk.speech.submitted}) == 3
    assert talk.session.contexts <= 1


def test_a_clear_is_answered_once_and_silences_the_turn(talk: Talk) -> None:
    talk.say(type="Speak", text="Hello there. ")
    talk.say(type="Flush")
    talk.speech.emit(talk.speech.live[0].request_id, 24_000)
    assert audio(talk.told())
    talk.say(type="Clear")
    talk.say(type="Speak", text="Something else. ")
    talk.say(type="Flush")
    frames = talk.told()
    assert kinds(frames) == [("Cleared", 0)]
    assert kinds(talk.spoken()) == ["audio", ("Flushed", 0)]
    assert [request.text for request in talk.speech.submitted][-1] == "Something else."


def test_flush_and_clear_with_nothing_to_do_are_answered_at_once(talk: Talk) -> None:
    for kind in ("Flush", "Clear", "Flush"):
        talk.say(type=kind)
    assert kinds(talk.told()) == [("Flushed", 0), ("Cleared", 0), ("Flushed", 1)]


def test_close_speaks_what_is_there(talk: Talk) -> None:
    talk.say(type="Speak", text="Hello there")
    talk.say(type="Close")
    talk.say(type="Speak", text="Too late. ")
    frames = talk.spoken()
    assert kinds(frames) == ["audio"]
    (request,) = talk.speech.submitted
    assert len(audio(frames)) == 2 * (len(request.text) * 480 + round(request.pause_s * 24_000))
    assert talk.wire.closing is not None and talk.wire.closing.code == 1000


def test_text_in_which_there_is_nothing_to_say_is_a_little_silence(talk: Talk) -> None:
    talk.say(type="Speak", text="... ")
    talk.say(type="Flush")
    talk.say(type="Close")
    assert audio(talk.spoken()) == bytes(4800)


@pytest.mark.parametrize("frame", ["{", '{"type":"Sing"}', '{"type":"Speak","text":1}', "{}", b"\x00"])
def test_what_is_no_message_is_a_warning(talk: Talk, frame: str | bytes) -> None:
    talk.say(frame)
    (warning,) = talk.told()
    assert warning["type"] == "Warning" and warning["description"].endswith(".")
    assert talk.wire.closing is None


def test_a_failure_is_an_error_and_ends_the_connection(talk: Talk) -> None:
    talk.say(type="Speak", text="Hello there. ")
    talk.say(type="Flush")
    talk.speech.fail("engine_failed")
    (error,) = talk.told()
    assert (error["type"], error["code"]) == ("Error", "ENGINE_FAILED")
    assert talk.wire.closing is not None and talk.wire.closing.code == 1011


async def test_keys_and_options_at_the_handshake(serve: Serve) -> None:
    server = await serve(keys=KEY)
    url = f"{server.url}/v1/speak?encoding=mulaw&sample_rate=8000&speed=1.2&mip_opt_out=false"
    for headers in ({"Authorization": f"Token {KEY}"}, {"Authorization": f"Bearer {KEY}"}):
        async with connect(url, additional_headers=headers) as socket:
            assert '"type":"Metadata"' in str(await socket.recv())
    async with connect(url, subprotocols=[Subprotocol("token"), Subprotocol(KEY)]) as socket:
        assert socket.subprotocol == "token"
    with pytest.raises(InvalidStatus, match="401"):
        await connect(url)
    with pytest.raises(InvalidStatus) as refused:
        await connect(f"{server.url}/v1/speak?encoding=opus", additional_headers={"Authorization": f"Token {KEY}"})
    assert refused.value.response.status_code == 400
    assert b"err_msg" in (refused.value.response.body or b"")


@pytest.mark.parametrize(
    ("query", "media_type"),
    [
        ("", "audio/mpeg"),
        ("encoding=linear16", "audio/wav"),
        ("encoding=linear16&container=none&sample_rate=16000", "audio/pcm"),
        ("encoding=mulaw&container=none", "audio/PCMU"),
        ("encoding=opus&container=ogg&bit_rate=32000", "audio/ogg"),
        ("encoding=flac", "audio/flac"),
        ("encoding=aac", "audio/aac"),
    ],
)
async def test_speech_over_http(serve: Serve, query: str, media_type: str) -> None:
    server = await serve()
    async with httpx.AsyncClient(base_url=server.http) as http:
        response = await http.post(f"/v1/speak?model=aura-2-thalia-en&{query}", json={"text": "Hello there."})
        assert response.headers["content-type"] == media_type and response.content
        refused = await http.post("/v1/speak?encoding=mulaw&container=wav", json={"text": "Hello there."})
        assert refused.status_code == 400 and "container" in refused.json()["err_msg"]
