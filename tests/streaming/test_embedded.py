import hashlib
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import onnxruntime
import pytest

from streaming.embedded.engine import EmbeddedEngine, create
from streaming.embedded.silence import THRESHOLD, Samples
from streaming.engine import Chunk, Failed, RequestError, SegmentRequest, SpeechParams, StopReason, Voice

RATE = 24000
LONG = "And so it goes on and on, and on it goes for ever, until it stops. " * 4


@pytest.fixture(scope="module")
def engine() -> EmbeddedEngine:
    return create()


def request(text: str, request_id: int = 1, voice: str = "hibari", **params: float) -> SegmentRequest:
    return SegmentRequest(request_id, 0, 0, text, voice, pause_s=0.2, params=SpeechParams(**params))  # type: ignore[arg-type]


def chunks(engine: EmbeddedEngine, segment: SegmentRequest) -> Iterator[Chunk]:
    engine.start(segment)
    while True:
        (chunk,) = engine.step([segment.request_id])
        assert isinstance(chunk, Chunk)
        yield chunk
        if chunk.stop:
            return


def speak(engine: EmbeddedEngine, segment: SegmentRequest) -> Samples:
    return np.frombuffer(b"".join(chunk.pcm for chunk in chunks(engine, segment)), np.float32)


def test_speech_begins_after_30_ms_and_ends_with_the_pause_asked_for(engine: EmbeddedEngine) -> None:
    samples = speak(engine, request("How are you today?"))
    loud = np.flatnonzero(np.abs(samples) > THRESHOLD)
    assert loud[0] == 0.03 * RATE
    assert samples.size - 1 - loud[-1] == (0.04 + 0.2) * RATE
    assert not samples[-int(0.2 * RATE) :].any()
    assert 0.5 < samples.size / RATE < 1.6


def test_a_long_text_comes_in_several_chunks(engine: EmbeddedEngine) -> None:
    stops = [chunk.stop for chunk in chunks(engine, request(LONG))]
    assert stops == [None] * 3 + [StopReason.COMPLETE]


def test_speed_is_honoured(engine: EmbeddedEngine) -> None:
    text = "The quick brown fox jumps over the lazy dog."
    slow, fast = (speak(engine, request(text, speed=speed)).size for speed in (0.8, 1.6))
    assert 1.7 < slow / fast < 2.3


def test_the_same_request_gives_the_same_samples_in_any_company(engine: EmbeddedEngine) -> None:
    alone = speak(engine, request(LONG, seed=7))
    engine.start(request("Somebody else speaks.", request_id=2))
    engine.start(request(LONG, seed=7))
    parts: list[bytes] = []
    while True:
        engine.step([2]) if len(parts) == 1 else None
        (chunk,) = engine.step([1])
        assert isinstance(chunk, Chunk)
        parts.append(chunk.pcm)
        if chunk.stop:
            break
    assert b"".join(parts) == alone.tobytes()


def test_another_seed_gives_other_noise(engine: EmbeddedEngine) -> None:
    assert not np.array_equal(speak(engine, request("Hello.", seed=1)), speak(engine, request("Hello.", seed=2)))


DIGEST = """
import sys, hashlib
from streaming.embedded.engine import create
from streaming.engine import SegmentRequest, SpeechParams
engine = create()
engine.start(SegmentRequest(1, 0, 0, sys.argv[1], sys.argv[2], pause_s=0.2, params=SpeechParams(seed=5)))
digest = hashlib.sha256()
while True:
    (chunk,) = engine.step([1])
    digest.update(chunk.pcm)
    if chunk.stop:
        break
print(digest.hexdigest())
"""


def test_the_same_request_gives_the_same_samples_in_another_process(engine: EmbeddedEngine) -> None:
    text = "It was killed, and it went on where it had stopped."
    here = hashlib.sha256(speak(engine, request(text, seed=5)).tobytes()).hexdigest()
    there = subprocess.run(
        [sys.executable, "-c", DIGEST, text, "hibari"], capture_output=True, text=True, check=True
    ).stdout
    assert there.strip() == here


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

    def pieces(self, text: str) -> list[str]:
        return text.split()

    def speak(self, phonemes: str, params: SpeechParams, options: onnxruntime.RunOptions) -> Samples:
        if phonemes == "broken":
            raise RuntimeError("no memory")
        if phonemes == "endless":
            self.started.set()
            while not options.terminate:
                pass
            raise RuntimeError("terminated")
        return self.samples

    started = threading.Event()


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


def test_interrupt_ends_the_running_call_and_no_other() -> None:
    engine = stubbed([0.5])
    engine.start(request("endless", voice="stub"))

    def interrupt() -> None:
        Stub.started.wait()
        engine.interrupt(2)
        engine.interrupt(1)

    thread = threading.Thread(target=interrupt)
    thread.start()
    assert engine.step([1]) == []
    thread.join()
    engine.cancel(1)


def test_interrupt_and_cancel_of_nothing_do_nothing() -> None:
    engine = stubbed([0.5])
    engine.interrupt(1)
    engine.cancel(1)


def test_info_lists_the_voices(engine: EmbeddedEngine) -> None:
    assert (engine.info.sample_rate, engine.info.slots, engine.info.batch) == (RATE, 64, 1)
    assert engine.info.default_voice == "hibari"
    assert engine.info.voices[0].languages == ("en-US",)
