"""Logits to codes, row by row, with every row's own parameters and its own dice.

The dice are a hash of the request's seed, the step and the codebook. They don't depend on the batch, the slot or
the device, so a request repeats exactly wherever and whenever it runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import torch

WINDOW = 16
"""Codes the repetition penalty looks back at."""
KEPT = 3
"""Codes that top-p and top-k leave at least."""

_MIX1, _MIX2 = 0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64
_STEP, _BOOK = 0x9E3779B97F4A7C15 - 2**64, 0xD1B54A32D192ED03 - 2**64


@dataclass(frozen=True, slots=True)
class Sampling:
    """How codes are drawn. The defaults are upstream's."""

    temperature: tuple[float, ...] = (0.3, 0.3, 0.3, 0.3)
    """One per codebook, 0.01 to 2."""
    top_p: float = 0.7
    """0.01 to 1: draw from the likeliest codes that together have this probability."""
    top_k: int = 20
    """1 to 626: draw from so many codes at most, but from 3 at least."""
    repetition_penalty: float = 1.05
    """1 to 2: how much less likely a code gets each time it was drawn in the last 16 steps."""
    min_tokens: int = 1
    """1 to 2048: steps before which the audio can't end."""

    def __post_init__(self) -> None:
        """Raise ValueError with a sentence for a value out of range."""
        if len(self.temperature) != 4:
            raise ValueError(f"temperature has one value per codebook, 4 in all, not {len(self.temperature)}")
        for value in self.temperature:
            _check("temperature", value, 0.01, 2.0)
        _check("top_p", self.top_p, 0.01, 1.0)
        _check("top_k", self.top_k, 1, 626)
        _check("repetition_penalty", self.repetition_penalty, 1.0, 2.0)
        _check("min_tokens", self.min_tokens, 1, 2048)

    @classmethod
    def of(cls, options: Mapping[str, float | int | list[float]]) -> "Sampling":
        """From what a client sends; one temperature stands for all codebooks. Raises ValueError."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(options) - known)
        if unknown:
            raise ValueError(f"unknown sampling parameter {unknown[0]}; there are {', '.join(sorted(known))}")
        values: dict[str, object] = dict(options)
        if "temperature" in options:
            heat = options["temperature"]
            values["temperature"] = tuple(heat) if isinstance(heat, list) else (heat,) * 4
        for name, value in values.items():
            parts = value if isinstance(value, tuple) else (value,)
            if not all(isinstance(part, int | float) and not isinstance(part, bool) for part in parts):
                raise ValueError(f"{name} must be a number, not {value!r}")
            if name in {"top_k", "min_tokens"} and not isinstance(value, int):
                raise ValueError(f"{name} must be a whole number, not {value!r}")
        return cls(**values)  # type: ignore[arg-type]


def _check(name: str, value: float, lowest: float, highest: float) -> None:
    if not lowest <= value <= highest:
        raise ValueError(f"{name} must be from {lowest} to {highest}, not {value}")


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


def sample(logits: torch.Tensor, recent: torch.Tensor, dice: Dice) -> torch.Tensor:
    """Draw codes (B, codebooks) int64 from logits (B, codebooks, codes).

    `recent` (B, codebooks, WINDOW) int64 holds each row's last codes in any order, and the number of codes where
    there is none yet. No draw ends the audio before `min_tokens`.
    """
    weights = probabilities(logits, recent, dice)
    steps = weights.cumsum(-1)
    target = uniform(dice.seed, dice.step, logits.shape[1]) * steps[..., -1]
    # The first code whose running sum exceeds the target; a code of weight 0 never does so first.
    return (steps <= target.unsqueeze(-1)).sum(-1).clamp_max(logits.shape[-1] - 1)


def probabilities(logits: torch.Tensor, recent: torch.Tensor, dice: Dice) -> torch.Tensor:
    """What is drawn from: (B, codebooks, codes), rows that sum to 1."""
    codes = logits.shape[-1]
    scores = logits / dice.temperature.unsqueeze(-1)
    scores = _penalised(scores, recent, dice.penalty)
    scores = scores.masked_fill(_unlikely(scores, dice), -torch.inf)
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
    counts = torch.zeros(batch, books, codes + 1, device=scores.device)
    counts.scatter_add_(-1, recent, torch.ones_like(recent, dtype=counts.dtype))
    factor = penalty.view(-1, 1, 1) ** counts[..., :codes]
    return torch.where(scores < 0, scores * factor, scores / factor)


def _unlikely(scores: torch.Tensor, dice: Dice) -> torch.Tensor:
    """The codes that top-p or top-k leaves out. Both leave KEPT at least."""
    ordered, order = scores.sort(stable=True, dim=-1)
    below = ordered.softmax(-1).cumsum(-1) <= 1 - dice.top_p.view(-1, 1, 1)
    below[..., -KEPT:] = False
    left_out: torch.Tensor = torch.zeros_like(below).scatter_(-1, order, below)
    place = scores.shape[-1] - dice.top_k.clamp_min(KEPT).view(-1, 1, 1).expand(-1, scores.shape[1], 1)
    return left_out.logical_or_(scores < ordered.gather(-1, place))
