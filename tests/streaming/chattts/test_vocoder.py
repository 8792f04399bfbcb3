"""The offline vocoder is upstream's."""

from typing import Any

import pytest
from safetensors.torch import load_file

from streaming.chattts import layout, weights
from streaming.chattts.layout import TINY
from streaming.chattts.vocoder import OfflineVocoder
from tests.streaming.chattts.conftest import Release, torch


@pytest.fixture(scope="module")
def theirs(upstream: Any, release: Release) -> Any:
    """Upstream's decoder and vocos, as a function of hidden states (tokens, hidden)."""
    package = pytest.importorskip("vocos")
    size = TINY.decoder
    stack = {
        "idim": size.inputs,
        "odim": size.outputs,
        "hidden": size.hidden,
        "n_layer": size.layers,
        "bn_dim": size.bottleneck,
    }
    decoder = upstream.model.DVAE(stack, dim=size.outputs)
    decoder.load_state_dict(load_file(release.folder / layout.DECODER))
    vocos = package.Vocos(
        package.feature_extractors.MelSpectrogramFeatures(),
        package.models.VocosBackbone(layout.MELS, TINY.vocoder.hidden, TINY.vocoder.intermediate, TINY.vocoder.layers),
        package.heads.ISTFTHead(TINY.vocoder.hidden, layout.N_FFT, layout.HOP, "center"),
    )
    vocos.load_state_dict(load_file(release.folder / layout.VOCOS))

    def decode(hidden: Any) -> Any:
        with torch.inference_mode():
            return vocos.decode(decoder(hidden.T.unsqueeze(0)))[0]

    return decode


@pytest.mark.parametrize("tokens", [1, 2, 3, 24, 150])
def test_equals_upstream(theirs: Any, assets: weights.Assets, tokens: int) -> None:
    hidden = torch.randn(tokens, TINY.gpt.hidden, generator=torch.Generator().manual_seed(tokens))
    ours = OfflineVocoder(assets.decoder, assets.vocos, torch.device("cpu")).decode(hidden)
    assert ours.shape == ((2 * tokens - 1) * layout.HOP,)
    assert float(ours.std()) > 1e-3
    torch.testing.assert_close(ours, theirs(hidden), rtol=0, atol=1e-5)
