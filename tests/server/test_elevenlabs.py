"""ElevenLabs' messages, one by one."""

import base64
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from server.audio.format import AudioFormat
from server.host import Refusal, SessionLimits
from server.protocols.elevenlabs import MultiWire, SingleWire, audio_format
from tests.conftest import Serve
from tests.server.talk import OPTIONS, SENTENCES, Talk

KEY = "a-key-of-enough-length"


def multi(limits: SessionLimits = SessionLimits()) -> Talk:
    return Talk(lambda session: MultiWire(session, SENTENCES, sentences=True), limits)


def single() -> Talk:
    return Talk(lambda session: SingleWire(session, OPTIONS, sentences=False))


def finals(messages: list[Any]) -> list[str]:
    return [message["contextId"] for message in messages if message.get("isFinal") is True]


def audio(messages: list[Any], context: str = "a") -> bytes:
    of_context = (m for m in messages if m.get("contextId", context) == context)
    return b"".join(base64.b64decode(m["audio"]) for m in of_context if m.get("audio"))


def aligned(messages: list[Any]) -> str:
    return "".join("".join(m["alignment"]["chars"]) for m in messages if m.get("alignment"))


def test_a_turn_as_pipecat_speaks_it() -> None:
    talk = multi()
    talk.say(text=" ", context_id="a", voice_settings={"speed": 1.1})
    talk.say(text="Hello there, this is a test.", context_id="a")
    talk.say(text="")
    talk.say(text="Second sentence here.", context_id="a")
    talk.say(context_id="a", flush=True)
    talk.say(context_id="a", close_context=True)
    messages = talk.spoken()
    assert finals(messages) == ["a"] and messages[-1] == {"audio": None, "isFinal": True, "contextId": "a"}
    assert aligned(messages) == " Hello there, this is a test. Second sentence here."
    assert {request.params.speed for request in talk.speech.submitted} == {1.1}
    speech = sum(len(request.text) * 480 + round(request.pause_s * 24_000) for request in talk.speech.submitted)
    assert len(audio(messages)) == 2 * speech
    assert max(len(base64.b64decode(m["audio"])) for m in messages[:-1]) == 2 * 2400


def test_alignments_last_as_long_as_the_audio_but_for_the_silence_behind_it() -> None:
    talk = multi()
    talk.say(text="Hello there, this is a test. And this is more of it.", context_id="a", flush=True)
    talk.say(context_id="a", close_context=True)
    clock = 0
    for message in talk.spoken()[:-1]:
        clock += len(base64.b64decode(message["audio"])) // 48
        if alignment := message["alignment"]:
            starts, durations = alignment["charStartTimesMs"], alignment["charDurationsMs"]
            assert len(alignment["chars"]) == len(starts) == len(durations) > 0
            assert starts == sorted(starts) and min(durations) >= 0
            assert message["normalizedAlignment"] == alignment
            clock -= starts[-1] + durations[-1]
    assert clock == 450


def test_closing_in_the_middle_of_the_text_interrupts() -> None:
    talk = multi()
    talk.say(text="Hello there. ", context_id="a")
    talk.session.settle()
    (request,) = talk.speech.live
    talk.say(context_id="a", close_context=True)
    assert talk.speech.cancelled == [request.request_id]
    assert finals(talk.told()) == ["a"]
    assert talk.spoken() == []


def test_a_second_close_interrupts_and_nothing_follows_the_final_message() -> None:
    talk = multi()
    talk.say(text="Hello there. ", context_id="a", flush=True)
    talk.speech.emit(talk.speech.live[0].request_id, 24_000)
    talk.say(context_id="a", close_context=True)
    assert audio(talk.told())
    talk.say(context_id="a", close_context=True)
    assert talk.told() == [{"audio": None, "isFinal": True, "contextId": "a"}]
    assert talk.spoken() == [] and talk.speech.live == []


def test_closing_at_once_is_an_interruption_too() -> None:
    talk = multi()
    talk.say(text="Hello there. ", context_id="a", flush=True)
    talk.say(context_id="a", close_context=True, immediate=True)
    assert talk.told() == [{"audio": None, "isFinal": True, "contextId": "a"}]


def test_text_for_a_closed_name_is_a_context_after_it() -> None:
    talk = multi()
    for text in ("First of all. ", "After it. "):
        talk.say(text=text, context_id="a", flush=True)
        talk.say(context_id="a", close_context=True)
    messages = talk.spoken() + talk.spoken()
    assert finals(messages) == ["a", "a"]
    assert [request.text for request in talk.speech.submitted] == ["First of all.", "After it."]


def test_only_text_opens_a_context() -> None:
    talk = multi()
    talk.say(text="", context_id="a")
    talk.say(context_id="a", flush=True)
    assert talk.told() == [] and talk.session.contexts == 0
    talk.say(contextId="a", close_context=True)
    assert finals(talk.told()) == ["a"]


def test_text_in_which_there_is_nothing_to_say_is_a_little_silence() -> None:
    talk = multi()
    talk.say(text="...", context_id="a", flush=True)
    talk.say(context_id="a", close_context=True)
    messages = talk.spoken()
    assert audio(messages) == bytes(4800) and aligned(messages) == "..." and finals(messages) == ["a"]


def test_the_socket_closes_when_everything_is_said() -> None:
    talk = multi()
    talk.say(text="Hello there. ", context_id="a")
    talk.say(close_socket=True)
    assert talk.wire.closing is not None and talk.wire.closing.code == 1000
    messages = talk.spoken()
    assert finals(messages) == ["a"] and audio(messages)
    assert talk.session.contexts == 0


def test_quick_interruptions_make_room_for_themselves() -> None:
    talk = multi(SessionLimits(contexts=2))
    for name in "abcdef":
        talk.say(text="Hello there. ", context_id=name, flush=True)
        talk.say(context_id=name, close_context=True)
    messages = talk.spoken()
    assert sorted(finals(messages)) == list("abcdef")
    assert not [message for message in messages if "error" in message]
    assert audio(messages, "f") and audio(messages, "e")


def test_a_failure_is_told_with_its_context_and_the_rest_of_its_text_is_not_another() -> None:
    talk = multi()
    talk.say(text="Hello there. ", context_id="a", flush=True)
    talk.speech.fail("engine_failed")
    first = talk.told()
    talk.say(text="The rest of it. ", context_id="a", flush=True)
    assert [(m.get("error"), m["contextId"]) for m in first] == [("engine_failed", "a"), (None, "a")]
    assert first[-1]["isFinal"] is True
    assert [m.get("error") for m in talk.spoken()] == ["context_failed"]
    talk.say(context_id="a", close_context=True)
    talk.say(text="Once more. ", context_id="a", flush=True)
    assert audio(talk.spoken())


@pytest.mark.parametrize(
    "frame", ["{", "[]", '{"text":1}', '{"flush":"yes"}', b"\xff", '{"voice_settings":{"speed":"x"}}']
)
def test_what_is_no_message_is_an_error_and_nothing_more(frame: str | bytes) -> None:
    talk = multi()
    talk.say(frame)
    (message,) = talk.told()
    assert message["error"] == "bad_message" and message["message"].endswith(".")
    talk.say(text="Hello there. ", context_id="a", flush=True)
    assert audio(talk.spoken())


def test_one_context_as_the_sdk_speaks_it() -> None:
    talk = single()
    talk.say(
        text=" ", try_trigger_generation=True, voice_settings=None, generation_config={"chunk_length_schedule": [50]}
    )
    talk.say(text="Hello there, ", try_trigger_generation=True)
    talk.say(text="my friend. ", try_trigger_generation=True)
    assert talk.wire.closing is None
    talk.say(text="")
    messages = talk.spoken()
    assert messages[-1] == {"audio": None, "isFinal": True}
    assert aligned(messages) == " Hello there, my friend. " and audio(messages)
    assert talk.wire.closing is not None and talk.wire.closing.code == 1000


def test_the_end_without_any_text_is_a_final_message() -> None:
    talk = single()
    talk.say(text="")
    assert talk.told() == [{"audio": None, "isFinal": True}]


def test_a_failure_of_the_only_context_is_the_last_message() -> None:
    talk = single()
    talk.say(text="Hello there. ", flush=True)
    talk.speech.fail("engine_failed")
    assert [message["error"] for message in talk.told()] == ["engine_failed"]
    assert talk.wire.closing is not None and talk.wire.closing.code == 1011


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pcm_16000", AudioFormat("pcm_s16le", 16_000)),
        ("mp3_22050_32", AudioFormat("mp3", 22_050, 32_000)),
        ("opus_48000_64", AudioFormat("ogg_opus", 24_000, 64_000)),
        ("ulaw_8000", AudioFormat("pcm_mulaw", 8_000)),
        ("alaw_8000", AudioFormat("pcm_alaw", 8_000)),
        ("mp3_44100", AudioFormat("mp3", 44_100)),
    ],
)
def test_formats(name: str, expected: AudioFormat) -> None:
    assert audio_format(name) == expected


@pytest.mark.parametrize("name", ["", "mp4_44100", "pcm", "pcm_24000_", "wav_24000 "])
def test_formats_that_there_are_not(name: str) -> None:
    with pytest.raises(Refusal):
        audio_format(name)


# Over a socket.

PATH = "/v1/text-to-speech/{voice}/multi-stream-input?output_format=pcm_24000&auto_mode=true&unknown=1"


async def test_a_key_may_come_in_the_header_the_url_or_the_first_message(serve: Serve) -> None:
    server = await serve(keys=KEY)
    url = server.url + PATH.format(voice="alto")
    text = '{"text":"Hello there. ","context_id":"a","flush":true'
    for address, headers, extra in (
        (url, {"xi-api-key": KEY}, ""),
        (url, {"Authorization": f"Bearer {KEY}"}, ""),
        (f"{url}&authorization=Bearer%20{KEY}", {}, ""),
        (url, {}, f',"xi_api_key":"{KEY}"'),
    ):
        async with connect(address, additional_headers=headers) as socket:
            await socket.send(text + extra + "}")
            assert '"audio":"' in str(await socket.recv())
    with pytest.raises(InvalidStatus, match="401"):
        await connect(url, additional_headers={"xi-api-key": "not-the-key-of-the-house"})
    async with connect(url) as socket:
        await socket.send(text + "}")
        assert "invalid_api_key" in str(await socket.recv())
        with pytest.raises(ConnectionClosed, match="1008"):
            await socket.recv()


async def test_other_services_voices_are_spoken_by_the_same_one_always_unless_it_is_strict(serve: Serve) -> None:
    strict = await serve(strict_voices=True, voice_aliases="hpp4J3VqNfWAUOO0d1Us=bass")
    for voice in ("alto", "hpp4J3VqNfWAUOO0d1Us", "None"):
        async with connect(strict.url + PATH.format(voice=voice)):
            pass
    with pytest.raises(InvalidStatus) as refused:
        await connect(strict.url + PATH.format(voice="21m00Tcm4TlvDq8ikWAM"))
    assert refused.value.response.status_code == 400
    assert b"unknown_voice" in (refused.value.response.body or b"")


async def test_speech_over_http(serve: Serve) -> None:
    server = await serve(keys=KEY)
    async with httpx.AsyncClient(base_url=server.http, headers={"xi-api-key": KEY}) as http:
        body = {"text": "Hello there.", "model_id": "eleven_v2", "voice_settings": {"stability": 0.5}}
        url = "/v1/text-to-speech/alto/stream?output_format=pcm_16000"
        response = await http.post(url, json=body)
        assert response.status_code == 200 and response.headers["content-type"].startswith("audio/")
        assert len(response.content) == 2 * round(16_000 * (12 * 480 / 24_000 + 0.45))
        mp3 = await http.post("/v1/text-to-speech/alto", json=body)
        assert mp3.headers["content-type"] == "audio/mpeg" and mp3.content
        for refused in (
            await http.post(url, json={**body, "text": " "}),
            await http.post(url, content="{"),
            await http.post("/v1/text-to-speech/alto?output_format=mp9_1", json=body),
        ):
            assert refused.status_code == 400 and refused.json()["detail"]["message"]
        denied = await http.post(url, json=body, headers={"xi-api-key": "no"})
        assert denied.status_code == 401 and denied.json()["detail"]["status"] == "invalid_api_key"
