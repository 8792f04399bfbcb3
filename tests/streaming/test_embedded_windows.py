import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streaming.embedded.kokoro_model import FRAME_SAMPLES, Plan
from streaming.embedded.kokoro_windows import Window, Windows, ends


def plan(energy: list[float]) -> Plan:
    frames = len(energy)
    nothing = np.zeros((1, 1, frames), np.float32)
    return Plan(nothing, nothing, np.repeat(np.array([energy], np.float32), 2, axis=1), nothing, nothing)


def kept(window: Window) -> list[int]:
    frames = [frame for excerpt in window.excerpts for frame in range(excerpt.begin, excerpt.end)]
    skip, keep = window.skip // FRAME_SAMPLES, window.keep // FRAME_SAMPLES
    return frames[skip : skip + keep]


SILENCE, SPEECH = -9.0, 5.0


def test_short_speech_is_one_window_with_silence_on_both_sides() -> None:
    windows = Windows(plan([SILENCE] * 16 + [SPEECH] * 20 + [SILENCE] * 40))
    assert len(windows) == 1
    before, speech, after = windows[0].excerpts
    assert (before.begin, before.end) == (12, 14)
    assert (speech.begin, speech.end, speech.weight) == (14, 39, 1.0)
    assert (after.begin, after.end) == (39, 41)
    # 51 frames of silence are shown by 4.
    assert before.weight == after.weight == 51 / 4
    assert kept(windows[0]) == list(range(12, 41))


def test_a_plan_of_silence_has_no_window() -> None:
    assert len(Windows(plan([SILENCE] * 50))) == 0


def test_windows_end_at_the_quietest_frame_near() -> None:
    energy = np.full(200, 5.0, np.float32)
    energy[[20, 40, 75]] = 1.0
    assert ends(energy, 0, 200) == [20, 40, 75, 117, 159, 200]


@given(st.integers(0, 20), st.lists(st.floats(-9, 9, width=32), min_size=1, max_size=300), st.integers(0, 45))
def test_windows_keep_every_frame_of_speech_once(before: int, speech: list[float], after: int) -> None:
    windows = Windows(plan([SILENCE] * before + [SPEECH, *speech, SPEECH] + [SILENCE] * after))
    frames = [frame for i in range(len(windows)) for frame in kept(windows[i])]
    assert frames == list(range(frames[0], frames[-1] + 1))
    assert frames[0] <= before
    assert frames[-1] >= before + len(speech) + 1


@given(st.integers(20, 400))
def test_a_window_is_never_longer_than_a_step_may_take(frames: int) -> None:
    windows = Windows(plan([SILENCE] * 5 + [SPEECH] * frames + [SILENCE] * 5))
    assert max(sum(excerpt.frames for excerpt in windows[i].excerpts) for i in range(len(windows))) <= 74
