"""Slots: requests that join, are prefilled, speak and leave, in one batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from streaming.chattts.cpu_model import CpuGpt
from streaming.chattts.options import PIECE
from streaming.chattts.prompt import Embedder, Prompt
from streaming.chattts.sampler import WINDOW, Dice, sample
from streaming.chattts.sampling import Sampling
from streaming.engine import StopReason

SHARED_PIECE = 16
"""Prompt tokens in one step while others speak: 64 rows would hold them up for a quarter of a second on a small CPU."""


@dataclass(frozen=True, slots=True)
class Job:
    """A request as the model sees it."""

    prompt: Prompt
    sampling: Sampling
    seed: int
    limit: int
    """Codec tokens at most."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A slot has one more codec token, or has come to its end. An ending token itself is no audio."""

    slot: int
    tokens: int
    """Codec tokens of audio so far."""
    stop: StopReason | None = None


class Runner(Protocol):
    """What an engine needs of a batch. One thread."""

    slots: int
    length: int
    """Tokens a slot holds, prompt included."""

    def start(self, slot: int, job: Job) -> None:
        """Give a free slot to a request. Raises ValueError if it can't fit."""

    def free(self, slot: int) -> None:
        """Forget what the slot was doing."""

    def prefilled(self, slot: int) -> bool:
        """Whether the slot's prompt has been read."""

    def spoken(self, slot: int, begin: int, end: int) -> torch.Tensor:
        """A copy of these tokens' hidden states, (tokens, hidden)."""

    def step(self, slots: Sequence[int]) -> list[Spoken]:
        """Advance: every slot that speaks by a token, and the first of the others by a piece of its prompt."""


@dataclass(slots=True)
class Seat:
    """Where the request in a slot stands."""

    embeddings: torch.Tensor  # (prompt tokens, hidden)
    limit: int
    top_k: int
    read: int = 0
    """Prompt tokens in the cache."""
    tokens: int = 0
    """Codec tokens drawn."""

    @property
    def position(self) -> int:
        """Where the next token goes."""
        return self.read + max(self.tokens - 1, 0)

    @property
    def reading(self) -> bool:
        return self.read < len(self.embeddings)


def seat(job: Job, embedder: Embedder, length: int) -> Seat:
    """Check that a job fits a slot of `length` tokens."""
    embeddings = embedder.prompt(job.prompt)
    if not 1 <= job.limit <= length - len(embeddings):
        room = length - len(embeddings)
        raise ValueError(
            f"a prompt of {len(embeddings)} tokens leaves {room} for audio, and {job.limit} were asked for"
        )
    return Seat(embeddings, job.limit, job.sampling.top_k)


class CpuRunner:
    """All slots in one ragged call, at their own lengths."""

    def __init__(self, gpt: CpuGpt, embedder: Embedder) -> None:
        config = gpt.config
        self.slots, self.length = gpt.cache.slots, gpt.cache.length
        self._gpt, self._embedder = gpt, embedder
        self._seats: dict[int, Seat] = {}
        self._codes = torch.zeros(self.slots, config.codebooks, dtype=torch.int64)
        self._recent = torch.zeros(self.slots, config.codebooks, WINDOW, dtype=torch.int64)
        self._dice = Dice.blank(self.slots, config.codebooks, torch.device("cpu"))
        self._none, self._end = config.audio_tokens, config.eos
        self.history = torch.zeros(self.slots, self.length, config.hidden).fill_(0.0)
        """Row t of a slot is the hidden state that predicted its token t."""

    def start(self, slot: int, job: Job) -> None:
        self._seats[slot] = seat(job, self._embedder, self.length)
        self._recent[slot] = self._none
        self._dice.set(slot, job.sampling, job.seed)

    def free(self, slot: int) -> None:
        del self._seats[slot]

    def prefilled(self, slot: int) -> bool:
        return not self._seats[slot].reading

    def spoken(self, slot: int, begin: int, end: int) -> torch.Tensor:
        return self.history[slot, begin:end].clone()

    @torch.inference_mode()
    def step(self, slots: Sequence[int]) -> list[Spoken]:
        speaking = [slot for slot in slots if not self._seats[slot].reading]
        reading = next((slot for slot in slots if self._seats[slot].reading), None)
        rows = [self._embedder.spoken(self._codes[speaking])]
        where = [(slot, self._seats[slot].position) for slot in speaking]
        if reading is not None:
            # How a prompt is cut changes no bit of what is computed for it, so company may decide.
            taken = self._seats[reading]
            piece = taken.embeddings[taken.read : taken.read + (SHARED_PIECE if speaking else PIECE)]
            where += [(reading, self._seats[reading].read + index) for index in range(len(piece))]
            rows.append(piece)
        if not where:
            return []
        at = np.array(where)
        hidden = self._gpt.forward(torch.cat(rows).numpy(), at[:, 0].copy(), at[:, 1].copy())
        if reading is not None:
            self._seats[reading].read += len(piece)
            if self._seats[reading].reading:
                hidden = hidden[: len(speaking)]
            else:
                hidden = hidden[[*range(len(speaking)), -1]]
                speaking.append(reading)
        return self._draw(speaking, hidden) if speaking else []

    def _draw(self, slots: list[int], hidden: np.ndarray) -> list[Spoken]:
        index = torch.tensor(slots)
        logits = torch.from_numpy(self._gpt.logits(hidden)).view(len(slots), self._codes.shape[1], -1)
        most = max(self._seats[slot].top_k for slot in slots)
        codes = sample(logits, self._recent[index], self._dice.rows(index), most)
        self._codes[index] = codes
        self._recent[index, :, self._dice.step[index] % WINDOW] = codes
        self._dice.step[index] += 1
        ended = (codes == self._end).any(1).tolist()
        return [self._spoken(slot, row, end) for slot, row, end in zip(slots, hidden, ended, strict=True)]

    def _spoken(self, slot: int, hidden: np.ndarray, ended: bool) -> Spoken:
        taken = self._seats[slot]
        if ended:
            return Spoken(slot, taken.tokens, StopReason.COMPLETE)
        self.history[slot, taken.tokens] = torch.from_numpy(hidden)
        taken.tokens += 1
        return Spoken(slot, taken.tokens, StopReason.LENGTH if taken.tokens == taken.limit else None)
