"""Draws are upstream's given the same dice, and a request's dice are its own."""

import itertools
from typing import Any

import pytest

from streaming.chattts.sampler import WINDOW, Dice, probabilities, sample, uniform
from streaming.chattts.sampling import Sampling
from tests.streaming.chattts.conftest import torch

CODES, BOOKS = 626, 4
CPU = torch.device("cpu")


def dice_of(*samplings: Sampling, step: int = 5, seed: int = 0) -> Dice:
    dice = Dice.blank(len(samplings), BOOKS, CPU)
    for row, sampling in enumerate(samplings):
        dice.set(row, sampling, seed + row)
    dice.step.fill_(step)
    return dice


def logits_of(rows: int, seed: int = 0) -> Any:
    return 2 * torch.randn(rows, BOOKS, CODES, generator=torch.Generator().manual_seed(seed))


def nothing(rows: int) -> Any:
    return torch.full((rows, BOOKS, WINDOW), CODES)


CASES = [
    Sampling(temperature=heat, top_p=top_p, top_k=top_k, repetition_penalty=penalty, min_tokens=shortest)
    for heat, (top_p, top_k), (penalty, shortest) in itertools.product(
        [(0.3, 0.3, 0.3, 0.3), (0.1, 0.5, 1.0, 1.7)],
        [(0.7, 20), (0.05, 626), (1.0, 3), (1.0, 1), (0.95, 50), (0.9, 7)],
        [(1.05, 1), (1.0, 8), (1.6, 5)],
    )
]


@pytest.mark.parametrize("drawn", [0, 1, 15, 16, 17, 40])
def test_codes_equal_upstream(upstream: Any, drawn: int) -> None:
    """Every case at once, each row with its own parameters, against upstream one case at a time."""
    logits = logits_of(len(CASES), drawn)
    past = torch.randint(0, 30, (len(CASES), BOOKS, drawn), generator=torch.Generator().manual_seed(drawn))
    recent = nothing(len(CASES))
    recent[..., : min(drawn, WINDOW)] = past[..., max(0, drawn - WINDOW) :]
    # Make the recent codes likely, and the end too, so that the penalty and the mask matter.
    logits[..., :30] += 3.0
    logits[..., -1] += 5.0
    dice = dice_of(*CASES, step=drawn)
    ours, codes = probabilities(logits, recent, dice), sample(logits, recent, dice)
    for row, case in enumerate(CASES):
        warpers, processors = upstream.model.processors.gen_logits(625, case.top_p, case.top_k, case.repetition_penalty)
        scores = logits[row] / torch.tensor(case.temperature).unsqueeze(1)
        for process in (*processors, *warpers):
            scores = process(past[row], scores)
        if drawn < case.min_tokens:
            scores[:, 625] = -torch.inf
        theirs = scores.softmax(-1)
        torch.testing.assert_close(ours[row], theirs, rtol=1e-5, atol=1e-7)
        dial = uniform(dice.seed[row : row + 1], dice.step[row : row + 1], BOOKS)[0]
        expected = [int(torch.searchsorted(theirs[b].cumsum(0), dial[b], right=True)) for b in range(BOOKS)]
        assert codes[row].tolist() == expected


def test_rows_do_not_touch_each_other() -> None:
    logits, dice = logits_of(len(CASES)), dice_of(*CASES)
    recent = torch.randint(0, CODES + 1, (len(CASES), BOOKS, WINDOW))
    together = sample(logits, recent, dice)
    for row in range(len(CASES)):
        index = torch.tensor([row])
        assert torch.equal(sample(logits[index], recent[index], dice.rows(index))[0], together[row])


def test_knowing_the_largest_top_k_changes_nothing() -> None:
    """Bit for bit, or a neighbour's top-k would be heard."""
    cases = [case for case in CASES if case.top_k <= 20]
    logits, dice = logits_of(len(cases)), dice_of(*cases)
    logits[::2, :, :300] = logits[::2, :, :300].round()  # codes that are equally likely
    expected = probabilities(logits, nothing(len(cases)), dice)
    for most in (20, 21, 50, 300, 625):
        assert torch.equal(probabilities(logits, nothing(len(cases)), dice, most), expected)


def test_draws_follow_the_probabilities() -> None:
    rows = 4000
    logits = torch.zeros(rows, BOOKS, CODES)
    logits[..., :4] = torch.tensor([0.1, 0.2, 0.3, 0.4]).log() + 20
    dice = dice_of(*[Sampling(temperature=(1.0,) * 4, top_p=1.0)] * rows)
    codes = sample(logits, nothing(rows), dice)
    shares = torch.stack([(codes == code).float().mean(0) for code in range(4)], -1)
    torch.testing.assert_close(shares, torch.tensor([[0.1, 0.2, 0.3, 0.4]] * BOOKS), rtol=0, atol=0.03)


def test_dice_depend_on_seed_step_and_codebook() -> None:
    seeds = torch.tensor([0, 1, -1, 2**62, -(2**63)])
    steps = torch.arange(2000)
    values = torch.stack([uniform(seed.expand(2000), steps, BOOKS) for seed in seeds])  # (seeds, steps, books)
    assert values.min() >= 0
    assert values.max() < 1
    assert float(values.mean()) == pytest.approx(0.5, abs=0.01)
    assert float(values.var()) == pytest.approx(1 / 12, abs=0.005)
    flat = values.permute(0, 2, 1).flatten(0, 1)
    assert float((torch.corrcoef(flat) - torch.eye(len(flat))).abs().max()) < 0.1
    assert abs(float(torch.corrcoef(torch.stack((flat[0, :-1], flat[0, 1:])))[0, 1])) < 0.1


def test_dice_are_fixed_for_ever() -> None:
    drawn = uniform(torch.tensor([42]), torch.tensor([7]), BOOKS)[0]
    assert [int(value * 2**24) for value in drawn] == [16084061, 8201960, 8787133, 6672482]


def test_the_end_is_masked_at_the_first_step() -> None:
    logits = logits_of(1)
    logits[..., -1] = 50.0
    assert (sample(logits, nothing(1), dice_of(Sampling(), step=0)) < 625).all()
    assert (sample(logits, nothing(1), dice_of(Sampling(), step=1)) == 625).all()
    assert (sample(logits, nothing(1), dice_of(Sampling(min_tokens=9), step=8)) < 625).all()
    assert (sample(logits, nothing(1), dice_of(Sampling(min_tokens=9), step=9)) == 625).all()


def test_any_seed_is_taken() -> None:
    for seed in (-1, 0, 2**63, 2**64 + 5, -(2**70)):
        dice_of(Sampling(), seed=seed)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"temperature": 0}, "temperature must be from 0.01 to 2, not 0"),
        ({"temperature": [0.3, 0.3]}, "temperature must be one number or 4, not 2"),
        ({"temperature": "hot"}, "temperature must be a number, not"),
        ({"top_p": 1.5}, "top_p must be from"),
        ({"top_p": float("nan")}, "top_p must be from"),
        ({"top_k": 0}, "top_k must be from 1 to 626, not 0"),
        ({"top_k": 2.5}, "top_k must be a whole number, not 2.5"),
        ({"repetition_penalty": 0.5}, "repetition_penalty must be from"),
        ({"min_tokens": True}, "min_tokens must be a number"),
        ({"heat": 1}, "the engine has no parameter 'heat'; it has temperature, top_p, top_k"),
    ],
)
def test_parameters_are_checked(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Sampling.of(options)


def test_parameters_of_a_client() -> None:
    assert Sampling.of({"temperature": 0.5, "top_k": 5}) == Sampling(temperature=(0.5,) * 4, top_k=5)
    assert Sampling.of({"temperature": [0.1, 0.2, 0.3, 0.4]}).temperature == (0.1, 0.2, 0.3, 0.4)
    assert Sampling.of({}) == Sampling()
