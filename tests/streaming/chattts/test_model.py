"""The language model against upstream's, and a request against itself in company."""

import warnings
from typing import Any

import numpy as np
import pytest

from streaming.chattts import layout, speaker, weights
from streaming.chattts.cpu_model import CpuGpt
from streaming.chattts.model import TorchGpt
from streaming.chattts.options import Precision
from streaming.chattts.prompt import Embedder, Prompt
from tests.streaming.chattts.conftest import torch

STEPS = 200
PROMPT = 40
SPEAKER = 21_143


@pytest.fixture(scope="module")
def embeddings(assets: weights.Assets) -> Any:
    """A prompt and the codes that are forced after it, as the model sees them: (PROMPT + STEPS, hidden)."""
    generator = torch.Generator().manual_seed(3)
    text = torch.randint(0, 21_178, (PROMPT,), generator=generator)
    codes = torch.randint(0, 625, (STEPS, 4), generator=generator)
    spoken = sum(assets.embed[f"emb_code.{book}.weight"][codes[:, book]] for book in range(4))
    return torch.cat((assets.embed["emb_text.weight"][text], spoken))


@pytest.fixture(scope="module")
def expected(upstream_gpt: Any, embeddings: Any) -> tuple[Any, Any]:
    return reference(upstream_gpt, embeddings)


def reference(upstream_gpt: Any, embeddings: Any) -> tuple[Any, Any]:
    """Upstream's hidden states and logits, token by token after the prompt."""
    past, hidden, at = None, [], 0
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for size in [PROMPT] + [1] * STEPS:
            mask = torch.ones(1, at + size)
            position = torch.arange(at, at + size).unsqueeze(0)
            output = upstream_gpt.gpt(
                inputs_embeds=embeddings[None, at : at + size],
                attention_mask=mask,
                position_ids=position,
                past_key_values=past,
                use_cache=True,
            )
            past, at = output.past_key_values, at + size
            hidden.append(output.last_hidden_state[0])
        states = torch.cat(hidden)
        return states, torch.stack([head(states) for head in upstream_gpt.head_code], 1)


def run(gpt: CpuGpt, embeddings: Any, slot: int = 0, piece: int = 64) -> tuple[Any, Any]:
    hidden, logits = [], []
    starts = [*range(0, PROMPT, piece), *range(PROMPT, len(embeddings))]
    for start, end in zip(starts, [*starts[1:], len(embeddings)], strict=True):
        size = end - start
        rows = gpt.forward(embeddings[start:end].numpy(), np.full(size, slot), np.arange(start, end))
        logits.append(gpt.logits(rows).copy())
        hidden.append(rows.copy())
    return torch.from_numpy(np.concatenate(hidden)), torch.from_numpy(np.concatenate(logits)).unflatten(1, (4, 626))


def test_fp32_equals_upstream(assets: weights.Assets, embeddings: Any, expected: tuple[Any, Any]) -> None:
    hidden, logits = run(CpuGpt(assets, Precision.FP32, 1, 256, 64), embeddings)
    torch.testing.assert_close(hidden, expected[0], rtol=0, atol=1e-4)
    torch.testing.assert_close(logits, expected[1], rtol=0, atol=1e-4)


def test_a_speaker_equals_upstream(assets: weights.Assets, upstream: Any, upstream_gpt: Any) -> None:
    """The prompt as each side makes it, the voice from upstream's own string; then 200 steps of the same codes."""
    size = assets.config.hidden
    vector = speaker.draw(5, speaker.Statistics.released(), size)
    text = torch.randint(0, 21_000, (PROMPT,), generator=torch.Generator().manual_seed(4))
    text[1] = SPEAKER
    codes = torch.randint(0, 625, (STEPS, 4), generator=torch.Generator().manual_seed(5))
    embedder = Embedder(assets.embed, assets.config)
    ours = torch.cat((embedder.prompt(Prompt(text.tolist(), SPEAKER, vector)), embedder.spoken(codes)))

    ids = torch.cat((text.unsqueeze(1).expand(-1, 4), codes)).unsqueeze(0)
    theirs = upstream_gpt.embed(ids, torch.arange(PROMPT + STEPS).unsqueeze(0) < PROMPT)
    voices = upstream.model.Speaker(size, upstream.config.Config().spk_stat, torch.device("cpu"))
    voices.apply(theirs, speaker.encode(vector), ids, SPEAKER, torch.device("cpu"))
    assert float((ours[1] - ours[0]).abs().max()) > 0.01

    expected = reference(upstream_gpt, theirs[0])
    hidden, logits = run(CpuGpt(assets, Precision.FP32, 1, 256, 64), ours)
    torch.testing.assert_close(hidden, expected[0], rtol=0, atol=1e-4)
    torch.testing.assert_close(logits, expected[1], rtol=0, atol=1e-4)


def test_torch_equals_upstream(assets: weights.Assets, embeddings: Any, expected: tuple[Any, Any]) -> None:
    gpt = TorchGpt(assets, 3, 256, torch.float32, torch.device("cpu"))
    with torch.inference_mode():
        rows = [gpt.forward(embeddings[None, :PROMPT], 1, torch.arange(PROMPT)[None])[0]]
        steps = range(PROMPT, PROMPT + STEPS)
        rows += [gpt.forward(embeddings[None, at : at + 1], 1, torch.tensor([[at]]))[0] for at in steps]
        hidden = torch.cat(rows)
        torch.testing.assert_close(hidden, expected[0], rtol=0, atol=1e-4)
        torch.testing.assert_close(gpt.logits(hidden), expected[1], rtol=0, atol=1e-4)


@pytest.mark.parametrize(("precision", "limit"), [(Precision.BF16, 0.02), (Precision.INT8, 0.02)])
def test_short_precisions_stay_near(
    assets: weights.Assets, embeddings: Any, expected: tuple[Any, Any], precision: Precision, limit: float
) -> None:
    hidden, _ = run(CpuGpt(assets, precision, 1, 256, 64), embeddings)
    error = (hidden - expected[0]).square().mean().sqrt() / expected[0].square().mean().sqrt()
    assert 0 < float(error) < limit


@pytest.mark.parametrize("precision", Precision)
def test_a_row_is_the_same_in_any_company(assets: weights.Assets, embeddings: Any, precision: Precision) -> None:
    """Bit for bit: alone, in another slot, prefilled in other pieces, and among rows of any other request."""
    alone = run(CpuGpt(assets, precision, 1, 256, 64), embeddings[: PROMPT + 40])
    gpt = CpuGpt(assets, precision, 8, 256, 72)
    assert all(torch.equal(a, b) for a, b in zip(run(gpt, embeddings[: PROMPT + 40], 5, 7), alone, strict=True))

    noise = np.random.default_rng(0)
    gpt.forward(embeddings[:PROMPT].numpy(), np.full(PROMPT, 2), np.arange(PROMPT))
    for step in range(40):
        others = noise.permutation([0, 1, 3, 4, 5, 6, 7])[: step % 8]
        slots = np.insert(others, step % (len(others) + 1), 2)
        positions = np.where(slots == 2, PROMPT + step, noise.integers(0, 256, len(slots)))
        rows = 100 * noise.standard_normal((len(slots), gpt.config.hidden)).astype(np.float32)
        rows[slots == 2] = embeddings[PROMPT + step].numpy()
        hidden = gpt.forward(rows, slots, positions)
        assert np.array_equal(hidden[slots == 2][0], alone[0][PROMPT + step].numpy())
        assert np.array_equal(gpt.logits(hidden)[slots == 2][0], alone[1][PROMPT + step].flatten().numpy())


def test_prefill_and_decode_rows_share_a_call(assets: weights.Assets, embeddings: Any) -> None:
    alone = run(CpuGpt(assets, Precision.INT8, 1, 256, 64), embeddings[: PROMPT + 1])[0]
    gpt = CpuGpt(assets, Precision.INT8, 2, 256, 72)
    gpt.forward(embeddings[:PROMPT].numpy(), np.zeros(PROMPT, np.int64), np.arange(PROMPT))
    rows = torch.cat((embeddings[PROMPT : PROMPT + 1], embeddings[:PROMPT])).numpy()
    slots, positions = np.array([0] + [1] * PROMPT), np.array([PROMPT, *range(PROMPT)])
    hidden = gpt.forward(rows, slots, positions)
    assert np.array_equal(hidden[0], alone[PROMPT].numpy())
    assert np.array_equal(hidden[1:], alone[:PROMPT].numpy())


def test_the_cache_has_an_end(assets: weights.Assets) -> None:
    with pytest.raises(ValueError, match="4096 positions; 5000 were asked for"):
        CpuGpt(assets, Precision.INT8, 1, 5000, 64)


@pytest.fixture
def full_size() -> weights.Assets:
    return weights.load("random:1")


@pytest.mark.slow
def test_full_size_is_the_same_in_company(full_size: weights.Assets) -> None:
    rows = np.random.default_rng(1).standard_normal((8, layout.GptConfig().hidden)).astype(np.float32)
    for precision in (Precision.INT8, Precision.BF16):
        gpt = CpuGpt(full_size, precision, 8, 64, 64)
        slots, positions = np.arange(8), np.zeros(8, np.int64)
        together = gpt.logits(gpt.forward(rows, slots, positions)).copy()
        for row in range(8):
            alone = gpt.logits(gpt.forward(rows[row : row + 1], slots[row : row + 1], positions[:1]))
            assert np.array_equal(alone[0], together[row])


@pytest.mark.slow
def test_full_size_equals_upstream(full_size: weights.Assets) -> None:
    """240 tokens, forced, against the model class that upstream runs."""
    transformers = pytest.importorskip("transformers")
    theirs = transformers.LlamaModel(transformers.LlamaConfig(**{**full_size.config.to_json(), "vocab_size": 32}))
    theirs.load_state_dict(dict(full_size.gpt), strict=False)
    rows = 0.5 * torch.randn(PROMPT + STEPS, full_size.config.hidden, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        expected = theirs(inputs_embeds=rows.unsqueeze(0), use_cache=False).last_hidden_state[0]
    hidden, logits = run(CpuGpt(full_size, Precision.FP32, 1, 256, 64), rows)
    torch.testing.assert_close(hidden, expected, rtol=0, atol=1e-4)
    for book in range(4):
        head = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(full_size.config.hidden, 626, bias=False))
        name = f"head_code.{book}."
        head.load_state_dict(
            {key.removeprefix(name): of for key, of in full_size.embed.items() if key.startswith(name)}
        )
        torch.testing.assert_close(logits[:, book], head(expected).detach(), rtol=0, atol=1e-4)
