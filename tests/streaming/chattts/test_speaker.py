"""Voices survive their strings, in both directions with upstream."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streaming.chattts import speaker
from tests.streaming.chattts.conftest import torch

pytest.importorskip("pybase16384")


@pytest.fixture(scope="module")
def statistics() -> speaker.Statistics:
    pytest.importorskip("ChatTTS", exc_type=ImportError)
    return speaker.Statistics.released()


def test_a_seed_is_one_voice_for_ever(statistics: speaker.Statistics) -> None:
    vector = speaker.draw(2, statistics)
    assert vector.shape == (768,)
    assert vector[:4].tolist() == speaker.draw(2, statistics)[:4].tolist()
    assert not np.array_equal(vector, speaker.draw(3, statistics))
    assert np.array_equal(vector[:128], speaker.draw(2, statistics, 128))


def test_draws_follow_the_statistics(statistics: speaker.Statistics) -> None:
    vectors = np.stack([speaker.draw(seed, statistics) for seed in range(200)]).astype(np.float32)
    normal = (vectors - statistics.mean) / statistics.std
    assert abs(float(normal.mean())) < 0.01
    assert float(normal.std()) == pytest.approx(1.0, abs=0.01)


def test_strings_are_upstreams(upstream: Any, statistics: speaker.Statistics) -> None:
    theirs = upstream.model.Speaker(768, upstream.config.Config().spk_stat)
    text = theirs.sample_random()
    vector = speaker.decode(text, 768)
    assert np.array_equal(vector, theirs._decode(text))
    assert speaker.encode(vector) == text
    assert np.array_equal(statistics.std, theirs.std.numpy())
    assert np.array_equal(statistics.mean, theirs.mean.numpy())


def test_audio_prompts_are_upstreams(upstream: Any) -> None:
    codes = np.random.default_rng(0).integers(0, 626, (4, 33)).astype(np.uint16)
    text = upstream.model.Speaker.encode_prompt(torch.from_numpy(codes.astype(np.int32)))
    assert speaker.encode_sample(codes) == text
    assert np.array_equal(speaker.decode_sample(text), codes)


def test_files(tmp_path: Path, statistics: speaker.Statistics) -> None:
    vector = speaker.draw(5, statistics)
    speaker.save(tmp_path, "anna", vector)
    voices = speaker.read_folder(tmp_path, 768)
    assert list(voices) == ["anna"]
    assert np.array_equal(voices["anna"], vector)


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a.b"])
def test_names_are_not_paths(tmp_path: Path, statistics: speaker.Statistics, name: str) -> None:
    with pytest.raises(ValueError, match="can't name a voice"):
        speaker.save(tmp_path, name, speaker.draw(5, statistics))


@pytest.mark.parametrize("text", ["", "hello", "你好" * 20, "\u8fff", "一二三"])
def test_what_is_no_speaker_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="speaker"):
        speaker.decode(text, 768)


def test_another_size_is_refused(statistics: speaker.Statistics) -> None:
    with pytest.raises(ValueError, match="has 100 values; the model takes 768"):
        speaker.decode(speaker.encode(speaker.draw(1, statistics, 100)), 768)


def test_a_bad_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "bob.txt").write_text("not a speaker")
    with pytest.raises(ValueError, match=r"bob\.txt: this is not a speaker string"):
        speaker.read_folder(tmp_path, 768)


def test_a_cut_audio_prompt_is_refused() -> None:
    codes = np.arange(40, dtype=np.uint16).reshape(4, 10)
    text = speaker.encode_sample(codes)
    with pytest.raises(ValueError, match=r"cut short|damaged"):
        speaker.decode_sample(text[: len(text) // 2])
