"""The offline twin of the vocoder: hidden states to PCM, a whole segment at a time, as upstream does it."""

import torch
import torch.nn.functional as F  # noqa: N812

from streaming.chattts.layout import HOP, N_FFT
from streaming.chattts.weights import Tensors


class OfflineVocoder:
    """The released decoder and vocoder as two functions of their tensors."""

    def __init__(self, decoder: Tensors, vocos: Tensors, device: torch.device) -> None:
        self._decoder = {name: tensor.to(device, torch.float32) for name, tensor in decoder.items()}
        kept = {name: tensor for name, tensor in vocos.items() if not name.startswith("feature_extractor")}
        self._vocos = {name: tensor.to(device, torch.float32) for name, tensor in kept.items()}

    @torch.inference_mode()
    def decode(self, hidden: torch.Tensor) -> torch.Tensor:
        """PCM ((2 * tokens - 1) * HOP,) fp32 of hidden states (tokens, hidden)."""
        return self.wave(self.mel(hidden))

    @torch.inference_mode()
    def mel(self, hidden: torch.Tensor) -> torch.Tensor:
        """Log-mels (100, 2 * tokens): each token's first half of channels is its first frame."""
        weights = self._decoder
        frames = hidden.reshape(2 * len(hidden), -1).T  # (hidden / 2, 2 * tokens)
        x = _convolve(frames, weights, "decoder.conv_in.0", 1)
        x = _convolve(F.gelu(x), weights, "decoder.conv_in.2", 1)
        for block in range(_count(weights, "decoder.decoder_block.")):
            x = _block(x, weights, f"decoder.decoder_block.{block}", "weight", 2)
        x = _convolve(x, weights, "decoder.conv_out", 0)
        return _convolve(x, weights, "out_conv", 1) * weights["coef"][0]

    @torch.inference_mode()
    def wave(self, mel: torch.Tensor) -> torch.Tensor:
        """Samples ((frames - 1) * HOP,) of log-mels (100, frames)."""
        weights = self._vocos
        x = _normalise(_convolve(mel, weights, "backbone.embed", 3), weights, "backbone.norm")
        for block in range(_count(weights, "backbone.convnext.")):
            x = _block(x, weights, f"backbone.convnext.{block}", "gamma", 1)
        x = _normalise(x, weights, "backbone.final_layer_norm")
        magnitude, phase = F.linear(x.T, weights["head.out.weight"], weights["head.out.bias"]).T.chunk(2)
        spectrum = torch.polar(magnitude.exp().clamp_max(100.0), phase)
        return torch.istft(spectrum, N_FFT, HOP, window=weights["head.istft.window"])


def _count(weights: Tensors, prefix: str) -> int:
    """How many numbered parts there are under a name."""
    return 1 + max(int(name.removeprefix(prefix).split(".")[0]) for name in weights if name.startswith(prefix))


def _convolve(x: torch.Tensor, weights: Tensors, name: str, padding: int) -> torch.Tensor:
    return F.conv1d(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"), padding=padding)


def _normalise(x: torch.Tensor, weights: Tensors, name: str) -> torch.Tensor:
    """Layer norm over the channels of (channels, frames)."""
    return F.layer_norm(x.T, x.shape[:1], weights[f"{name}.weight"], weights[f"{name}.bias"], 1e-6).T


def _block(x: torch.Tensor, weights: Tensors, name: str, scale: str, dilation: int) -> torch.Tensor:
    """ConvNeXt: a wide convolution per channel, then two dense layers per frame. (channels, frames) both ways."""
    kernel, bias = weights[f"{name}.dwconv.weight"], weights[f"{name}.dwconv.bias"]
    y = F.conv1d(x, kernel, bias, padding=3 * dilation, dilation=dilation, groups=len(x))
    y = _normalise(y, weights, f"{name}.norm").T
    y = F.gelu(F.linear(y, weights[f"{name}.pwconv1.weight"], weights[f"{name}.pwconv1.bias"]))
    y = F.linear(y, weights[f"{name}.pwconv2.weight"], weights[f"{name}.pwconv2.bias"])
    return x + (y * weights[f"{name}.{scale}"]).T
