"""The vocoder at work beside the language model, on a thread of its own."""

import queue
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch

from streaming.chattts.layout import EXACT
from streaming.chattts.utterance import Utterance
from streaming.chattts.vocoder import Vocoder
from streaming.silence import Samples

_TOGETHER = 3
"""Utterances in one call: they share its reading of the weights, and all of them get what they wait for at its end."""


@dataclass(frozen=True, slots=True)
class Work:
    """The next tokens of an utterance. `key` names it, and no other one ever."""

    key: int
    hidden: torch.Tensor
    """(tokens, hidden), fp32."""
    lookahead: int
    last: bool


@dataclass(frozen=True, slots=True)
class Made:
    """What came of some work: samples, or why there are none. Nothing follows what failed or was the last."""

    key: int
    pcm: Samples
    last: bool
    error: str = ""


@dataclass(frozen=True, slots=True)
class _Forget:
    key: int


class VocoderThread:
    """Takes the most urgent work that waits in one call, that of few utterances, so that none waits for many.

    What piled up of one utterance becomes one larger piece, but only once it is exact: before that, where it is cut can
    be told from the samples, and the same request has the same samples whatever else there is to do.
    """

    def __init__(self, vocoder: Vocoder, device: torch.device) -> None:
        self._vocoder = vocoder
        self._device = device
        self._utterances: dict[int, Utterance] = {}
        self._backlog: list[Work] = []
        self._inbox: queue.SimpleQueue[Work | _Forget] = queue.SimpleQueue()
        self._outbox: queue.SimpleQueue[Made] = queue.SimpleQueue()
        self._ranks: Mapping[int, int] = {}
        # An executor's thread is waited for when the process ends: one that is cut off inside torch takes it down.
        self._thread = ThreadPoolExecutor(1, "vocoder", self._begin)

    def submit(self, work: Work) -> None:
        """Returns at once."""
        self._inbox.put(work)
        self._thread.submit(self._run)

    def rank(self, keys: Sequence[int]) -> None:
        """Whose work goes first, from now on; that of all others comes after theirs."""
        self._ranks = {key: rank for rank, key in enumerate(keys)}

    def forget(self, key: int) -> None:
        """No more of this utterance is wanted. What was made already may still come."""
        self._inbox.put(_Forget(key))
        self._thread.submit(self._run)

    def made(self, wait_s: float = 0.0) -> list[Made]:
        """What is there, in order; if there is nothing, what comes within the time."""
        found = list(self._waiting())
        if not found and wait_s:
            try:
                found = [self._outbox.get(timeout=wait_s)]
            except queue.Empty:
                return []
        return found

    def _waiting(self) -> Iterator[Made]:
        while not self._outbox.empty():
            yield self._outbox.get()

    def _begin(self) -> None:
        """On the thread, once: its own way to compute."""
        torch.set_num_threads(1)
        if self._device.type == "cuda":
            torch.cuda.set_stream(torch.cuda.Stream(self._device))  # type: ignore[no-untyped-call, unused-ignore]

    def _run(self) -> None:
        """On the thread, once for each item that came; all but the first may find that nothing is left to do."""
        while works := self._gathered():
            self._do(works)

    def _gathered(self) -> list[Work]:
        """The most urgent of what waits, a piece for each utterance."""
        while not self._inbox.empty():
            self._accept(self._inbox.get())
        waiting = dict.fromkeys(work.key for work in self._backlog)
        urgent = sorted(waiting, key=lambda key: self._ranks.get(key, len(self._ranks)))
        held = set(urgent[_TOGETHER:])
        pieces: dict[int, Work] = {}
        later: list[Work] = []
        for work in self._backlog:
            before = pieces.get(work.key)
            if work.key in held or (before and not before.lookahead >= EXACT <= work.lookahead):
                held.add(work.key)  # what follows a piece that waits, waits behind it
                later.append(work)
            else:
                pieces[work.key] = _joined(before, work) if before else work
        self._backlog = later
        return list(pieces.values())

    def _accept(self, item: Work | _Forget) -> None:
        if isinstance(item, Work):
            self._backlog.append(item)
        else:
            self._backlog = [work for work in self._backlog if work.key != item.key]
            self._utterances.pop(item.key, None)

    def _do(self, works: list[Work]) -> None:
        try:
            results = self._decoded(works)
        except Exception as error:  # noqa: BLE001  # our bug costs these requests, not the worker
            results = [Made(work.key, Samples(0), work.last, f"the vocoder failed: {error!r}") for work in works]
        for made in results:
            if made.last or made.error:
                self._utterances.pop(made.key, None)
            self._outbox.put(made)

    def _decoded(self, works: list[Work]) -> list[Made]:
        utterances = [self._utterance(work.key) for work in works]
        rows = [
            utterance.row(work.hidden, work.lookahead, last=work.last)
            for utterance, work in zip(utterances, works, strict=True)
        ]
        return [
            Made(work.key, utterance.take(decoded, len(work.hidden), work.lookahead), work.last)
            for utterance, work, decoded in zip(utterances, works, self._vocoder.decode(rows), strict=True)
        ]

    def _utterance(self, key: int) -> Utterance:
        if key not in self._utterances:
            self._utterances[key] = Utterance(self._vocoder.blank())
        return self._utterances[key]


def _joined(first: Work, second: Work) -> Work:
    return Work(first.key, torch.cat((first.hidden, second.hidden)), second.lookahead, second.last)
