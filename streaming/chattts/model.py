"""The language model in torch: on a card, and as the plain statement of what `kernels` compiles for a CPU."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812

from streaming.chattts.cpu_model import angles, head_matrix
from streaming.chattts.kv_cache import KvCache
from streaming.chattts.weights import Assets


@dataclass(frozen=True, slots=True)
class _Layer:
    norm1: torch.Tensor  # (hidden,)
    qkv: torch.Tensor  # (3 * hidden, hidden)
    out: torch.Tensor  # (hidden, hidden)
    norm2: torch.Tensor  # (hidden,)
    gate_up: torch.Tensor  # (2 * intermediate, hidden)
    down: torch.Tensor  # (hidden, intermediate)


class TorchGpt:
    """Blocks of tokens in consecutive slots in, hidden states and logits out.

    Attention always spans the whole cache under a mask, so a call's shapes depend on how many slots and tokens it
    has and on nothing else: it can be captured as a graph, and a row's neighbours can't change how it is computed.
    """

    def __init__(self, assets: Assets, slots: int, length: int, dtype: torch.dtype, device: torch.device) -> None:
        """`slots` and `length`: see `KvCache`. Weights, cache and states are kept in `dtype`, norms in fp32."""
        self.config = assets.config
        self.cache = KvCache(assets.config, slots, length, dtype, device)
        self._layers = [_layer(assets, index, dtype, device) for index in range(assets.config.layers)]
        self._norm = assets.gpt["norm.weight"].to(device, torch.float32)
        self._heads = head_matrix(assets.embed, assets.config).to(device, dtype)
        self._angles = angles(assets.config, length).to(device)
        self._span = torch.arange(length, device=device)
        self._dtype = dtype

    def forward(self, embeddings: torch.Tensor, first: int, positions: torch.Tensor) -> torch.Tensor:
        """Hidden states (B, T, hidden) fp32 of embeddings (B, T, hidden) for slots `first` to `first + B`.

        `positions` (B, T) int64 say where each token stands; keys and values are written there.
        """
        batch = len(embeddings)
        rows = torch.arange(batch, device=embeddings.device).unsqueeze(1)  # (B, 1)
        cos, sin = self._angles[:, positions].unsqueeze(2)  # each (B, 1, T, head_dim / 2)
        mask = (self._span <= positions.unsqueeze(-1)).unsqueeze(1)  # (B, 1, T, length)
        states = embeddings.float()
        for layer, cache in zip(self._layers, self.cache.layers, strict=True):
            qkv = F.linear(self._normed(states, layer.norm1), layer.qkv)
            q, k, v = qkv.view(batch, -1, 3, self.config.heads, self.config.head_dim).unbind(
                2
            )  # (B, T, heads, head_dim)
            past = cache[:, first : first + batch]
            past[0][rows, :, positions] = _turn(k.transpose(1, 2), cos, sin).transpose(1, 2)
            past[1][rows, :, positions] = v
            mixed = F.scaled_dot_product_attention(_turn(q.transpose(1, 2), cos, sin), past[0], past[1], mask)
            states = states + F.linear(mixed.transpose(1, 2).flatten(2), layer.out).float()
            gate, up = F.linear(self._normed(states, layer.norm2), layer.gate_up).chunk(2, -1)
            states = states + F.linear(F.silu(gate) * up, layer.down).float()
        return F.rms_norm(states, states.shape[-1:], self._norm, self.config.norm_eps)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Logits (..., codebooks, audio tokens) fp32 of hidden states (..., hidden)."""
        flat = F.linear(hidden.to(self._dtype), self._heads).float()
        return flat.view(*hidden.shape[:-1], self.config.codebooks, self.config.audio_tokens)

    def _normed(self, states: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(states, states.shape[-1:], weight, self.config.norm_eps).to(self._dtype)


def _turn(heads: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary embedding: the two halves of each head are the real and imaginary parts."""
    low, high = heads.float().chunk(2, -1)
    return torch.cat((low * cos - high * sin, high * cos + low * sin), -1).to(heads.dtype)


def _layer(assets: Assets, index: int, dtype: torch.dtype, device: torch.device) -> _Layer:
    name = f"layers.{index}"

    def fuse(*parts: str) -> torch.Tensor:
        return torch.cat([assets.gpt[f"{name}.{part}_proj.weight"] for part in parts]).to(device, dtype)

    return _Layer(
        assets.gpt[f"{name}.input_layernorm.weight"].to(device, torch.float32),
        fuse("self_attn.q", "self_attn.k", "self_attn.v"),
        fuse("self_attn.o"),
        assets.gpt[f"{name}.post_attention_layernorm.weight"].to(device, torch.float32),
        fuse("mlp.gate", "mlp.up"),
        fuse("mlp.down"),
    )
