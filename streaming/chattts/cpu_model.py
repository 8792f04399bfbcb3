"""The language model on a CPU: packed weights and a loop over the compiled layers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from streaming.chattts import kernels
from streaming.chattts.kv_cache import KvCache
from streaming.chattts.layout import GptConfig
from streaming.chattts.options import Precision
from streaming.chattts.vectors import TILE
from streaming.chattts.weights import Assets, Tensors

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Packed:
    """A matrix as `kernels.linear` reads it."""

    weights: Array  # (outputs / TILE, TILE * inputs)
    scales: Array  # (outputs,)


class CpuGpt:
    """Rows of embeddings in, hidden states and logits out. One thread; no memory is taken after construction."""

    def __init__(self, assets: Assets, precision: Precision, slots: int, length: int, rows: int) -> None:
        """`rows`: the most rows one call can hold; `slots` and `length`: see `KvCache`."""
        config = self.config = assets.config
        kept = torch.float32 if precision is Precision.FP32 else torch.bfloat16
        self.cache = KvCache(config, slots, length, kept, torch.device("cpu"))
        self.rows = rows
        self._caches = [_as_numpy(tensor) for tensor in self.cache.layers]
        self._layers = [_layer(assets.gpt, index, precision) for index in range(config.layers)]
        self._norm = _float(assets.gpt["norm.weight"])
        self._eps = np.float32(config.norm_eps)
        self._angles = _as_numpy(angles(config, length))
        # The heads are 1 % of the work: not worth the noise of int8.
        self._heads = _pack(
            head_matrix(assets.embed, config), Precision.FP32 if precision is Precision.FP32 else Precision.BF16
        )
        self._scratch = _scratch(config, rows, length, np.int16 if precision is Precision.INT8 else np.float32)
        self._ones = np.ones(rows, np.float32)
        self._states = np.zeros((rows, config.hidden), np.float32)
        self._hidden = np.zeros((rows, config.hidden), np.float32)
        self._logits = np.zeros((rows, config.codebooks * config.audio_tokens), np.float32)

    def forward(self, embeddings: Array, slots: Array, positions: Array) -> Array:
        """Hidden states (rows, hidden) fp32 of embeddings (rows, hidden); valid until the next call.

        Row i is the token at `positions[i]` of slot `slots[i]`; rows of one slot are in order of position.
        """
        states = self._states[: len(embeddings)]
        states[:] = embeddings
        row_set = (states, slots, positions)
        for weights, cache in zip(self._layers, self._caches, strict=True):
            kernels.layer(row_set, self._scratch, weights, cache, self._angles, self._eps)
        hidden = self._hidden[: len(embeddings)]
        kernels.normalise(states, self._norm, self._eps, hidden)
        return hidden

    def logits(self, hidden: Array) -> Array:
        """Logits (rows, codebooks * audio tokens) fp32 of hidden states; valid until the next call."""
        outputs = self._logits[: len(hidden)]
        sums, ones = self._scratch[-1], self._ones[: len(hidden)]
        kernels.linear(self._heads.weights, self._heads.scales, hidden, ones, outputs, sums)
        return outputs


def head_matrix(embed: Tensors, config: GptConfig) -> torch.Tensor:
    """The weight-normed audio heads as one matrix (codebooks * audio tokens, hidden)."""
    folded = []
    for book in range(config.codebooks):
        name = f"head_code.{book}.parametrizations.weight.original"
        length, direction = embed[f"{name}0"].float(), embed[f"{name}1"].float()
        folded.append(direction * (length / direction.norm(dim=1, keepdim=True)))
    return torch.cat(folded)


def angles(config: GptConfig, length: int) -> torch.Tensor:
    """Cosines and sines of the rotary embedding, (2, length, head_dim / 2) fp32."""
    exponents = torch.arange(0, config.head_dim, 2, dtype=torch.int64).float() / config.head_dim
    turns = torch.arange(length).float().outer(1.0 / config.rope_theta**exponents)
    return torch.stack((turns.cos(), turns.sin()))


def _layer(gpt: Tensors, index: int, precision: Precision) -> tuple[Array, ...]:
    """The weights of one layer in the order `kernels.layer` takes them."""
    name = f"layers.{index}"
    fused = (
        [f"self_attn.{part}_proj" for part in "qkv"],
        ["self_attn.o_proj"],
        ["mlp.gate_proj", "mlp.up_proj"],
        ["mlp.down_proj"],
    )
    norms = (gpt[f"{name}.input_layernorm.weight"], gpt[f"{name}.post_attention_layernorm.weight"])
    packed = [_pack(torch.cat([gpt[f"{name}.{part}.weight"] for part in parts]), precision) for parts in fused]
    return (*map(_float, norms), *(array for matrix in packed for array in (matrix.weights, matrix.scales)))


def _pack(matrix: torch.Tensor, precision: Precision) -> _Packed:
    wide = matrix.float()
    scales = torch.ones(len(wide))
    if precision is Precision.INT8:
        scales = wide.abs().amax(1).clamp_min(1e-20) / 127
        wide = (wide / scales.unsqueeze(1)).round().to(torch.int8)
    elif precision is Precision.BF16:
        wide = wide.bfloat16()
    return _Packed(kernels.pack(_as_numpy(wide)), _as_numpy(scales))


def _scratch(config: GptConfig, rows: int, length: int, inputs: Any) -> tuple[Array, ...]:
    """Working memory in the order `kernels.layer` takes it."""
    hidden, wide = config.hidden, config.intermediate
    return (
        np.zeros((rows, hidden), np.float32),
        np.zeros((rows, hidden), inputs),
        np.zeros((rows, wide), inputs),
        np.zeros(rows, np.float32),
        np.zeros((rows, 3 * hidden), np.float32),
        np.zeros((rows, hidden), np.float32),
        np.zeros((rows, 2 * wide), np.float32),
        np.zeros((rows, wide), np.float32),
        np.zeros(length, np.float32),
        np.zeros(TILE * 4, np.float32),
    )


def _float(tensor: torch.Tensor) -> Array:
    return _as_numpy(tensor.float().clone())


def _as_numpy(tensor: torch.Tensor) -> Array:
    """A view; bf16, which numpy lacks, as its bits."""
    array: Array = tensor.view(torch.uint16).numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()
    return array
