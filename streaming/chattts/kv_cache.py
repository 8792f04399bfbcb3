"""Keys and values of every slot, allocated once."""

import torch

from streaming.chattts.layout import GptConfig


class KvCache:
    """One tensor per layer, written in place. It never grows and is never copied.

    A slot's former content needs no clearing as long as nothing reads past what its request has written.
    """

    def __init__(self, config: GptConfig, slots: int, length: int, dtype: torch.dtype, device: torch.device) -> None:
        """Room for `slots` requests of at most `length` tokens, prompt included. All of it is touched now."""
        if length > config.max_positions:
            raise ValueError(f"the model has {config.max_positions} positions; {length} were asked for")
        shape = (2, slots, config.heads, length, config.head_dim)
        self.layers = [torch.zeros(shape, dtype=dtype, device=device).fill_(0.0) for _ in range(config.layers)]
        self.slots = slots
        self.length = length

    def fill(self, slot: int, value: float) -> None:
        """Overwrite one slot."""
        for layer in self.layers:
            layer[:, slot].fill_(value)
