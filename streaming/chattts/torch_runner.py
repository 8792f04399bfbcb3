"""The batch on a card: fixed shapes, a stream of its own, and no waiting for the host inside a step."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch

from streaming.chattts.model import TorchGpt
from streaming.chattts.options import PIECE
from streaming.chattts.prompt import Embedder
from streaming.chattts.runner import Job, Seat, Spoken, seat
from streaming.chattts.sampler import WINDOW, Dice, sample
from streaming.engine import StopReason


@dataclass(slots=True)
class _Mail:
    """Page-locked memory that one step's orders and results travel in."""

    orders: torch.Tensor  # (2, slots) bool: feed a token, draw a token
    ended: torch.Tensor  # (slots,) bool
    done: torch.cuda.Event | None


@dataclass(frozen=True, slots=True)
class _Pending:
    """A step whose results have not been read: the seats that drew, by slot, and the mail they come in."""

    seats: dict[int, Seat]
    mail: _Mail


class TorchRunner:
    """Every step computes all slots, the idle ones into a scrap position, so that one set of shapes serves all.

    That also makes a request's tokens independent of its company. Results are read one step late: while the card
    works on a step, the host learns who ended in the one before. `graphs` replays the step as a captured graph.
    """

    def __init__(self, gpt: TorchGpt, embedder: Embedder, *, graphs: bool = False) -> None:
        config, device = gpt.config, gpt.cache.layers[0].device
        # The last position is scrap: idle rows write there and nobody reads it.
        self.slots, self.length = gpt.cache.slots, gpt.cache.length - 1
        self._gpt, self._embedder, self._device = gpt, embedder, device
        self._card = device.type == "cuda"
        self._stream = torch.cuda.Stream(device) if self._card else None  # type: ignore[no-untyped-call, unused-ignore]
        self._seats: dict[int, Seat] = {}
        self._pending: _Pending | None = None
        self._mails = [self._mail(), self._mail()]
        self._table, self._offsets = embedder.codes.to(device), embedder.offsets.to(device)

        self.history = torch.zeros(self.slots, self.length + 1, config.hidden, device=device)
        self._hidden = torch.zeros(self.slots, config.hidden, device=device)
        self._codes = torch.zeros(self.slots, config.codebooks, dtype=torch.int64, device=device)
        self._recent = torch.full((self.slots, config.codebooks, WINDOW), config.audio_tokens, device=device)
        self._positions = torch.zeros(self.slots, dtype=torch.int64, device=device)
        self._dice = Dice.blank(self.slots, config.codebooks, device)
        self._orders = torch.zeros(2, self.slots, dtype=torch.bool, device=device)
        self._ended = torch.zeros(self.slots, dtype=torch.bool, device=device)
        self._rows = torch.arange(self.slots, device=device)
        self._graph = self._capture() if graphs and self._card else None

    def start(self, slot: int, job: Job) -> None:
        taken = seat(job, self._embedder, self.length)
        with torch.inference_mode(), self._on_stream():
            # Attention multiplies what it masks by zero, so what is masked has to be finite.
            self._gpt.cache.fill(slot, 0.0)
            taken.embeddings = taken.embeddings.to(self._device)
            self._recent[slot] = self._gpt.config.audio_tokens
            self._positions[slot] = len(taken.embeddings) - 1
            self._dice.set(slot, job.sampling, job.seed)
        self._seats[slot] = taken

    def free(self, slot: int) -> None:
        del self._seats[slot]

    def prefilled(self, slot: int) -> bool:
        return not self._seats[slot].reading

    def spoken(self, slot: int, begin: int, end: int) -> torch.Tensor:
        # Tokens that were reported are done. The copy has to be, too, before the slot can go to another request.
        copy = self.history[slot, begin:end].clone()
        if self._card:
            torch.cuda.current_stream(self._device).synchronize()
        return copy

    @torch.inference_mode()
    def step(self, slots: Sequence[int]) -> list[Spoken]:
        """See `Runner`. The tokens reported are those of the step before."""
        previous, self._pending = self._pending, None
        with self._on_stream():
            self._launch([slot for slot in slots if self._seats[slot].tokens < self._seats[slot].limit])
        return self._read(previous) if previous else []

    def _launch(self, slots: Sequence[int]) -> None:
        feeding = [slot for slot in slots if not self._seats[slot].reading]
        reading = next((slot for slot in slots if self._seats[slot].reading), None)
        drawing = list(feeding)
        if reading is not None and self._prefill(reading):
            drawing.append(reading)
        if not drawing:
            return
        mail = self._mails[0]
        self._mails.reverse()
        mail.orders.zero_()
        mail.orders[0, feeding] = True
        mail.orders[1, drawing] = True
        self._orders.copy_(mail.orders, non_blocking=True)
        if self._graph is not None:
            self._graph.replay()
        else:
            self._advance()
        mail.ended.copy_(self._ended, non_blocking=True)
        if mail.done is not None:
            mail.done.record()
        for slot in drawing:
            self._seats[slot].tokens += 1
        self._pending = _Pending({slot: self._seats[slot] for slot in drawing}, mail)

    def _prefill(self, slot: int) -> bool:
        """Read a piece of the prompt; true if it was the last."""
        taken = self._seats[slot]
        piece = taken.embeddings[taken.read : taken.read + PIECE]
        positions = torch.arange(taken.read, taken.read + len(piece), device=self._device)
        hidden = self._gpt.forward(piece.unsqueeze(0), slot, positions.unsqueeze(0))
        taken.read += len(piece)
        if taken.reading:
            return False
        self._hidden[slot] = hidden[0, -1]
        return True

    def _advance(self) -> None:
        """One step of all slots by the orders. Reads and writes the buffers above, nothing else."""
        feed, draw = self._orders
        positions = torch.where(feed, self._positions, self.length)
        embeddings = self._table[self._codes + self._offsets].sum(1)
        fed = self._gpt.forward(embeddings.unsqueeze(1), 0, positions.unsqueeze(1))[:, 0]
        self._hidden.copy_(torch.where(feed.unsqueeze(1), fed, self._hidden))

        codes = sample(self._gpt.logits(self._hidden), self._recent, self._dice)
        drawn = draw.unsqueeze(1)
        self._codes.copy_(torch.where(drawn, codes, self._codes))
        place = self._dice.step % WINDOW
        self._recent[self._rows, :, place] = torch.where(drawn, codes, self._recent[self._rows, :, place])
        token = torch.where(draw, self._dice.step, self.length)
        self.history[self._rows, token] = self._hidden
        self._ended.copy_(draw & (codes == self._gpt.config.eos).any(1))
        self._dice.step.add_(draw)
        self._positions.add_(draw)

    def _read(self, pending: _Pending) -> list[Spoken]:
        if pending.mail.done is not None:
            pending.mail.done.synchronize()
        ended = pending.mail.ended.tolist()
        current = {slot: drew for slot, drew in pending.seats.items() if self._seats.get(slot) is drew}
        return [self._spoken(slot, drew, ended[slot]) for slot, drew in current.items()]

    def _spoken(self, slot: int, drew: Seat, ended: bool) -> Spoken:
        # A step launched since may have drawn one more.
        tokens = drew.tokens - (self._pending is not None and slot in self._pending.seats)
        if ended:
            return Spoken(slot, tokens - 1, StopReason.COMPLETE)
        return Spoken(slot, tokens, StopReason.LENGTH if tokens == drew.limit else None)

    def _capture(self) -> torch.cuda.CUDAGraph:
        """Record `_advance` as a graph, with every slot idle."""
        with torch.inference_mode(), self._on_stream():
            for _ in range(3):
                self._advance()
            torch.cuda.synchronize(self._device)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=self._stream):
                self._advance()
        return graph

    def _on_stream(self) -> AbstractContextManager[None]:
        return torch.cuda.stream(self._stream) if self._stream is not None else nullcontext()

    def _mail(self) -> _Mail:
        return _Mail(
            torch.zeros(2, self.slots, dtype=torch.bool, pin_memory=self._card),
            torch.zeros(self.slots, dtype=torch.bool, pin_memory=self._card),
            torch.cuda.Event() if self._card else None,  # type: ignore[no-untyped-call, unused-ignore]
        )
