"""Where the tensors come from: a checked directory, or a seed."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from streaming.chattts import layout, synthetic, upstream
from streaming.chattts.layout import GptConfig, ModelConfig

Tensors = Mapping[str, torch.Tensor]


class WeightsError(Exception):
    """The weights can't be used. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Assets:
    """Checked weights. Tensors may be memory-mapped: copy what is kept, change nothing."""

    config: GptConfig
    gpt: Tensors
    embed: Tensors
    decoder: Tensors
    vocos: Tensors
    tokenizer: str
    """The JSON text of the tokenizer."""


def load(source: str, hashes: Mapping[str, str] | None = None) -> Assets:
    """Load `random:SEED`, `random-tiny:SEED` or a directory.

    A directory holds upstream's `asset/` folder, and every file in it must have the SHA-256 in `hashes`
    (default: upstream's own). Raises WeightsError.
    """
    kind, _, seed = source.partition(":")
    if kind in {"random", "random-tiny"}:
        if not seed.isdecimal():
            raise WeightsError(f"{source!r}: write a seed after the colon, as in `{kind}:0`")
        return _random(ModelConfig() if kind == "random" else layout.TINY, int(seed))
    folder = Path(source)
    check(folder, upstream.asset_hashes() if hashes is None else hashes)
    return _read(folder)


def check(folder: Path, hashes: Mapping[str, str]) -> None:
    """Refuse a folder that lacks a file, or in which one is not the released one. Raises WeightsError."""
    advice = f"get it with `python -m streaming pull --target {folder}`"
    if not folder.is_dir():
        raise WeightsError(f"there is no directory {folder}; {advice}")
    pickles = sorted(path.name for suffix in ("pt", "pth", "bin", "ckpt") for path in folder.rglob(f"*.{suffix}"))
    missing = [name for name in layout.FILES if not (folder / name).is_file()]
    if missing and pickles:
        raise WeightsError(f"{folder} holds pickled weights ({pickles[0]}), which can run code when loaded; {advice}")
    if missing:
        raise WeightsError(f"{folder} lacks {', '.join(missing)}; {advice}")
    for name in layout.FILES:
        expected = hashes.get(hash_key(name))
        if expected is None:
            raise WeightsError(f"no hash is known for {name}; install chattts 0.2.5, whose map has it")
        if sha256(folder / name) != expected:
            raise WeightsError(
                f"{folder / name} is cut short or altered: its SHA-256 is not the released one; {advice}"
            )


def hash_key(name: str) -> str:
    """Upstream's key for a file: `asset/gpt/config.json` is `sha256_asset_gpt_config_json`."""
    return "sha256_" + name.replace("/", "_").replace(".", "_")


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _random(config: ModelConfig, seed: int) -> Assets:
    files = {
        name: synthetic.tensors(shapes, seed)
        for name, shapes in layout.tensor_shapes(config).items()
        if name != layout.DVAE
    }
    return Assets(
        config.gpt,
        files[layout.GPT],
        files[layout.EMBED],
        files[layout.DECODER],
        files[layout.VOCOS],
        synthetic.tokenizer_json(),
    )


def _read(folder: Path) -> Assets:
    try:
        config = GptConfig.from_json(json.loads((folder / layout.GPT_CONFIG).read_text("utf-8")))
    except ValueError as error:
        raise WeightsError(f"{folder / layout.GPT_CONFIG} is not a ChatTTS configuration: {error}") from error
    return Assets(
        config,
        _tensors(folder / layout.GPT, layout.gpt_shapes(config)),
        _tensors(folder / layout.EMBED, layout.embed_shapes(config)),
        _tensors(folder / layout.DECODER, {}),
        _tensors(folder / layout.VOCOS, {}),
        (folder / layout.TOKENIZER).read_text("utf-8"),
    )


def _tensors(path: Path, shapes: layout.Shapes) -> Tensors:
    """Map a file into memory. It must hold at least `shapes`."""
    try:
        with safe_open(path, framework="pt") as file:
            found = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise WeightsError(f"{path} is not a whole safetensors file: {error}") from error
    for name, shape in shapes.items():
        if name not in found or tuple(found[name].shape) != shape:
            raise WeightsError(f"{path} has no tensor {name} of shape {shape}; its config.json may be of another model")
    return found
