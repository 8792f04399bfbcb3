import hashlib
import importlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import onnxruntime
import pytest

from streaming.embedded.engine import EmbeddedEngine, create
from streaming.embedded.speaker import Piece
from streaming.engine import Chunk, Failed, RequestError, SegmentRequest, SpeechParams, StopReason, Voice
from streaming.silence import THRESHOLD, Samples

RATE = 24000
LONG = "And so it goes on and on, and on it goes for ever, until it stops. " * 4


@pytest.fixture(scope="module")
def engine() -> EmbeddedEngine:
    return create()


def request(text: str, request_id: int = 1, voice: str = "hibari", **params: float) -> SegmentRequest:
    return SegmentRequest(request_id, 0, 0, text, voice, pause_s=0.2, params=SpeechParams(**params))  # type: ignore[arg-type]


def chunks(engine: EmbeddedEngine, request_id: int) -> Iterator[Chunk]:
    while True:
        for chunk in engine.step([request_id]):
            assert isinstance(chunk, Chunk)
            yield chunk
            if chunk.stop:
                return


def drained(engine: EmbeddedEngine, request_id: int) -> bytes:
    return b"".join(chunk.pcm for chunk in chunks(engine, request_id))


def speak(engine: EmbeddedEngine, segment: SegmentRequest) -> Samples:
    engine.start(segment)
    return np.frombuffer(drained(engine, segment.request_id), np.float32)


def test_speech_begins_after_30_ms_and_ends_with_the_pause_asked_for(engine: EmbeddedEngine) -> None:
    samples = speak(engine, request("How are you today?"))
    loud = np.flatnonzero(np.abs(samples) > THRESHOLD)
    assert loud[0] == 0.03 * RATE
    assert samples.size - 1 - loud[-1] == (0.04 + 0.2) * RATE
    assert not samples[-int(0.2 * RATE) :].any()
    assert 0.5 < samples.size / RATE < 1.6


def test_a_long_text_comes_in_several_chunks(engine: EmbeddedEngine) -> None:
    engine.start(request(LONG))
    stops = [chunk.stop for chunk in chunks(engine, 1)]
    assert stops == [None] * 3 + [StopReason.COMPLETE]


def test_speed_is_honoured(engine: EmbeddedEngine) -> None:
    text = "The quick brown fox jumps over the lazy dog."
    slow, fast = (speak(engine, request(text, speed=speed)).size for speed in (0.8, 1.6))
    assert 1.7 < slow / fast < 2.3


def test_the_same_request_gives_the_same_samples_in_any_company(engine: EmbeddedEngine) -> None:
    alone = speak(engine, request(LONG, seed=7))
    engine.start(request("Somebody else speaks.", request_id=2))
    engine.start(request(LONG, seed=7))
    first = engine.step([1])[0]
    engine.step([2])
    assert isinstance(first, Chunk)
    assert first.pcm + drained(engine, 1) == alone.tobytes()


def test_another_seed_gives_other_noise(engine: EmbeddedEngine) -> None:
    assert not np.array_equal(speak(engine, request("Hello.", seed=1)), speak(engine, request("Hello.", seed=2)))


DIGEST = """
import sys, hashlib
from streaming.embedded.engine import create
from streaming.engine import SegmentRequest, SpeechParams
engine = create()
for voice in sys.argv[2:]:
    engine.start(SegmentRequest(1, 0, 0, sys.argv[1], voice, pause_s=0.2, params=SpeechParams(seed=5)))
    digest = hashlib.sha256()
    stop = None
    while not stop:
        for chunk in engine.step([1]):
            digest.update(chunk.pcm)
            stop = chunk.stop
    print(digest.hexdigest())
"""


def test_the_same_request_gives_the_same_samples_in_another_process(engine: EmbeddedEngine) -> None:
    text, voices = "It stopped. 然后继续。", ["hibari", "zm_yunxi"]
    here = [hashlib.sha256(speak(engine, request(text, voice=voice, seed=5)).tobytes()).hexdigest() for voice in voices]
    command = [sys.executable, "-c", DIGEST, text, *voices]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == here


@pytest.mark.parametrize("voice", ["zf_xiaobei", "zm_yunxi", "am_michael", "bf_emma"])
def test_a_voice_speaks_both_languages_in_one_signal(engine: EmbeddedEngine, voice: str) -> None:
    samples = speak(engine, request("听 music。", voice=voice))
    loud = np.flatnonzero(np.abs(samples) > THRESHOLD)
    assert loud[0] == 0.03 * RATE
    assert 0.5 < samples.size / RATE < 2
    assert 0.1 < np.abs(samples).max() <= 1


def test_chinese_comes_in_windows_without_a_jump_where_they_join(engine: EmbeddedEngine) -> None:
    engine.start(request("我们明天早上八点见面。", voice="zf_xiaobei"))
    parts = [np.frombuffer(chunk.pcm, np.float32) for chunk in chunks(engine, 1)]
    assert len(parts) > 2
    usual = np.abs(np.diff(np.concatenate(parts))).max()
    for one, other in pairwise(parts):
        assert abs(other[0] - one[-1]) <= usual / 2


def test_a_voice_without_chinese_leaves_it_to_one_that_has_it(engine: EmbeddedEngine) -> None:
    whole = speak(engine, request("Hello. 你好。"))
    english, chinese = speak(engine, request("Hello. ")), speak(engine, request("你好。", voice="zm_yunxi"))
    pause, gap = round(0.2 * RATE), round(0.35 * RATE)
    assert np.array_equal(whole, np.concatenate([english[:-pause], np.zeros(gap, np.float32), chinese]))


def test_digits_are_read_in_the_language_of_the_request(engine: EmbeddedEngine) -> None:
    number = replace(request("42"), language="zh-CN")
    assert np.array_equal(speak(engine, number), speak(engine, request("四十二", voice="zm_yunxi")))


@pytest.mark.parametrize(
    ("segment", "code", "sentence"),
    [
        (request("Hello.", voice="nobody"), "unknown_voice", "There is no voice 'nobody'; this engine has hibari"),
        (request(" \n"), "empty_text", "The segment has no text."),
        (request("((()))"), "nothing_to_say", "The voice 'hibari' finds nothing to say in this text."),
    ],
)
def test_what_cannot_be_spoken_is_refused_with_a_sentence(
    engine: EmbeddedEngine, segment: SegmentRequest, code: str, sentence: str
) -> None:
    with pytest.raises(RequestError) as refused:
        engine.start(segment)
    assert refused.value.code == code
    assert str(refused.value).startswith(sentence)
    engine.cancel(segment.request_id)


class Stub:
    """A speaker that does what a test says."""

    def __init__(self, samples: Samples) -> None:
        self.samples = samples
        self.started = threading.Event()

    def pieces(self, text: str, language: str) -> list[Piece]:
        return [Piece(word, partial(StubSpeech, self, word)) for word in text.split()]


class StubSpeech:
    def __init__(self, stub: Stub, word: str, params: SpeechParams) -> None:
        self.stub = stub
        self.word = word
        self.done = False

    def advance(self, options: onnxruntime.RunOptions) -> Samples:
        if self.word == "broken":
            raise RuntimeError("no memory")
        if self.word == "endless":
            self.stub.started.set()
            while not options.terminate:
                pass
            self.word = "word"
            raise RuntimeError("terminated")
        self.done = True
        return self.stub.samples


STUB = Voice("stub", ("en",), "female", "CC0-1.0")


def stubbed(samples: list[float], slots: int = 2) -> EmbeddedEngine:
    return EmbeddedEngine({STUB: Stub(np.array(samples, np.float32))}, slots)


def test_samples_that_are_no_numbers_become_silence_and_are_counted() -> None:
    engine = stubbed([0.5, float("nan"), 2.0])
    samples = speak(engine, request("word", voice="stub"))
    assert samples[720:723].tolist() == [0.5, 0.0, 1.0]
    assert engine.lost_samples == 1


def test_a_failing_model_ends_the_request_and_frees_the_slot() -> None:
    engine = stubbed([0.5], slots=1)
    engine.start(request("broken", voice="stub"))
    assert engine.step([1]) == [Failed(1, "synthesis_failed", "The model failed: no memory")]
    engine.start(request("word", voice="stub"))


def test_no_request_is_taken_without_a_slot() -> None:
    engine = stubbed([0.5], slots=1)
    engine.start(request("word", voice="stub"))
    with pytest.raises(RequestError) as refused:
        engine.start(request("word", request_id=2, voice="stub"))
    assert refused.value.code == "no_slot"
    engine.cancel(1)
    engine.start(request("word", request_id=2, voice="stub"))


def test_interrupt_ends_the_running_call_and_no_other_and_the_call_can_be_made_again() -> None:
    stub = Stub(np.array([0.5], np.float32))
    engine = EmbeddedEngine({STUB: stub}, 2)
    engine.start(request("endless", voice="stub"))

    def interrupt() -> None:
        stub.started.wait()
        engine.interrupt(2)
        engine.interrupt(1)

    thread = threading.Thread(target=interrupt)
    thread.start()
    assert engine.step([1]) == []
    thread.join()
    (chunk,) = engine.step([1])
    assert isinstance(chunk, Chunk)
    assert chunk.stop is StopReason.COMPLETE


def test_interrupt_ends_a_running_model_which_can_go_on_then(engine: EmbeddedEngine) -> None:
    undisturbed = speak(engine, request("早上好。", voice="zf_xiaobei"))
    engine.start(request("早上好。", voice="zf_xiaobei"))
    assert [engine.step([1]), engine.step([1])] == [[], []]  # the plan and its hidden frames have no samples
    stepped = threading.Event()

    def interrupt() -> None:
        while not stepped.wait(0.005):
            engine.interrupt(1)

    thread = threading.Thread(target=interrupt)
    thread.start()
    assert engine.step([1]) == []
    stepped.set()
    thread.join()
    assert drained(engine, 1) == undisturbed.tobytes()


def test_interrupt_and_cancel_of_nothing_do_nothing() -> None:
    engine = stubbed([0.5])
    engine.interrupt(1)
    engine.cancel(1)


def test_info_lists_the_voices(engine: EmbeddedEngine) -> None:
    assert (engine.info.sample_rate, engine.info.slots, engine.info.batch) == (RATE, 64, 1)
    assert engine.info.default_voice == "hibari"
    assert engine.info.voices[0].languages == ("en-US",)


@pytest.fixture(scope="module")
def asr() -> Any:
    """The recogniser of the dependency group `judge`."""
    pytest.importorskip("faster_whisper")
    return importlib.import_module("streaming.judge")


@pytest.mark.parametrize(
    "text",
    [
        "Please remember to bring your umbrella tomorrow morning.",
        "The old bridge was closed for repairs last winter, and the children were playing happily in the park.",
    ],
)
def test_english_is_heard_word_for_word(engine: EmbeddedEngine, asr: Any, text: str) -> None:
    assert asr.word_error_rate(speak(engine, request(text)), RATE, text) == 0


@pytest.mark.parametrize(
    ("voice", "text"), [("zf_xiaobei", "他在 Google 工作了三年。"), ("zm_yunxi", "今天天气怎么样？")]
)
def test_chinese_is_heard_character_for_character(engine: EmbeddedEngine, asr: Any, voice: str, text: str) -> None:
    assert asr.character_error_rate(speak(engine, request(text, voice=voice)), RATE, text) == 0


def test_the_recogniser_hears_what_is_missing(engine: EmbeddedEngine, asr: Any) -> None:
    text = "The museum is open from nine until five."
    samples = speak(engine, request(text))
    assert asr.word_error_rate(samples[: samples.size // 2], RATE, text) > 0.3
