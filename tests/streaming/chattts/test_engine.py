"""Segments in, PCM out, through the whole engine on tiny weights."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streaming.chattts import speaker
from streaming.chattts.cpu_model import CpuGpt
from streaming.chattts.duration import longest_tokens
from streaming.chattts.engine import ChatTtsEngine, build, speed_level
from streaming.chattts.options import Options
from streaming.chattts.vocoder import Decoded, Row, Vocoder
from streaming.engine import Chunk, Engine, Pace, RequestError, SegmentRequest, SpeechParams, StopReason

pytest.importorskip("ChatTTS", exc_type=ImportError)

TEXT = "hello world"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> ChatTtsEngine:
    folder = tmp_path_factory.mktemp("voices")
    speaker.save(folder, "anna", speaker.draw(9, speaker.Statistics.released(), 128))
    return build(weights="random-tiny:3", slots=3, length=384, speakers=str(folder))


def request(number: int, text: str = TEXT, **more: Any) -> SegmentRequest:
    return SegmentRequest(number, 1, 0, text, more.pop("voice", "seed:2"), **more)


@dataclass(frozen=True)
class Spoken:
    """All that came of a request."""

    pcm: Any
    stop: StopReason
    pieces: int


def speak(engine: Engine, *requests: SegmentRequest) -> dict[int, Spoken]:
    for each in requests:
        engine.start(each)
    running, parts, made = [each.request_id for each in requests], defaultdict[int, list[bytes]](list), {}
    while running:
        for item in engine.step(running):
            assert isinstance(item, Chunk)
            parts[item.request_id].append(item.pcm)
            if item.stop:
                whole = np.frombuffer(b"".join(parts[item.request_id]), "<f4")
                made[item.request_id] = Spoken(whole, item.stop, len(parts[item.request_id]))
                running.remove(item.request_id)
    return made


def test_it_is_an_engine(engine: ChatTtsEngine) -> None:
    contract: Engine = engine
    assert contract.info.sample_rate == 24_000
    assert (contract.info.slots, contract.info.batch) == (3, 3)
    assert [voice.name for voice in contract.info.voices] == ["seed:2", "anna"]
    assert contract.info.default_voice == "seed:2"


def test_a_segment_is_spoken(engine: ChatTtsEngine) -> None:
    made = speak(engine, request(1))[1]
    samples = made.pcm
    assert made.stop in {StopReason.COMPLETE, StopReason.LENGTH}
    assert made.pieces > 2
    assert 0 < len(samples) <= 512 * longest_tokens(TEXT)
    assert float(samples.std()) > 1e-3


def test_a_request_repeats_in_any_company(engine: ChatTtsEngine) -> None:
    lone = speak(engine, request(1))[1]
    crowd = speak(
        engine, request(5, "something else that is longer"), request(1), request(6, "你好,世界", voice="anna")
    )
    same(crowd[1], lone)
    same(speak(engine, request(1))[1], lone)


def same(one: Spoken, other: Spoken) -> None:
    """Tokens are the same bit for bit; products of the vocoder round differently in company."""
    assert (one.stop, one.pcm.shape) == (other.stop, other.pcm.shape)
    np.testing.assert_allclose(one.pcm, other.pcm, rtol=0, atol=1e-5)


def test_without_haste_it_is_the_same_signal_in_fewer_pieces(engine: ChatTtsEngine) -> None:
    live, file = (speak(engine, request(1, pace=pace))[1] for pace in (Pace.REALTIME, Pace.FAST))
    assert live.pcm.shape == file.pcm.shape
    assert live.pieces > file.pieces
    late = 24_000 * 4
    np.testing.assert_allclose(live.pcm[late:-2000], file.pcm[late:-2000], rtol=0, atol=0.05)
    assert float(np.linalg.norm(live.pcm - file.pcm)) < 0.02 * float(np.linalg.norm(file.pcm))


def test_it_is_warm_when_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of every size were stepped and the first and the last sound was made; no slot is left taken."""
    rows: list[int] = []
    pieces: list[bool] = []
    forward, decode = CpuGpt.forward, Vocoder.decode

    def stepped(gpt: CpuGpt, embeddings: Any, slots: Any, positions: Any) -> Any:
        rows.append(len(set(slots)))
        return forward(gpt, embeddings, slots, positions)

    def decoded(vocoder: Vocoder, asked: list[Row]) -> list[Decoded]:
        pieces.extend(row.last for row in asked)
        return decode(vocoder, asked)

    monkeypatch.setattr(CpuGpt, "forward", stepped)
    monkeypatch.setattr(Vocoder, "decode", decoded)
    warm = build(weights="random-tiny:3", slots=4, length=128)
    assert set(rows) == {1, 2, 3, 4}
    assert set(pieces) == {False, True}
    assert len(speak(warm, *map(request, range(4)))) == 4


def test_weights_that_give_no_sound_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    forward = CpuGpt.forward
    monkeypatch.setattr(CpuGpt, "forward", lambda *given: forward(*given) * np.float32(np.nan))
    with pytest.raises(RuntimeError, match="not a number; check the weights"):
        build(weights="random-tiny:3", slots=1, length=128)


def test_seed_voice_and_text_matter(engine: ChatTtsEngine) -> None:
    plain = speak(engine, request(1))[1].pcm
    for other in (
        request(1, params=SpeechParams(seed=1)),
        request(1, voice="seed:3"),
        request(1, voice="anna"),
        request(1, "hello word"),
        request(1, params=SpeechParams(speed=0.8)),
        request(1, params=SpeechParams(options=(("temperature", 0.9),))),
        request(1, params=SpeechParams(options=(("temperature", (0.3, 0.3, 0.3, 0.9)),))),
        request(1, params=SpeechParams(options=(("top_k", 3),))),
        request(1, params=SpeechParams(options=(("top_p", 0.01),))),
        request(1, params=SpeechParams(options=(("repetition_penalty", 2.0),))),
    ):
        assert not np.array_equal(speak(engine, other)[1].pcm, plain)


def test_parameters_are_the_requests_own(engine: ChatTtsEngine) -> None:
    """What the engine lists is what it takes, its defaults change nothing, and a neighbour's values touch nobody."""
    plain = speak(engine, request(1))[1]
    defaults = tuple((parameter.name, parameter.default) for parameter in engine.info.parameters)
    assert [name for name, _ in defaults] == ["temperature", "top_p", "top_k", "repetition_penalty", "min_tokens"]
    wild = SpeechParams(options=(("temperature", 1.5), ("top_k", 600), ("top_p", 1.0)))
    crowd = speak(engine, request(1, params=SpeechParams(options=defaults)), request(2, params=wild))
    same(crowd[1], plain)


def test_min_tokens_hold_back_the_end(engine: ChatTtsEngine) -> None:
    longest = SpeechParams(options=(("min_tokens", 2048), ("temperature", 2.0), ("top_p", 1.0), ("top_k", 626)))
    assert speak(engine, request(1, params=longest))[1].stop is StopReason.LENGTH


def test_the_pause_is_exact(engine: ChatTtsEngine) -> None:
    short, long = (speak(engine, request(1, pause_s=pause))[1].pcm for pause in (0.0, 0.25))
    assert len(long) - len(short) == 6000
    assert not long[-6000:].any()
    assert abs(short[-1200:]).max() > 0


def test_cancel_frees_the_slot(engine: ChatTtsEngine) -> None:
    for number in range(3):
        engine.start(request(number))
    with pytest.raises(RequestError, match="all slots are taken"):
        engine.start(request(3))
    engine.step([0, 1])
    for number in range(3):
        engine.cancel(number)
    assert len(speak(engine, request(1), request(2), request(3))) == 3


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"voice": "bob"}, "unknown_voice"),
        ({"voice": "seed:x"}, "unknown_voice"),
        ({"voice": "../../etc/passwd"}, "unknown_voice"),
        ({"params": SpeechParams(speed=3)}, "invalid_speed"),
        ({"params": SpeechParams(speed=0)}, "invalid_speed"),
        ({"params": SpeechParams(speed=float("nan"))}, "invalid_speed"),
        ({"params": SpeechParams(options=(("heat", 1),))}, "invalid_params"),
        ({"params": SpeechParams(options=(("top_k", 0),))}, "invalid_params"),
        ({"text": "word " * 500}, "text_too_long"),
    ],
)
def test_what_cannot_be_spoken_is_refused(engine: ChatTtsEngine, changed: dict[str, Any], code: str) -> None:
    with pytest.raises(RequestError) as refused:
        engine.start(request(1, **changed))
    assert refused.value.code == code
    assert speak(engine, request(2))


def test_speeds() -> None:
    assert [speed_level(speed) for speed in (0.05, 0.5, 1.0, 1.2, 1.8, 2.0)] == [0, 2, 5, 6, 9, 9]


def test_long_texts_take_longer() -> None:
    assert longest_tokens("") == 71
    assert longest_tokens("你好") - longest_tokens("") == pytest.approx(2 * 0.45 * 46.875, abs=1)
    assert longest_tokens("x" * 100) == pytest.approx((1.5 + 13) * 46.875, abs=1)
    assert longest_tokens("x" * 100, 0.5) > 1.8 * longest_tokens("x" * 100)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"precision": "int4"}, "precision is one of fp32, bf16, int8"),
        ({"device": "tpu"}, "device is cpu, cuda"),
        ({"device": "cuda"}, "int8 runs on a CPU only"),
        ({"slots": 0}, "slots must be"),
        ({"length": 10}, "length must be from 128"),
        ({"vocoder": "int8"}, "vocoder is one of fp32, bf16"),
        ({"lookahead": "53"}, "lookahead must be from 1 to 52"),
        ({"lookahead": "-1"}, "lookahead is a number of tokens, exact or auto"),
    ],
)
def test_options_are_checked(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Options("random-tiny:0", **options)


def test_voices_of_another_size_are_refused(tmp_path: Path) -> None:
    speaker.save(tmp_path, "big", speaker.draw(9, speaker.Statistics.released()))
    with pytest.raises(ValueError, match=r"big\.txt: this speaker has 768 values; the model takes 128"):
        build(weights="random-tiny:3", slots=1, length=128, speakers=str(tmp_path))
