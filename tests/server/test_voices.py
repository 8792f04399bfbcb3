"""Voices by name, by other names, and for the ids of other services."""

import logging
from dataclasses import replace

import pytest

from firstword.protocol import ErrorCode
from server.host import Refusal
from server.voices import VoiceRegistry
from streaming.engine import Voice
from tests.doubles import INFO, VOICES

DRAWN = replace(INFO, voices=(Voice("seed:2", ("en", "zh"), "", "CC BY-NC 4.0"),), default_voice="seed:2")


def test_names_and_aliases_are_found() -> None:
    voices = VoiceRegistry(lambda: INFO, {"alloy": "bass"})
    assert voices.resolve(None) == VOICES[0]
    assert voices.resolve("bass") == voices.resolve("alloy") == VOICES[1]
    assert voices.match("alloy") == voices.match("bass") == "bass"


def test_who_names_no_voice_gets_the_default() -> None:
    voices = VoiceRegistry(lambda: INFO, strict=True)
    assert {voices.match(name) for name in (None, "", "None", "default")} == {"alto"}


@pytest.mark.parametrize("name", ["hpp4J3VqNfWAUOO0d1Us", "../etc/passwd", "\ud800", "x" * 10_000])
def test_an_id_from_elsewhere_has_a_voice_that_stays(name: str) -> None:
    first, after_a_restart = (VoiceRegistry(lambda: INFO).match(name) for _ in range(2))
    assert first == after_a_restart == "alto"
    with pytest.raises(Refusal):
        VoiceRegistry(lambda: INFO).resolve(name)


def test_the_default_speaks_for_ids_where_no_voices_are_drawn() -> None:
    bass = replace(INFO, default_voice="bass")
    assert {VoiceRegistry(lambda: bass).match(f"voice-{n}") for n in range(50)} == {"bass"}


def test_a_stand_in_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    voices = VoiceRegistry(lambda: INFO)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            voices.match("aura-2-thalia-en")
    (record,) = caplog.records
    assert vars(record)["asked"] == "aura-2-thalia-en" and vars(record)["spoken_by"] == "alto"


def test_strictness_refuses_what_has_no_alias() -> None:
    voices = VoiceRegistry(lambda: INFO, {"alloy": "bass"}, strict=True)
    assert voices.match("alloy") == "bass"
    with pytest.raises(Refusal) as refused:
        voices.match("nova")
    assert refused.value.code is ErrorCode.UNKNOWN_VOICE


def test_an_engine_that_draws_voices_draws_one_for_each_id() -> None:
    voices = VoiceRegistry(lambda: DRAWN)
    assert voices.resolve("seed:7").name == voices.match("seed:7") == "seed:7"
    drawn = {voices.match(f"voice-{n}") for n in range(20)}
    assert len(drawn) == 20 and all(voices.resolve(name).name == name for name in drawn)
    with pytest.raises(Refusal):
        voices.resolve("seed:x")
