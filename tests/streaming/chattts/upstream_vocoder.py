"""Upstream's own decoder and vocos, as one function of hidden states."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from streaming.chattts import layout
from streaming.chattts.layout import ModelConfig, StackConfig

Decode = Callable[[torch.Tensor], torch.Tensor]


def load(folder: Path, sizes: ModelConfig) -> Decode:
    """From the files of a release: hidden states (tokens, hidden) to samples. Needs the dependency group `parity`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ChatTTS  # noqa: PLC0415  # heavy, and only needed here
    decoder: Any = ChatTTS.model.DVAE(stack(sizes.decoder), dim=sizes.decoder.outputs)
    decoder.load_state_dict(load_file(folder / layout.DECODER))
    vocos = load_vocos(folder, sizes)

    def decode(hidden: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode():
            samples: torch.Tensor = vocos.decode(decoder(hidden.T.unsqueeze(0)))[0]
            return samples

    return decode


def stack(config: StackConfig) -> dict[str, int]:
    """Sizes by upstream's names."""
    return {
        "idim": config.inputs,
        "odim": config.outputs,
        "hidden": config.hidden,
        "n_layer": config.layers,
        "bn_dim": config.bottleneck,
    }


def load_vocos(folder: Path, sizes: ModelConfig) -> Any:
    """The module, its features included."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from vocos import Vocos  # noqa: PLC0415
        from vocos.feature_extractors import MelSpectrogramFeatures  # noqa: PLC0415
        from vocos.heads import ISTFTHead  # noqa: PLC0415
        from vocos.models import VocosBackbone  # noqa: PLC0415
    size = sizes.vocoder
    vocos = Vocos(
        MelSpectrogramFeatures(),
        VocosBackbone(layout.MELS, size.hidden, size.intermediate, size.layers),
        ISTFTHead(size.hidden, layout.N_FFT, layout.HOP, "center"),
    )
    vocos.load_state_dict(load_file(folder / layout.VOCOS))
    return vocos
