"""Logits to codes, row by row, with every row's own parameters and its own dice.

The dice are a hash of the request's seed, the step and the codebook. They don't depend on the batch, the slot or
the device, so a request repeats exactly wherever and whenever it runs.
"""

from dataclasses import dataclass, fields

import torch

from streaming.chattts.sampling import Sampling

WINDOW = 16
"""Codes the repetition penalty looks back at."""
KEPT = 3
"""Codes that top-p and top-k leave at least."""

_MIX1, _MIX2 = 0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64
_STEP, _BOOK = 0x9E3779B97F4A7C15 - 2**64, 0xD1B54A32D192ED03 - 2**64


@dataclass(frozen=True, slots=True)
class Dice:
    """What decides the draws of a batch, one row per request. Tensors of the device that samples."""

    temperature: torch.Tensor  # (B, codebooks) fp32
    top_p: torch.Tensor  # (B,) fp32
    top_k: torch.Tensor  # (B,) int64
    penalty: torch.Tensor  # (B,) fp32
    min_tokens: torch.Tensor  # (B,) int64
    seed: torch.Tensor  # (B,) int64
    step: torch.Tensor  # (B,) int64

    @classmethod
    def blank(cls, rows: int, codebooks: int, device: torch.device) -> "Dice":
        """Room for `rows` requests, harmless until set."""
        ones, whole = torch.ones(rows, device=device), torch.ones(rows, dtype=torch.int64, device=device)
        return cls(
            torch.ones(rows, codebooks, device=device),
            ones,
            whole,
            ones.clone(),
            whole.clone(),
            torch.zeros_like(whole),
            torch.zeros_like(whole),
        )

    def set(self, row: int, sampling: Sampling, seed: int) -> None:
        """Give a row to a new request."""
        self.temperature[row] = torch.tensor(sampling.temperature)
        self.top_p[row] = sampling.top_p
        self.top_k[row] = sampling.top_k
        self.penalty[row] = sampling.repetition_penalty
        self.min_tokens[row] = sampling.min_tokens
        self.seed[row] = (seed + 2**63) % 2**64 - 2**63
        self.step[row] = 0

    def rows(self, index: torch.Tensor) -> "Dice":
        """The rows `index`, copied."""
        return Dice(*(getattr(self, field.name)[index] for field in fields(self)))


def sample(logits: torch.Tensor, recent: torch.Tensor, dice: Dice, most: int | None = None) -> torch.Tensor:
    """Draw codes (B, codebooks) int64 from logits (B, codebooks, codes).

    `recent` (B, codebooks, WINDOW) int64 holds each row's last codes in any order, and the number of codes where
    there is none yet. No draw ends the audio before `min_tokens`. `most`: no row's top-k is larger (None: any may be).
    It changes no bit of what is drawn, only how long it takes.
    """
    weights = probabilities(logits, recent, dice, most)
    steps = weights.cumsum(-1)
    target = uniform(dice.seed, dice.step, logits.shape[1]) * steps[..., -1]
    # The first code whose running sum exceeds the target; a code of weight 0 never does so first.
    return (steps <= target.unsqueeze(-1)).sum(-1).clamp_max(logits.shape[-1] - 1)


def probabilities(logits: torch.Tensor, recent: torch.Tensor, dice: Dice, most: int | None = None) -> torch.Tensor:
    """What is drawn from: (B, codebooks, codes), rows that sum to 1."""
    codes = logits.shape[-1]
    scores = logits / dice.temperature.unsqueeze(-1)
    scores = _penalised(scores, recent, dice.penalty)
    scores = scores.masked_fill(scores < _least(scores, dice, codes if most is None else most), -torch.inf)
    early = (dice.step < dice.min_tokens).view(-1, 1)
    scores[..., codes - 1].masked_fill_(early, -torch.inf)
    return scores.softmax(-1)


def uniform(seed: torch.Tensor, step: torch.Tensor, codebooks: int) -> torch.Tensor:
    """(B, codebooks) fp32 in [0, 1) from int64 seeds (B,) and steps (B,): splitmix64 of the three numbers."""
    books = torch.arange(1, codebooks + 1, device=seed.device)
    mixed = _mix(seed.unsqueeze(1) + (step.unsqueeze(1) + 1) * _STEP)
    drawn: torch.Tensor = _shifted(_mix(mixed + books * _BOOK), 40).float() * 2.0**-24
    return drawn


def _mix(bits: torch.Tensor) -> torch.Tensor:
    bits = (bits ^ _shifted(bits, 30)) * _MIX1
    bits = (bits ^ _shifted(bits, 27)) * _MIX2
    return bits ^ _shifted(bits, 31)


def _shifted(bits: torch.Tensor, count: int) -> torch.Tensor:
    """Right shift that brings in zeros; torch's own brings in the sign."""
    return (bits >> count).bitwise_and(2 ** (64 - count) - 1)


def _penalised(scores: torch.Tensor, recent: torch.Tensor, penalty: torch.Tensor) -> torch.Tensor:
    batch, books, codes = scores.shape
    counts = torch.zeros(batch, books, codes + 1, dtype=torch.int64, device=scores.device)
    counts.scatter_add_(-1, recent, torch.ones_like(recent))
    # A power for each count there can be, not for each code.
    powers = penalty.unsqueeze(1) ** torch.arange(WINDOW + 1, device=scores.device)
    factor = powers.gather(1, counts[..., :codes].reshape(batch, -1)).view_as(scores)
    return torch.where(scores < 0, scores * factor, scores / factor)


def _least(scores: torch.Tensor, dice: Dice, most: int) -> torch.Tensor:
    """(B, codebooks, 1): the score of the last code that both top-p and top-k keep. They keep KEPT at least.

    Upstream drops the codes that together have no more than 1 - p, from the least likely up; those that remain are the
    ones before which, from the likeliest down, less than p has gone. Only the top of the order has to be known for it.
    """
    top = scores.topk(max(most, KEPT), dim=-1).values
    shares = (top - scores.logsumexp(-1, keepdim=True)).exp()
    before = torch.nn.functional.pad(shares.cumsum(-1)[..., :-1], (1, 0))
    likely = (1 - before > 1 - dice.top_p.view(-1, 1, 1)).sum(-1, keepdim=True)
    kept = likely.minimum(dice.top_k.view(-1, 1, 1)).clamp_min(KEPT)
    return top.gather(-1, kept - 1)
