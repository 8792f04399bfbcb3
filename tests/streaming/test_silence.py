import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from streaming.silence import THRESHOLD, Samples, Trimmer, repair, silence, trim

RATE = 1000
LEAD, DECAY = 30, 40

_levels = st.floats(-1, 1, width=32)
_signals = arrays.arrays(np.float32, st.integers(0, 300), elements=_levels)
_quiet = arrays.arrays(np.float32, st.integers(0, 300), elements=st.floats(-(2**-9), 2**-9, width=32))


def loud(samples: Samples) -> list[int]:
    return np.flatnonzero(np.abs(samples) > THRESHOLD).tolist()


def test_trim_leaves_30_ms_before_and_40_ms_behind() -> None:
    speech = np.zeros(500, np.float32)
    speech[200:300] = 0.5
    assert loud(trim(speech, RATE)) == list(range(LEAD, LEAD + 100))
    assert trim(speech, RATE).size == LEAD + 100 + DECAY


def test_trim_adds_what_the_model_did_not_leave() -> None:
    speech = np.full(10, 0.5, np.float32)
    rise = [0.0, 0.1, 0.2, 0.3, 0.4]
    expected = [0.0] * (LEAD - 5) + rise + [0.5] * 10 + rise[::-1] + [0.0] * (DECAY - 5)
    np.testing.assert_allclose(trim(speech, RATE), expected, atol=1e-7)


@given(arrays.arrays(np.float32, st.integers(1, 60), elements=st.floats(2**-7, 1, width=32)), st.booleans())
def test_what_begins_or_ends_loud_is_no_step(samples: Samples, down: bool) -> None:
    trimmed = trim(-samples if down else samples, RATE)
    assert trimmed.size == LEAD + samples.size + DECAY
    for edge in (trimmed[: LEAD + 1], trimmed[-DECAY - 1 :]):
        assert np.abs(np.diff(edge)).max() <= 0.21


def test_trim_fades_only_the_edges() -> None:
    hum = np.full(500, 0.003, np.float32)
    hum[200:300] = 0.5
    trimmed = trim(hum, RATE)
    assert trimmed[0] == trimmed[-1] == 0
    assert np.array_equal(trimmed[1:-20], hum[200 - LEAD + 1 : 300 + DECAY - 20])
    assert np.all(np.diff(trimmed[-20:]) <= 0)


@given(_quiet, _signals, _quiet)
def test_trim_keeps_every_sample_between_the_first_and_the_last_loud_one(
    before: Samples, speech: Samples, after: Samples
) -> None:
    trimmed = trim(np.concatenate([before, speech, after]), RATE)
    places = loud(speech)
    if not places:
        assert trimmed.size == 0
        return
    inside = speech[places[0] : places[-1] + 1]
    assert np.array_equal(trimmed[LEAD:-DECAY], inside)


@given(_quiet, _signals)
def test_trim_changes_nothing_that_is_trimmed_but_the_fades(quiet: Samples, samples: Samples) -> None:
    margin = np.zeros(DECAY, np.float32)
    once = trim(np.concatenate([margin, samples, quiet, margin]), RATE)
    twice = trim(once, RATE)
    assert twice.size == once.size
    assert np.array_equal(twice[1:-20], once[1:-20])


@pytest.mark.parametrize(("seconds", "count"), [(0.0, 0), (0.25, 250), (0.0005, 0), (0.0016, 2), (-1.0, 0)])
def test_silence_is_counted_exactly(seconds: float, count: int) -> None:
    assert silence(seconds, RATE).tolist() == [0.0] * count


def test_repair_silences_what_is_no_number_and_clips_without_gain() -> None:
    samples = np.array([0.5, np.nan, np.inf, -np.inf, 1.5, -1.5, -0.25], np.float32)
    repaired, lost = repair(samples)
    assert repaired.tolist() == [0.5, 0.0, 0.0, 0.0, 1.0, -1.0, -0.25]
    assert lost == 3


@given(_signals, st.lists(st.integers(0, 300), max_size=6))
def test_parts_are_trimmed_as_the_whole(samples: Samples, cuts: list[int]) -> None:
    trimmer = Trimmer(RATE)
    parts = [trimmer.push(part) for part in np.split(samples, sorted(min(cut, samples.size) for cut in cuts))]
    assert np.array_equal(np.concatenate([*parts, trimmer.finish()]), trim(samples, RATE))


def test_quiet_samples_wait_until_speech_goes_on() -> None:
    trimmer = Trimmer(RATE)
    word, pause = np.full(5, 0.5, np.float32), np.full(100, 0.001, np.float32)
    assert trimmer.push(word).size == LEAD + 5
    assert trimmer.push(pause).size == 0
    assert np.array_equal(trimmer.push(word), np.concatenate([pause, word]))
    assert loud(trimmer.finish()) == [0, 1, 2, 3]


def test_without_padding_only_the_edge_is_added_to_what_begins_at_once() -> None:
    loud = np.full(2400, 0.5, np.float32)
    padded, bare = Trimmer(RATE), Trimmer(RATE, pad=False)
    assert padded.push(loud).size == loud.size + 0.030 * RATE
    begun = bare.push(loud)
    assert begun.size == loud.size + 0.005 * RATE
    assert begun[0] == 0
    quiet = np.concatenate([np.full(RATE, 1e-4, np.float32), loud])
    assert np.array_equal(Trimmer(RATE, pad=False).push(quiet), Trimmer(RATE).push(quiet))
