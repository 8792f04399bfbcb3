"""Heard before it is final, an utterance is as long as offline, joined smoothly, and soon exact."""

import itertools
from typing import Any

import numpy as np
import pytest

from streaming.chattts import weights
from streaming.chattts.layout import EXACT, TINY, TOKEN_SAMPLES
from streaming.chattts.pacing import ON_CPU, Pacing
from streaming.chattts.utterance import Utterance
from streaming.chattts.vocoder import Vocoder
from tests.streaming.chattts.conftest import torch
from tests.streaming.chattts.offline import OfflineVocoder

CPU = torch.device("cpu")
TOKENS = 500


@pytest.fixture(scope="module")
def vocoder(assets: weights.Assets) -> Vocoder:
    return Vocoder(assets.decoder, assets.vocos, CPU)


@pytest.fixture(scope="module")
def hidden() -> Any:
    return torch.randn(TOKENS, TINY.gpt.hidden, generator=torch.Generator().manual_seed(5))


@pytest.fixture(scope="module")
def expected(assets: weights.Assets, hidden: Any) -> Any:
    return OfflineVocoder(assets.decoder, assets.vocos, CPU).decode(hidden).numpy()


def spoken(vocoder: Vocoder, hidden: Any, pacing: Pacing) -> list[Any]:
    """What is heard after each piece."""
    utterance, at, heard = Utterance(vocoder.blank()), 0, []
    for piece in pacing:
        last = piece.tokens >= len(hidden)
        part = hidden[at : piece.tokens]
        row = utterance.row(part, piece.lookahead, last=last)
        heard.append(utterance.take(vocoder.decode([row])[0], len(part), piece.lookahead))
        at = piece.tokens
        if last:
            break
    assert not heard[0].size  # taken in ahead
    return heard[1:]


def error_db(heard: Any, expected: Any) -> float:
    return float(20 * np.log10(np.linalg.norm(heard - expected) / np.linalg.norm(expected)))


def test_exact_from_the_first_sample(vocoder: Vocoder, hidden: Any, expected: Any) -> None:
    parts = spoken(vocoder, hidden, Pacing(ON_CPU, EXACT))
    assert len(parts[0]) == 4 * TOKEN_SAMPLES
    np.testing.assert_allclose(np.concatenate(parts), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("lookahead", [1, 8, 12, 24])
def test_provisional_is_as_long_and_grows_exact(vocoder: Vocoder, hidden: Any, expected: Any, lookahead: int) -> None:
    parts = spoken(vocoder, hidden, Pacing(ON_CPU, lookahead))
    heard = np.concatenate(parts)
    assert heard.shape == expected.shape
    assert len(parts[0]) == 4 * TOKEN_SAMPLES
    late = TOKEN_SAMPLES * 440
    np.testing.assert_allclose(heard[late:], expected[late:], rtol=0, atol=1e-5)


def test_more_look_ahead_is_less_wrong(vocoder: Vocoder, hidden: Any, expected: Any) -> None:
    begin = slice(0, 4 * TOKEN_SAMPLES)
    errors = [
        error_db(spoken(vocoder, hidden, Pacing((4,), lookahead))[0], expected[begin]) for lookahead in (1, 4, 12, 24)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[2] < -40


def test_pieces_join_without_a_step(vocoder: Vocoder, hidden: Any, expected: Any) -> None:
    parts = spoken(vocoder, hidden, Pacing(ON_CPU, 4))
    usual = np.abs(np.diff(expected)).max()
    for before, after in itertools.pairwise(parts):
        assert abs(after[0] - before[-1]) <= usual
