"""The `elevenlabs` SDK, unmodified, against a server of ours."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from elevenlabs import ElevenLabs, VoiceSettings

from tests.clients.snippets import run_snippet
from tests.clients.spoken import assert_same, spoken
from tests.conftest import Serve

TURN = "Hello there, my friend. How are you today?"
LONG = "This is a long answer, and it goes on and on. " * 40


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """The server's options for TLS; clients trust it. The SDK's socket speaks nothing but TLS."""
    authority = trustme.CA()
    files = {"tls_cert": tmp_path / "server.pem", "tls_key": tmp_path / "server.key"}
    issued = authority.issue_cert("127.0.0.1")
    issued.private_key_pem.write_to_path(files["tls_key"])
    for pem in issued.cert_chain_pems:
        pem.write_to_path(files["tls_cert"], append=True)
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    return files


def words(text: str) -> Iterator[str]:
    for word in text.split(" "):
        yield f"{word} "


async def test_three_turns_over_tls(serve: Serve, certificate: dict[str, Path]) -> None:
    server = await serve({"samples_per_step": 480}, **certificate)
    client = ElevenLabs(api_key="any", base_url=server.url.replace("ws", "https", 1))

    def turn(text: str) -> Any:
        return client.text_to_speech.convert_realtime(
            "hibari", text=words(text), model_id="eleven_turbo_v2_5", output_format="pcm_24000"
        )

    def interrupted() -> bytes:
        audio = turn(LONG)
        heard = next(audio)
        audio.close()
        return heard

    plain = await serve()
    heard = await asyncio.to_thread(lambda: b"".join(turn(TURN)))
    assert_same(heard, await spoken(plain, f"{TURN} "))
    cut = await asyncio.to_thread(interrupted)
    assert_same(cut, (await spoken(plain, LONG))[: len(cut)])
    heard = await asyncio.to_thread(lambda: b"".join(turn("Once more, then.")))
    assert_same(heard, await spoken(plain, "Once more, then. "))
    async with asyncio.timeout(5):
        while server.edge.pool.streams:
            await asyncio.sleep(0.01)


async def test_a_speed_a_telephone_and_a_key(serve: Serve) -> None:
    server = await serve(keys="the-key-of-the-house")

    def turn(key: str, **settings: float) -> bytes:
        client = ElevenLabs(api_key=key, base_url=server.http)
        client.text_to_speech._ws_base_url = server.url
        return b"".join(
            client.text_to_speech.convert_realtime(
                "hibari",
                text=words(TURN),
                output_format="ulaw_8000",
                voice_settings=VoiceSettings(**settings) if settings else None,
            )
        )

    slow = await asyncio.to_thread(turn, "the-key-of-the-house", speed=0.8)
    assert len(slow) > 8000
    with pytest.raises(Exception, match="401"):
        await asyncio.to_thread(turn, "another-key-altogether")


async def test_the_voices_are_listed(serve: Serve) -> None:
    server = await serve()
    client = ElevenLabs(api_key="any", base_url=server.http)
    voices = (await asyncio.to_thread(client.voices.get_all)).voices
    assert [(voice.voice_id, voice.name, voice.labels) for voice in voices] == [
        ("alto", "alto", {"language": "en", "gender": "female"}),
        ("bass", "bass", {"language": "en, zh", "gender": "male"}),
    ]


async def test_an_unknown_format_is_an_error_not_a_silence(serve: Serve) -> None:
    server = await serve()

    def turn() -> bytes:
        client = ElevenLabs(api_key="any", base_url=server.http)
        client.text_to_speech._ws_base_url = server.url
        return b"".join(client.text_to_speech.convert_realtime("hibari", text=words(TURN), output_format="mp4_44100"))

    with pytest.raises(Exception, match="400"):
        await asyncio.to_thread(turn)


async def test_the_snippet(serve: Serve, certificate: dict[str, Path], tmp_path: Path) -> None:
    server = await serve(**certificate)
    await run_snippet("elevenlabs", tmp_path, http=server.http.removeprefix("http://"))
    assert len((tmp_path / "hello.mp3").read_bytes()) > 10_000
