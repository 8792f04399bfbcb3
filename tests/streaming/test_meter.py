import pytest

from streaming.meter import Meter


def measured(costs: dict[int, float], audio_s: float = 0.02, batch: int = 8) -> Meter:
    meter = Meter(batch=batch)
    for rows, cost_s in costs.items():
        for _ in range(20):
            meter.stepped(rows, cost_s, rows * audio_s)
    return meter


def test_before_there_was_sound_nothing_is_known() -> None:
    meter = Meter(batch=8)
    assert not meter.measured
    assert meter.load(3) == 0.0
    meter.stepped(1, 0.01, 0.0)
    assert not meter.measured


def test_one_row_at_a_time_shares_the_time_evenly() -> None:
    meter = measured({1: 0.1}, audio_s=1.0, batch=1)
    assert meter.load(5) == pytest.approx(0.5)
    assert meter.capacity == 8


def test_a_row_more_is_predicted_by_those_measured() -> None:
    meter = measured({1: 0.010, 2: 0.012})
    assert meter.step_s(4) == pytest.approx(0.016, rel=0.01)
    assert meter.load(4) == pytest.approx(0.8, rel=0.01)
    assert meter.capacity == 4


def test_slower_than_real_time_still_lets_one_in() -> None:
    assert measured({1: 1.0}).capacity == 1


def test_sound_that_comes_later_than_its_tokens_is_a_higher_load() -> None:
    """A vocoder that falls behind, and peeks that make sound dearer, show in the sound that comes of a step."""
    assert measured({2: 0.01}, audio_s=0.01).load(2) == pytest.approx(2 * measured({2: 0.01}).load(2))


def test_old_steps_are_forgotten() -> None:
    meter = measured({1: 0.1}, audio_s=0.2, batch=1)
    for _ in range(2000):
        meter.stepped(1, 0.01, 0.2)
    assert meter.load(1) == pytest.approx(0.05, rel=0.1)


def test_the_guard_follows_slow_steps_at_once_and_fast_ones_slowly() -> None:
    meter = Meter(batch=1)
    meter.stepped(1, 0.3, 1.0)
    meter.stepped(1, 0.01, 1.0)
    assert 0.25 < meter.guard_s < 0.3
