"""What is measured on weights, and where it is kept."""

from pathlib import Path

import pytest

from streaming.chattts import calibrate, weights
from streaming.chattts.calibration import Calibration
from streaming.chattts.layout import EXACT
from streaming.chattts.options import Options, Precision
from streaming.chattts.vocoder import Vocoder
from tests.streaming.chattts.conftest import Release, torch

pytest.importorskip("ChatTTS", exc_type=ImportError)


@pytest.fixture(scope="module")
def take(assets: weights.Assets) -> calibrate.Take:
    return calibrate.speak(assets)


def test_more_look_ahead_is_less_wrong(assets: weights.Assets, take: calibrate.Take) -> None:
    errors = calibrate.lookahead_errors(Vocoder(assets.decoder, assets.vocos, torch.device("cpu")), take.hidden)
    assert list(errors) == list(calibrate.LOOKAHEADS)
    assert errors[1] > -20
    assert errors[32] < errors[12] < errors[4]
    assert errors[32] < -80


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ({1: -10.0, 8: -49.0, 12: -55.0, 16: -70.0}, 12),
        ({1: -51.0, 8: -60.0}, 1),
        ({8: -55.0, 12: -45.0, 16: -60.0}, 16),
        ({8: -10.0, 32: -20.0}, EXACT),
    ],
)
def test_the_fewest_tokens_that_are_enough(errors: dict[int, float], expected: int) -> None:
    assert calibrate.smallest(errors) == expected


def test_precisions_are_compared_with_fp32(assets: weights.Assets, take: calibrate.Take) -> None:
    same, divergence = calibrate.agreement(assets, Precision.FP32, take)
    assert same == [1.0] * 4
    assert max(map(abs, divergence)) < 1e-5
    same, divergence = calibrate.agreement(assets, Precision.INT8, take)
    assert all(0.5 < share <= 1 for share in same)
    assert all(0 < nats < 0.5 for nats in divergence)


def test_what_was_chosen_is_read_by_the_engine(release: Release) -> None:
    assert Options(str(release.folder)).first_lookahead == 12
    try:
        Calibration(lookahead=9).write(release.folder)
        assert Options(str(release.folder)).first_lookahead == 9
        assert Options(str(release.folder), lookahead="exact").first_lookahead == EXACT
    finally:
        (release.folder / "calibration.json").unlink()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "calibration.json").write_text("{}")
    with pytest.raises(ValueError, match="python -m streaming calibrate"):
        Calibration.of(str(tmp_path))


def test_the_whole_table() -> None:
    lines = list(calibrate.calibrate("random-tiny:1"))
    assert sum("dB" in line for line in lines) == len(calibrate.LOOKAHEADS) + 1
    assert any("int8: one token" in line for line in lines)
    assert not any(line.startswith("written") for line in lines)
