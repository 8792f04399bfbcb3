import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.embedded import kokoro_norms, mandarin
from streaming.embedded.hibari_voice import HibariModel
from streaming.embedded.kokoro_model import FRAME_SAMPLES, KokoroModel, Plan, Stretch
from streaming.embedded.kokoro_windows import Windows, ends
from streaming.embedded.voices import STYLES
from streaming.silence import Samples


def plan(energy: list[float]) -> Plan:
    frames = len(energy)
    nothing = np.zeros((1, 1, frames), np.float32)
    return Plan(nothing, nothing, np.repeat(np.array([energy], np.float32), 2, axis=1), nothing, nothing)


SILENCE, SPEECH = -9.0, 5.0


def test_short_speech_is_one_window() -> None:
    windows = Windows(plan([SILENCE] * 16 + [SPEECH] * 17 + [SILENCE] * 40))
    assert windows.stretches == [Stretch(14, 37, first_stage=(11, 40), second_stage=(13, 38))]
    assert windows.silence == pytest.approx(50 / 73)


def test_the_generator_is_shown_nothing_outside_the_plan() -> None:
    (stretch,) = Windows(plan([SPEECH] * 10)).stretches
    assert stretch == Stretch(0, 10, first_stage=(0, 10), second_stage=(0, 10))


def test_a_plan_of_silence_has_no_window() -> None:
    assert Windows(plan([SILENCE] * 50)).stretches == []


def test_windows_end_at_the_quietest_frame_near() -> None:
    energy = np.full(200, 5.0, np.float32)
    energy[[14, 33, 55]] = 1.0
    assert ends(energy, 0, 200) == [14, 33, 55, 83, 119, 155, 200]


@given(st.integers(0, 20), st.lists(st.floats(-9, 9, width=32), min_size=1, max_size=300), st.integers(0, 45))
def test_windows_keep_every_frame_of_speech_once(before: int, speech: list[float], after: int) -> None:
    windows = Windows(plan([SILENCE] * before + [SPEECH, *speech, SPEECH] + [SILENCE] * after))
    frames = [frame for stretch in windows.stretches for frame in range(stretch.begin, stretch.end)]
    assert frames == list(range(frames[0], frames[-1] + 1))
    assert frames[0] <= before
    assert frames[-1] >= before + len(speech) + 1


@given(st.integers(20, 400))
def test_a_window_is_never_longer_than_a_step_may_take(frames: int) -> None:
    windows = Windows(plan([SILENCE] * 5 + [SPEECH] * frames + [SILENCE] * 5))
    assert max(stretch.frames for stretch in windows.stretches) <= 40 + 4 + 11


def test_windows_give_what_one_window_of_all_gives_but_for_the_rounding_of_activations() -> None:
    model = KokoroModel(HibariModel().vocabulary)
    options = onnxruntime.RunOptions()
    tokens = model.tokens(mandarin.phonemize("今天天气很好，我们走吧。"))
    with np.load(STYLES) as styles:
        style = styles["zf_xiaobei"][len(tokens) - 1][None].astype(np.float32)
    windows = Windows(model.plan(tokens, style, 1.0, options))
    hidden = model.hidden(windows.plan, options)
    averages = kokoro_norms.load()["zf_xiaobei"].forecast(windows.plan.frame_energy(), windows.silence)

    def decoded(stretch: Stretch) -> Samples:
        samples = model.decode(windows.plan, hidden, averages, stretch, options)
        return samples[: FRAME_SAMPLES * stretch.frames]

    everything = (0, windows.plan.frames)
    whole = decoded(Stretch(windows.begin, windows.end, everything, everything))
    joined = np.concatenate([decoded(stretch) for stretch in windows.stretches])
    assert len(windows.stretches) >= 3
    assert joined.shape == whole.shape
    assert np.sum(whole**2) / np.sum((joined - whole) ** 2) > 6
