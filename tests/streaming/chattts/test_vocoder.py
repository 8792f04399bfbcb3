"""Streaming and offline are one signal, and upstream's."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.chattts import weights
from streaming.chattts.layout import EXACT, HOP, TINY, TOKEN_SAMPLES
from streaming.chattts.vocoder import Row, State, Vocoder
from tests.streaming.chattts.conftest import Release, torch
from tests.streaming.chattts.offline import OfflineVocoder

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def theirs(upstream: Any, release: Release) -> Any:
    """Upstream's decoder and vocos, as a function of hidden states (tokens, hidden)."""
    pytest.importorskip("vocos")
    from tests.streaming.chattts.upstream_vocoder import load  # noqa: PLC0415

    return load(release.folder, TINY)


@pytest.fixture(scope="module")
def vocoder(assets: weights.Assets) -> Vocoder:
    return Vocoder(assets.decoder, assets.vocos, CPU)


@pytest.fixture(scope="module")
def offline(assets: weights.Assets) -> OfflineVocoder:
    return OfflineVocoder(assets.decoder, assets.vocos, CPU)


def hidden(tokens: int, seed: int = 0) -> Any:
    return torch.randn(tokens, TINY.gpt.hidden, generator=torch.Generator().manual_seed(seed))


def stream(vocoder: Vocoder, states: Any, cuts: Sequence[int]) -> Any:
    """The utterance's samples, its tokens handed over so many at a time."""
    state, parts, at = vocoder.blank(), [], 0
    for cut in cuts:
        last = at + cut >= len(states)
        (decoded,) = vocoder.decode([Row(state, states[at : at + cut], last)])
        state, at = decoded.state, at + cut
        parts.append(decoded.pcm)
        if last:
            break
    return torch.cat(parts)


def same(ours: Any, expected: Any) -> None:
    assert float(expected.std()) > 1e-3
    torch.testing.assert_close(ours, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("tokens", [1, 2, 3, 24, 150])
def test_offline_is_upstream(theirs: Any, offline: OfflineVocoder, tokens: int) -> None:
    ours = offline.decode(hidden(tokens))
    assert ours.shape == ((2 * tokens - 1) * HOP,)
    same(ours, theirs(hidden(tokens)))


@pytest.mark.parametrize(("tokens", "cut"), [(1, 1), (150, 1), (150, 8)])
def test_streaming_is_upstream(theirs: Any, vocoder: Vocoder, tokens: int, cut: int) -> None:
    same(stream(vocoder, hidden(tokens), [cut] * tokens), theirs(hidden(tokens)))


@pytest.mark.parametrize("cut", [1, 2, 3, 5, 8, 24, 150])
def test_every_cut_gives_the_offline_signal(vocoder: Vocoder, offline: OfflineVocoder, cut: int) -> None:
    same(stream(vocoder, hidden(150), [cut] * 150), offline.decode(hidden(150)))


@given(tokens=st.integers(1, 130), cuts=st.lists(st.integers(1, 60), min_size=130, max_size=130))
def test_any_cut_gives_the_offline_signal(
    vocoder: Vocoder, offline: OfflineVocoder, tokens: int, cuts: list[int]
) -> None:
    same(stream(vocoder, hidden(tokens, tokens), cuts), offline.decode(hidden(tokens, tokens)))


def test_the_longest_utterance(vocoder: Vocoder, offline: OfflineVocoder) -> None:
    same(stream(vocoder, hidden(2048), [24] * 100), offline.decode(hidden(2048)))


def test_rows_that_start_and_end_at_different_steps(vocoder: Vocoder, offline: OfflineVocoder) -> None:
    lengths, sizes, starts = (1, 70, 90, 33, 2), (1, 3, 7, 5, 1), (2, 0, 4, 9, 9)
    states = [hidden(length, row) for row, length in enumerate(lengths)]
    kept: list[State] = [vocoder.blank()] * len(lengths)
    at, parts = [0] * len(lengths), [[] for _ in lengths]  # type: ignore[var-annotated]
    step = 0
    while any(map(int.__lt__, at, lengths)):
        running = [row for row in range(len(lengths)) if starts[row] <= step and at[row] < lengths[row]]
        rows = []
        for row in running:
            end = at[row] + sizes[row]
            rows.append(Row(kept[row], states[row][at[row] : end], end >= lengths[row]))
            at[row] = end
        for row, decoded in zip(running, vocoder.decode(rows), strict=True):
            kept[row] = decoded.state
            parts[row].append(decoded.pcm)
        step += 1
    for row, each in enumerate(states):
        same(torch.cat(parts[row]), offline.decode(each))


def test_all_but_the_last_tokens_are_final_and_no_frame_is_made_twice(vocoder: Vocoder) -> None:
    state, samples = vocoder.blank(), 0
    for tokens in range(1, 120):
        (decoded,) = vocoder.decode([Row(state, hidden(1, tokens), last=False)])
        state, samples = decoded.state, samples + len(decoded.pcm)
        assert samples == TOKEN_SAMPLES * max(0, tokens - EXACT)
        assert state.hops == max(0, 2 * (tokens - EXACT) + 2)
    (decoded,) = vocoder.decode([Row(state, hidden(0), last=True)])
    assert samples + len(decoded.pcm) == (2 * 119 - 1) * HOP
    assert decoded.state.hops == 2 * 119


def test_a_state_is_a_value(vocoder: Vocoder) -> None:
    (first,) = vocoder.decode([Row(vocoder.blank(), hidden(60), last=False)])
    row = Row(first.state, hidden(5, 1), last=True)
    (once,), (again,) = vocoder.decode([row]), vocoder.decode([row])
    assert torch.equal(once.pcm, again.pcm)
    assert len(vocoder.decode([Row(vocoder.blank(), hidden(60), last=False)])[0].pcm) == len(first.pcm)


@given(tokens=st.integers(1, 120), cut=st.integers(1, 30), company=st.integers(0, 2))
def test_a_peek_is_what_an_end_would_give_and_changes_nothing(
    vocoder: Vocoder, offline: OfflineVocoder, tokens: int, cut: int, company: int
) -> None:
    states, state, at, final = hidden(tokens, 3), vocoder.blank(), 0, 0
    while at < tokens:
        rows = [Row(state, states[at : at + cut], last=False, peek=True)]
        rows += [Row(vocoder.blank(), hidden(7, n), last=n > 0) for n in range(company)]
        at = min(at + cut, tokens)
        decoded = vocoder.decode(rows)[0]
        assert decoded.provisional is not None
        expected = offline.decode(states[:at])
        same(torch.cat((decoded.pcm, decoded.provisional)), expected[final:])
        state, final = decoded.state, final + len(decoded.pcm)
    (end,) = vocoder.decode([Row(state, hidden(0), last=True, peek=True)])
    assert end.provisional is None
    same(end.pcm, offline.decode(states)[final:])


def test_products_in_bf16_are_close(assets: weights.Assets, offline: OfflineVocoder) -> None:
    rounded = stream(Vocoder(assets.decoder, assets.vocos, CPU, torch.bfloat16), hidden(100), [8] * 13)
    expected = offline.decode(hidden(100))
    error = float((rounded - expected).norm() / expected.norm())
    assert 1e-5 < error < 0.05
