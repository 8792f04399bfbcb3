"""What a request is conditioned on, as embeddings."""

from dataclasses import dataclass

import torch

from streaming.chattts.layout import GptConfig
from streaming.chattts.speaker import Codes, Vector, unit
from streaming.chattts.weights import Tensors


@dataclass(frozen=True, slots=True)
class Prompt:
    """Text ids, the voice at `speaker_id` among them, and audio that counts as already spoken."""

    ids: list[int]
    speaker_id: int
    speaker: Vector | None = None
    sample: Codes | None = None


class Embedder:
    """Ids to embeddings. The text table stays where it was loaded, on disk or in memory: prompts are few."""

    def __init__(self, embed: Tensors, config: GptConfig) -> None:
        self._text = embed["emb_text.weight"]
        books = [embed[f"emb_code.{book}.weight"].float() for book in range(config.codebooks)]
        self.codes = torch.cat(books)  # (codebooks * audio tokens, hidden)
        self.offsets = torch.arange(config.codebooks) * config.audio_tokens

    def prompt(self, prompt: Prompt) -> torch.Tensor:
        """Embeddings (tokens, hidden) fp32."""
        ids = torch.tensor(prompt.ids)
        rows = self._text[ids].float()
        if prompt.speaker is not None:
            rows[ids == prompt.speaker_id] = torch.from_numpy(unit(prompt.speaker))
        if prompt.sample is None:
            return rows
        return torch.cat((rows, self.spoken(torch.from_numpy(prompt.sample.astype("int64")).T)))

    def spoken(self, codes: torch.Tensor) -> torch.Tensor:
        """Embeddings (tokens, hidden) of codes (tokens, codebooks)."""
        return self.codes[codes + self.offsets].sum(1)
