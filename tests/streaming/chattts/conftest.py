"""A tiny random release, and upstream loaded from it."""

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from streaming.chattts import layout, synthetic, weights  # noqa: E402


@dataclass(frozen=True)
class Release:
    folder: Path
    hashes: dict[str, str]


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    folder = tmp_path_factory.mktemp("release")
    return Release(folder, synthetic.write(folder, layout.TINY, 7))


@pytest.fixture(scope="session")
def assets(release: Release) -> weights.Assets:
    return weights.load(str(release.folder), release.hashes)


@pytest.fixture(scope="session")
def upstream() -> Iterator[Any]:
    """The ChatTTS package, whose imports and calls warn about much."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield pytest.importorskip("ChatTTS", exc_type=ImportError)


@pytest.fixture(scope="session")
def upstream_gpt(upstream: Any, release: Release) -> Any:
    """Upstream's GPT and Embed on the tiny release."""
    config = json.loads((release.folder / layout.GPT_CONFIG).read_text())
    size = layout.TINY.gpt
    embed = upstream.model.Embed(size.hidden, size.audio_tokens, size.text_tokens, size.codebooks)
    embed.load_pretrained(str(release.folder / layout.EMBED), device=torch.device("cpu"))
    gpt = upstream.model.gpt.GPT(gpt_config=config, embed=embed)
    gpt.load_pretrained(str(release.folder / "asset/gpt"), str(release.folder / layout.EMBED))
    gpt.eval()
    gpt.embed = embed.eval()
    return gpt
