"""The loader takes what was released and refuses everything else with advice."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from streaming.chattts import layout, synthetic, weights
from streaming.chattts.upstream import asset_hashes
from tests.streaming.chattts.conftest import Release, torch


@pytest.fixture
def copy(release: Release, tmp_path: Path) -> Path:
    shutil.copytree(release.folder, tmp_path / "copy")
    return tmp_path / "copy"


def test_a_written_release_loads_as_it_was_drawn(release: Release) -> None:
    loaded = weights.load(str(release.folder), release.hashes)
    drawn = weights.load("random-tiny:7")
    assert loaded.config == drawn.config == layout.TINY.gpt
    assert loaded.tokenizer == drawn.tokenizer
    for part in ("gpt", "embed", "decoder", "vocos"):
        ours, theirs = getattr(loaded, part), getattr(drawn, part)
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_seeds_differ() -> None:
    one, two = (synthetic.tensors({"norm.weight": (8,)}, seed)["norm.weight"] for seed in (1, 2))
    assert not torch.equal(one, two)


def test_full_size_layout_has_the_released_counts() -> None:
    shapes = layout.tensor_shapes(layout.ModelConfig())
    assert {name: len(tensors) for name, tensors in shapes.items()} == {
        layout.DECODER: 115,
        layout.DVAE: 242,
        layout.EMBED: 15,
        layout.VOCOS: 83,
        layout.GPT: 181,
    }


def test_upstream_takes_the_layout_strictly(upstream: Any, upstream_gpt: Any, release: Release) -> None:
    pytest.importorskip("vocos")
    from tests.streaming.chattts.upstream_vocoder import load_vocos, stack  # noqa: PLC0415

    tiny = layout.TINY
    upstream.model.DVAE(stack(tiny.decoder), dim=tiny.decoder.outputs).load_state_dict(
        load_file(release.folder / layout.DECODER)
    )
    vq = {"dim": tiny.dvae_encoder.outputs, "levels": (5, 5, 5, 5), "G": 2, "R": 2}
    dvae = upstream.model.DVAE(stack(tiny.dvae_decoder), stack(tiny.dvae_encoder), vq, dim=tiny.dvae_decoder.outputs)
    dvae.load_state_dict(load_file(release.folder / layout.DVAE))
    vocos = load_vocos(release.folder, tiny)
    filters = vocos.feature_extractor.mel_spec.mel_scale.fb
    torch.testing.assert_close(
        load_file(release.folder / layout.VOCOS)["feature_extractor.mel_spec.mel_scale.fb"], filters
    )


def test_upstream_hashes_cover_every_file(upstream: Any) -> None:
    assert {weights.hash_key(name) for name in layout.FILES} == set(asset_hashes())


def test_random_weights_are_not_the_released_ones(release: Release) -> None:
    with pytest.raises(weights.WeightsError, match="not the released one"):
        weights.load(str(release.folder))


@pytest.mark.parametrize("name", layout.FILES)
def test_a_missing_file_is_named(copy: Path, release: Release, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(weights.WeightsError, match=f"lacks {name}; get it with"):
        weights.load(str(copy), release.hashes)


def test_a_short_file_is_refused(copy: Path, release: Release) -> None:
    path = copy / layout.GPT
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(weights.WeightsError, match="cut short or altered"):
        weights.load(str(copy), release.hashes)


def test_an_altered_byte_is_refused(copy: Path, release: Release) -> None:
    path = copy / layout.VOCOS
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(weights.WeightsError, match="cut short or altered"):
        weights.load(str(copy), release.hashes)


def test_pickles_are_refused(tmp_path: Path) -> None:
    (tmp_path / "GPT.pt").write_bytes(b"\x80\x04.")
    with pytest.raises(weights.WeightsError, match="pickled"):
        weights.load(str(tmp_path), {})


def test_a_pickle_under_a_safetensors_name_is_refused(copy: Path, release: Release) -> None:
    torch.save({"norm.weight": torch.zeros(1)}, copy / layout.GPT)
    hashes = {**release.hashes, weights.hash_key(layout.GPT): weights.sha256(copy / layout.GPT)}
    with pytest.raises(weights.WeightsError, match="not a whole safetensors file"):
        weights.load(str(copy), hashes)


def test_tensors_of_another_model_are_refused(copy: Path, release: Release) -> None:
    config = (copy / layout.GPT_CONFIG).read_text().replace('"num_hidden_layers": 2', '"num_hidden_layers": 3')
    (copy / layout.GPT_CONFIG).write_text(config)
    hashes = {**release.hashes, weights.hash_key(layout.GPT_CONFIG): weights.sha256(copy / layout.GPT_CONFIG)}
    with pytest.raises(weights.WeightsError, match=r"no tensor layers\.2"):
        weights.load(str(copy), hashes)


@pytest.mark.parametrize(("source", "says"), [("random:", "write a seed"), ("random-tiny:x", "write a seed")])
def test_a_seed_is_needed(source: str, says: str) -> None:
    with pytest.raises(weights.WeightsError, match=says):
        weights.load(source)


def test_no_directory() -> None:
    with pytest.raises(weights.WeightsError, match="no directory"):
        weights.load("/nowhere", {})
