"""The batch on a real card: graphs against eager, the card against the CPU, and no waiting inside a step."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from streaming.chattts import weights  # noqa: E402
from streaming.chattts.cpu_model import CpuGpt  # noqa: E402
from streaming.chattts.engine import build  # noqa: E402
from streaming.chattts.model import TorchGpt  # noqa: E402
from streaming.chattts.options import PIECE, Precision  # noqa: E402
from streaming.chattts.prompt import Embedder, Prompt  # noqa: E402
from streaming.chattts.runner import CpuRunner, Job, Runner  # noqa: E402
from streaming.chattts.sampler import Dice, sample  # noqa: E402
from streaming.chattts.sampling import Sampling  # noqa: E402
from streaming.chattts.torch_runner import TorchRunner  # noqa: E402
from streaming.chattts.vocoder import Row, Vocoder  # noqa: E402
from streaming.engine import Chunk, SegmentRequest  # noqa: E402

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]

SLOTS, LENGTH = 4, 256


@pytest.fixture(scope="module")
def assets() -> weights.Assets:
    return weights.load("random-tiny:7")


@pytest.fixture(autouse=True)
def _exact() -> Iterator[None]:
    backends = (torch.backends.cuda.matmul, torch.backends.cudnn)
    before = [backend.allow_tf32 for backend in backends]
    for backend in backends:
        backend.allow_tf32 = False
    yield
    for backend, allowed in zip(backends, before, strict=True):
        backend.allow_tf32 = allowed


def on_card(assets: weights.Assets, dtype: Any, *, graphs: bool = False) -> TorchRunner:
    with torch.inference_mode():
        gpt = TorchGpt(assets, SLOTS, LENGTH + 1, dtype, torch.device("cuda"))
    return TorchRunner(gpt, Embedder(assets.embed, assets.config), graphs=graphs)


def job(number: int, limit: int = 40) -> Job:
    dice = np.random.default_rng(number)
    ids = dice.integers(0, 21_000, int(dice.integers(5, 100))).tolist()
    return Job(Prompt(ids, 21_143), Sampling(temperature=(0.7,) * 4, min_tokens=limit), number, limit)


def say(runner: Runner, numbers: dict[int, int], limit: int = 40) -> dict[int, Any]:
    """Run requests by slot to their end; returns their hidden states."""
    for slot, number in numbers.items():
        runner.start(slot, job(number, limit))
    running, said = set(numbers), {}
    while running:
        for spoken in runner.step(sorted(running)):
            if spoken.stop is not None:
                said[numbers[spoken.slot]] = runner.spoken(spoken.slot, 0, spoken.tokens).cpu()
                runner.free(spoken.slot)
                running.remove(spoken.slot)
    return said


def test_the_card_says_what_the_cpu_says(assets: weights.Assets) -> None:
    gpt = CpuGpt(assets, Precision.FP32, SLOTS, LENGTH, SLOTS + PIECE)
    expected = say(CpuRunner(gpt, Embedder(assets.embed, assets.config)), {0: 1, 2: 2})
    said = say(on_card(assets, torch.float32), {0: 1, 2: 2})
    for number, hidden in expected.items():
        torch.testing.assert_close(said[number], hidden, rtol=0, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_graphs_say_what_eager_says(assets: weights.Assets, dtype: Any) -> None:
    eager = say(on_card(assets, dtype), {0: 1, 1: 2, 3: 3})
    graphs = say(on_card(assets, dtype, graphs=True), {0: 1, 1: 2, 3: 3})
    assert all(torch.equal(eager[number], graphs[number]) for number in eager)


@pytest.mark.parametrize("graphs", [False, True])
def test_company_changes_nothing(assets: weights.Assets, graphs: bool) -> None:
    lone = say(on_card(assets, torch.bfloat16, graphs=graphs), {2: 1})
    crowd = say(on_card(assets, torch.bfloat16, graphs=graphs), {2: 1, 0: 2, 1: 3, 3: 4})
    assert torch.equal(lone[1], crowd[1])


def test_nothing_is_left_in_a_slot(assets: weights.Assets) -> None:
    runner = on_card(assets, torch.bfloat16)
    expected = say(runner, {1: 5})
    runner._gpt.cache.fill(1, float("nan"))
    assert torch.equal(say(runner, {1: 5})[5], expected[5])


def test_a_step_does_not_wait_for_the_card(assets: weights.Assets) -> None:
    """Steady steps make no synchronising call but the one on the event of the step before."""
    runner = on_card(assets, torch.bfloat16)
    for slot in range(SLOTS):
        runner.start(slot, job(slot, 100))
    while not all(runner.prefilled(slot) for slot in range(SLOTS)):
        runner.step(range(SLOTS))
    for _ in range(3):
        runner.step(range(SLOTS))
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(20):
            runner.step(range(SLOTS))
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_dice_are_the_cpus() -> None:
    dice = Dice.blank(3, 4, torch.device("cpu"))
    for row in range(3):
        dice.set(row, Sampling(temperature=(1.0,) * 4), row - 1)
    logits, recent = torch.randn(3, 4, 626), torch.randint(0, 627, (3, 4, 16))
    moved = Dice(*(getattr(dice, name).cuda() for name in dice.__slots__))
    agreed = sample(logits.cuda(), recent.cuda(), moved).cpu() == sample(logits, recent, dice)
    assert float(agreed.float().mean()) > 0.99


def test_the_engine_speaks() -> None:
    engine = build(weights="random-tiny:3", device="cuda", precision="bf16", slots=2, length=256)
    engine.start(SegmentRequest(1, 1, 0, "hello", "seed:2"))
    pcm, ended = b"", False
    while not ended:
        for made in engine.step([1]):
            assert isinstance(made, Chunk)
            pcm, ended = pcm + made.pcm, made.stop is not None
    assert np.abs(np.frombuffer(pcm, "<f4")).max() > 1e-3


def test_the_vocoder_gives_what_the_cpus_gives(assets: weights.Assets) -> None:
    """In pieces on the card, whole on the CPU."""
    hidden = torch.randn(90, assets.config.hidden, generator=torch.Generator().manual_seed(1))
    there, here = (Vocoder(assets.decoder, assets.vocos, torch.device(name)) for name in ("cuda", "cpu"))
    (whole,) = here.decode([Row(here.blank(), hidden, last=True)])
    state, parts = there.blank(), []
    for start, end in ((0, 4), (4, 60), (60, 90)):
        (piece,) = there.decode([Row(state, hidden[start:end].cuda(), last=end == 90)])
        state = piece.state
        parts.append(piece.pcm.cpu())
    torch.testing.assert_close(torch.cat(parts), whole.pcm, rtol=0, atol=1e-3)
