"""Weights drawn from a seed in the released layout, for tests and benchmarks.

The scales are chosen so that activations neither vanish nor saturate: hidden states of about unit size, log-mels
and samples in the range of speech, and layer scales large enough that every layer is heard.
"""

import json
import math
import string
import zlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import torch
from safetensors.torch import save_file

from streaming.chattts import layout
from streaming.chattts.layout import ModelConfig, Shapes

BASE_VOCABULARY = 21_128
_COUNTED = {"break": 8, "laugh": 3, "oral": 10, "speed": 10}
_NAMED = (
    "Sasr Pasr Easr Stts Ptts Etts Sbreak Pbreak Ebreak uv_break v_break lbreak llbreak undefine laugh "
    "spk_emb empty_spk music pure"
)
SPECIAL_TOKENS = tuple(
    [f"[{name}]" for name in _NAMED.split(" ")]
    + [f"[{name}_{n}]" for name, count in _COUNTED.items() for n in range(count)]
)
BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

# Standard deviations of the matrices that a fan-in rule would not put in the range wanted.
_SPREAD = {"q_proj": 0.04, "k_proj": 0.04, "v_proj": 0.04, "o_proj": 0.02, "gate_proj": 0.03, "up_proj": 0.03}
_SPREAD |= {"down_proj": 0.02, "emb_text": 0.5, "emb_code": 0.5, "original1": 0.03}


def tensors(shapes: Shapes, seed: int) -> dict[str, torch.Tensor]:
    """Draw one file. Every tensor depends on its name and the seed alone."""
    drawn = {name: _draw(name, shape, seed) for name, shape in shapes.items()}
    for name in [name for name in drawn if name.endswith("original0")]:
        direction = drawn[name.replace("original0", "original1")]
        drawn[name] = direction.norm(dim=1, keepdim=True)
    return drawn


def write(folder: Path, config: ModelConfig, seed: int) -> dict[str, str]:
    """Write a whole release into `folder` and return the hashes of its files by upstream's keys."""
    from streaming.chattts.weights import hash_key, sha256  # noqa: PLC0415 (weights draws from here)

    for name, shapes in layout.tensor_shapes(config).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file(tensors(shapes, seed), path, metadata={"format": "pt"})
    (folder / layout.GPT_CONFIG).write_text(json.dumps(config.gpt.to_json(), indent=1), "utf-8")
    (folder / layout.TOKENIZER).parent.mkdir(parents=True, exist_ok=True)
    (folder / layout.TOKENIZER).write_text(tokenizer_json(), "utf-8")
    roles = {f"{token[1:-1].lower()}_token": token for token in BERT_TOKENS}
    (folder / layout.SPECIAL_TOKENS).write_text(
        json.dumps({**roles, "additional_special_tokens": SPECIAL_TOKENS}), "utf-8"
    )
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "strip_accents": None}
    (folder / layout.TOKENIZER_CONFIG).write_text(json.dumps({**roles, **settings}), "utf-8")
    return {hash_key(name): sha256(folder / name) for name in layout.FILES}


def tokenizer_json() -> str:
    """A lower-casing WordPiece tokenizer with a made vocabulary, and the special tokens at their released ids."""
    words = list(vocabulary())
    marks = [{"id": words.index(token), "content": token} for token in BERT_TOKENS]
    marks += [{"id": BASE_VOCABULARY + index, "content": token} for index, token in enumerate(SPECIAL_TOKENS)]
    fixed = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [{**mark, **fixed} for mark in marks],
            "normalizer": {
                "type": "BertNormalizer",
                "clean_text": True,
                "handle_chinese_chars": True,
                "strip_accents": None,
                "lowercase": True,
            },
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": None,
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
            "model": {
                "type": "WordPiece",
                "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
                "vocab": {word: index for index, word in enumerate(words)},
            },
        },
        ensure_ascii=False,
    )


def vocabulary() -> Iterator[str]:
    """As many entries as the released vocabulary, in its order of kinds; letters and Chinese characters are real."""
    seen: set[str] = set()
    for word in _words():
        if word not in seen and len(seen) < BASE_VOCABULARY:
            seen.add(word)
            yield word
    for index in range(BASE_VOCABULARY - len(seen)):
        yield f"[unused{100 + index}]"


def _words() -> Iterator[str]:
    letters, ideographs = string.ascii_lowercase, [chr(0x4E00 + n) for n in range(7000)]
    yield "[PAD]"
    yield from (f"[unused{n}]" for n in range(1, 100))
    yield from ("[UNK]", "[CLS]", "[SEP]", "[MASK]", "<S>", "<T>")
    yield from string.punctuation + string.digits + letters + "，。、！？：；（）《》“”‘’…—～·"
    yield from ideographs
    for length in (1, 2, 3):
        for piece in map("".join, product(letters, repeat=length)):
            yield f"##{piece}"
            yield piece
    yield from (f"##{character}" for character in string.digits)


def _draw(name: str, shape: tuple[int, ...], seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(zlib.crc32(f"{seed} {name}".encode()))
    kind = name.rsplit(".", 1)[-1]
    if kind == "window":
        return torch.hann_window(shape[0])
    if kind == "fb":
        return _mel_filters(*shape)
    if kind == "coef":
        return torch.empty(shape).uniform_(2.0, 4.0, generator=generator)
    if kind == "gamma" or (kind == "weight" and "decoder_block" in name and name.count(".") == 3):
        return torch.empty(shape).uniform_(0.1, 0.5, generator=generator)
    mean, spread = _moments(name, shape)
    return torch.empty(shape).normal_(mean, spread, generator=generator)


def _moments(name: str, shape: tuple[int, ...]) -> tuple[float, float]:
    if name.endswith(".bias"):
        return 0.0, 0.02
    if "norm" in name:
        return 1.0, 0.05
    for part in name.split("."):
        if part in _SPREAD:
            return 0.0, _SPREAD[part]
    return 0.0, 1 / math.sqrt(math.prod(shape[1:]))


def _mel_filters(bins: int, mels: int) -> torch.Tensor:
    """Triangles on the HTK mel scale, from 0 Hz to half the sample rate."""
    top = 2595.0 * math.log10(1.0 + layout.SAMPLE_RATE / 2 / 700.0)
    corners = 700.0 * (10.0 ** (torch.linspace(0.0, top, mels + 2) / 2595.0) - 1.0)
    bands = torch.linspace(0, layout.SAMPLE_RATE // 2, bins).unsqueeze(1)
    width = corners.diff()
    rising = (bands - corners[:-2]) / width[:-1]
    falling = (corners[2:] - bands) / width[1:]
    return torch.minimum(rising, falling).clamp_min(0.0).contiguous()
