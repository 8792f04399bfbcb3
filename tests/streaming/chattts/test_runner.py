"""Requests in slots: what they say depends on nothing but themselves."""

import gc
import hashlib
import json
import os
import subprocess
import sys
import tracemalloc
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streaming.chattts import weights
from streaming.chattts.cpu_model import CpuGpt
from streaming.chattts.model import TorchGpt
from streaming.chattts.options import PIECE, Precision
from streaming.chattts.prompt import Embedder, Prompt
from streaming.chattts.runner import SHARED_PIECE, CpuRunner, Job, Runner, Spoken
from streaming.chattts.sampling import Sampling
from streaming.chattts.torch_runner import TorchRunner
from streaming.engine import StopReason
from tests.serving import ROOT
from tests.streaming.chattts.conftest import torch

SLOTS, LENGTH = 8, 256
EXACT = [Precision.INT8, Precision.BF16]


@pytest.fixture(scope="module")
def embedder(assets: weights.Assets) -> Embedder:
    return Embedder(assets.embed, assets.config)


def cpu_runner(assets: weights.Assets, precision: Precision, slots: int = SLOTS, length: int = LENGTH) -> CpuRunner:
    gpt = CpuGpt(assets, precision, slots, length, slots + PIECE)
    return CpuRunner(gpt, Embedder(assets.embed, assets.config))


def torch_runner(assets: weights.Assets, slots: int = SLOTS) -> TorchRunner:
    gpt = TorchGpt(assets, slots, LENGTH + 1, torch.float32, torch.device("cpu"))
    return TorchRunner(gpt, Embedder(assets.embed, assets.config))


def job(number: int, limit: int = 30, tokens: int | None = None) -> Job:
    dice = np.random.default_rng(number)
    size = tokens or int(dice.integers(5, 100))
    ids = dice.integers(0, 21_000, size).tolist()
    ids[1] = 21_143
    vector = dice.standard_normal(128).astype(np.float16) if number % 2 else None
    return Job(Prompt(ids, 21_143, vector), Sampling(temperature=(0.7,) * 4), number, limit)


@dataclass
class Listener:
    """Runs requests in a runner and keeps what they said."""

    runner: Runner
    slots: dict[int, int] = field(default_factory=dict)
    said: dict[int, Any] = field(default_factory=dict)
    stopped: dict[int, Spoken] = field(default_factory=dict)

    def start(self, number: int, slot: int, request: Job | None = None) -> None:
        self.slots[number] = slot
        self.runner.start(slot, request or job(number))

    def step(self, *without: int) -> None:
        numbers = {slot: number for number, slot in self.slots.items() if number not in without}
        for spoken in self.runner.step(list(numbers)):
            if spoken.stop is not None:
                number = numbers[spoken.slot]
                self.said[number] = self.runner.spoken(spoken.slot, 0, spoken.tokens)
                self.stopped[number] = spoken
                self.leave(number)

    def leave(self, number: int) -> None:
        self.runner.free(self.slots.pop(number))

    def finish(self) -> None:
        while self.slots:
            self.step()


def alone(assets: weights.Assets, precision: Precision, number: int, request: Job | None = None) -> Any:
    listener = Listener(cpu_runner(assets, precision, 1))
    listener.start(number, 0, request)
    listener.finish()
    return listener.said[number]


@pytest.mark.parametrize("precision", EXACT)
def test_company_changes_nothing(assets: weights.Assets, precision: Precision) -> None:
    """Alone, among seven others, joining late, after another left, with pauses, and in a second run."""
    expected = {number: alone(assets, precision, number) for number in range(10)}
    for run in range(2):
        listener = Listener(cpu_runner(assets, precision))
        for number in range(6):
            listener.start(number, 7 - number)
        for step in range(20):
            listener.step(*([3] if step % 3 == run else []))
        listener.leave(5)
        listener.start(6, 2)
        listener.start(7, 0)
        listener.start(8, 1)
        while len(listener.slots) == SLOTS:
            listener.step()
        listener.start(9, next(iter(set(range(8)) - set(listener.slots.values()))))
        listener.finish()
        for number in set(range(10)) - {5}:
            assert torch.equal(listener.said[number], expected[number]), number


def test_a_restart_changes_nothing(assets: weights.Assets) -> None:
    """Another process, with others around and other slots, says the same."""
    script = f"from {__name__} import retold; retold()"
    there = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert json.loads(there.stdout) == [digest(alone(assets, precision, 3)) for precision in EXACT]


def retold() -> None:
    """Print what request 3 says of the same weights in each precision, among two others."""
    assets = weights.load("random-tiny:7")
    digests = []
    for precision in EXACT:
        listener = Listener(cpu_runner(assets, precision, 3))
        for number in (1, 3, 2):
            listener.start(number, number - 1)
        listener.finish()
        digests.append(digest(listener.said[3]))
    print(json.dumps(digests))


def digest(said: Any) -> str:
    return hashlib.sha256(said.numpy().tobytes()).hexdigest()


def test_fp32_stays_within_a_ten_thousandth(assets: weights.Assets) -> None:
    expected = alone(assets, Precision.FP32, 1)
    listener = Listener(cpu_runner(assets, Precision.FP32))
    for number in range(8):
        listener.start(number, number)
    listener.finish()
    torch.testing.assert_close(listener.said[1], expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("precision", EXACT)
def test_nothing_is_left_in_a_slot(assets: weights.Assets, precision: Precision) -> None:
    """A freed slot is filled with NaN, and the next request does not notice."""
    expected = alone(assets, precision, 4)
    listener = Listener(cpu_runner(assets, precision, 2))
    listener.start(1, 0)
    for _ in range(12):
        listener.step()
    listener.leave(1)
    listener.runner._gpt.cache.fill(0, float("nan"))  # type: ignore[attr-defined]
    listener.runner._codes[0] = 624  # type: ignore[attr-defined]
    listener.start(4, 0)
    listener.finish()
    assert torch.equal(listener.said[4], expected)


def test_the_torch_runner_says_the_same(assets: weights.Assets) -> None:
    """With fp32 on both sides, with neighbours, reused slots and NaN in the freed ones."""
    expected = {number: alone(assets, Precision.FP32, number) for number in range(5)}
    listener = Listener(torch_runner(assets, 3))
    for number in range(3):
        listener.start(number, number)
    for _ in range(11):
        listener.step()
    listener.leave(1)
    listener.runner._gpt.cache.fill(1, float("nan"))  # type: ignore[attr-defined]
    listener.start(3, 1)
    listener.finish()
    listener.start(4, 2)
    listener.finish()
    for number in (0, 2, 3, 4):
        torch.testing.assert_close(listener.said[number], expected[number], rtol=0, atol=1e-3)


def test_the_torch_runner_is_the_same_in_company(assets: weights.Assets) -> None:
    lone = Listener(torch_runner(assets, 4))
    lone.start(1, 2)
    lone.finish()
    crowd = Listener(torch_runner(assets, 4))
    for number in range(4):
        crowd.start(number, 3 - number)
    crowd.finish()
    assert torch.equal(lone.said[1], crowd.said[1])


@pytest.mark.parametrize(
    ("make", "piece"), [(lambda assets: cpu_runner(assets, Precision.INT8), SHARED_PIECE), (torch_runner, PIECE)]
)
def test_long_prompts_go_in_pieces(assets: weights.Assets, make: Any, piece: int) -> None:
    """While one request reads 200 tokens, another speaks at every step."""
    listener = Listener(make(assets))
    listener.start(0, 0, job(0, 40, 5))
    listener.step()
    listener.step()
    listener.start(1, 1, job(1, 40, 200))
    for pieces in range(1, -(-200 // piece) + 1):
        before = listener.runner._seats[0].tokens  # type: ignore[attr-defined]
        assert not listener.runner.prefilled(1)
        listener.step()
        assert listener.runner._seats[0].tokens == before + 1  # type: ignore[attr-defined]
        assert listener.runner._seats[1].read == min(200, pieces * piece)  # type: ignore[attr-defined]
    assert listener.runner.prefilled(1)


@pytest.mark.parametrize("make", [lambda assets: cpu_runner(assets, Precision.INT8), torch_runner])
def test_the_limit_and_its_reason(assets: weights.Assets, make: Any) -> None:
    listener = Listener(make(assets))
    for number, limit in enumerate((1, 2, 17)):
        listener.start(number, number, job(number, limit))
    listener.finish()
    for number, limit in enumerate((1, 2, 17)):
        assert listener.stopped[number] == Spoken(number, limit, StopReason.LENGTH)
        assert len(listener.said[number]) == limit


@pytest.mark.parametrize("make", [lambda assets: cpu_runner(assets, Precision.INT8), torch_runner])
def test_an_end_in_any_codebook(assets: weights.Assets, make: Any) -> None:
    """The ending token is no audio, and the first token can't be one."""
    for book in range(4):
        listener = Listener(make(assets))
        inner = listener.runner._gpt.logits  # type: ignore[attr-defined]

        def logits(hidden: Any, book: int = book, inner: Any = inner) -> Any:
            values = inner(hidden)
            values.reshape(-1, 4, 626)[:, book, 625] = 1e4
            return values

        listener.runner._gpt.logits = logits  # type: ignore[attr-defined]
        listener.start(0, 0)
        listener.finish()
        assert listener.stopped[0] == Spoken(0, 1, StopReason.COMPLETE)


def test_an_audio_prompt_is_read_after_the_text(assets: weights.Assets, embedder: Embedder) -> None:
    codes = np.arange(12, dtype=np.uint16).reshape(4, 3)
    rows = embedder.prompt(Prompt([1, 2], 21_143, None, codes))
    tables = [assets.embed[f"emb_code.{book}.weight"] for book in range(4)]
    assert torch.equal(rows[:2], assets.embed["emb_text.weight"][[1, 2]])
    torch.testing.assert_close(rows[2], sum(tables[book][3 * book] for book in range(4)))


def test_what_does_not_fit_is_refused(assets: weights.Assets) -> None:
    runner = cpu_runner(assets, Precision.INT8)
    with pytest.raises(ValueError, match="a prompt of 100 tokens leaves 156 for audio, and 157 were asked for"):
        runner.start(0, job(0, 157, 100))
    runner.start(0, job(0, 156, 100))


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(("requests", "steps"), [(4, 500), (1, 2000)])
def test_steps_take_no_memory(assets: weights.Assets, requests: int, steps: int) -> None:
    """No tensor lives on, none of ours moves, and the process does not grow."""
    limit = steps + 50
    listener = Listener(cpu_runner(assets, Precision.INT8, requests, limit + 20))
    for number in range(requests):
        endless = replace(job(number, limit, 20), sampling=Sampling(min_tokens=min(limit, 2048)))
        listener.start(number, number, endless)
    for _ in range(20):
        listener.step()
    runner: Any = listener.runner
    places = [tensor.data_ptr() for tensor in (*runner._gpt.cache.layers, runner.history, runner._codes)]
    gc.collect()
    tensors, before = sum(type(thing) is torch.Tensor for thing in gc.get_objects()), resident()
    tracemalloc.start()
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(steps):
        listener.step()
    gc.collect()
    assert len(listener.slots) == requests
    grown = tracemalloc.get_traced_memory()[0] - first
    tracemalloc.stop()
    assert sum(type(thing) is torch.Tensor for thing in gc.get_objects()) == tensors
    assert [tensor.data_ptr() for tensor in (*runner._gpt.cache.layers, runner.history, runner._codes)] == places
    assert grown < 64 << 10
    assert resident() - before < 4 << 20
