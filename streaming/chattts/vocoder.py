"""Hidden states to PCM as they come: the DVAE decoder to mels, Vocos to samples, nothing computed twice.

Every convolution looks as far ahead as back, so that each layer gives its frames a little later than it gets them:
of n tokens the first `n - EXACT` are final. A layer keeps the inputs its next output needs; at the true end of an
utterance, and only there, it takes zeros for what would follow, as offline decoding does. Rows of one call are laid
end to end, each at its own place in its own utterance; the weights are read once for all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
import torch.nn.functional as F  # noqa: N812

from streaming.chattts.layout import HOP, N_FFT
from streaming.chattts.weights import Tensors

_OVERLAPS = N_FFT // HOP
_NORM_EPS = 1e-6
_USUAL_FRAMES = 32
"""What weights are packed for. Any number of frames may come."""
_LOUDEST = 100.0
"""Where Vocos caps a magnitude."""


@dataclass(frozen=True, slots=True)
class State:
    """Where an utterance stands. A value: what was computed from it can be computed again."""

    layers: tuple[torch.Tensor, ...]
    """Each convolution's last inputs (frames, channels)."""
    overlap: torch.Tensor
    """(2, 3, HOP): the unfinished sums of the waves and of their squared windows."""
    hops: int
    """How many hops were finished."""


@dataclass(frozen=True, slots=True)
class Row:
    """More of an utterance."""

    state: State
    hidden: torch.Tensor
    """(tokens, hidden), fp32."""
    last: bool
    """Nothing follows."""
    peek: bool = False
    """Say, too, how the samples would go on if nothing followed. A last row has nothing to say of that."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The samples that became final, and where the utterance stands now."""

    pcm: torch.Tensor
    """(samples,), fp32."""
    state: State
    provisional: torch.Tensor | None = None
    """Of a peek: what follows the final samples, as far as the tokens that are known reach."""


class Vocoder:
    """The released decoder and vocoder. Holds weights only: its callers own the states."""

    def __init__(
        self, decoder: Tensors, vocos: Tensors, device: torch.device, dense: torch.dtype = torch.float32
    ) -> None:
        """`dense` is the type of the large products: of bf16 half as much is to be read."""
        body = _Weights(decoder, device, dense)
        self._enter = (_Convolution(body, "decoder.conv_in.0"), _Convolution(body, "decoder.conv_in.2"))
        self._body = _blocks(body, "decoder.decoder_block", scale="weight", dilation=2)
        self._narrow = body.dense("decoder.conv_out")
        self._mel = _Convolution(body, "out_conv")
        self._gain = body.tensor("coef").reshape(-1)

        head = _Weights(vocos, device, dense)
        self._embed = _Convolution(head, "backbone.embed")
        self._first_norm = head.norm("backbone.norm")
        self._backbone = _blocks(head, "backbone.convnext", scale="gamma", dilation=1)
        self._last_norm = head.norm("backbone.final_layer_norm")
        # Phases don't bear rounding: the head stays in fp32.
        self._head = _Dense(head.tensor("head.out.weight"), head.tensor("head.out.bias"))
        window = head.tensor("head.istft.window")
        self._window = torch.stack((window, window.square()))

    def blank(self) -> State:
        """Before the first token."""
        layers: list[_Convolution | _Block] = [*self._enter, *self._body, self._mel, self._embed, *self._backbone]
        kept = tuple(layer.blank() for layer in layers)
        return State(kept, self._window.new_zeros(2, _OVERLAPS - 1, HOP), 0)

    def decode(self, rows: Sequence[Row]) -> list[Decoded]:
        """Each row's samples. Whole utterances of n tokens have `(2 * n - 1) * HOP` of them."""
        with torch.inference_mode():
            return self._decoded(rows)

    def _decoded(self, rows: Sequence[Row]) -> list[Decoded]:
        walk = _Walk(rows)
        x = torch.cat([_frames(row.hidden) for row in rows])
        first, second = self._enter
        x = second.run(walk, F.gelu(first.run(walk, x)))
        for block in self._body:
            x = block.run(walk, x)
        x = self._mel.run(walk, self._narrow(x).float()) * self._gain
        x = self._first_norm(self._embed.run(walk, x))
        for block in self._backbone:
            x = block.run(walk, x)
        magnitude, phase = self._head(self._last_norm(x)).chunk(2, 1)
        waves = torch.split(_waves(torch.polar(magnitude.exp().clamp_max(_LOUDEST), phase)), walk.lengths)
        return [
            self._finish(row, wave, final, kept)
            for row, wave, final, kept in zip(rows, waves, walk.final, walk.kept, strict=True)
        ]

    def _finish(self, row: Row, waves: torch.Tensor, final: int, layers: list[torch.Tensor]) -> Decoded:
        """The samples of a row's waves (frames, N_FFT), of which so many are final."""
        sums, hops = self._added(row.state, waves[:final]), row.state.hops
        state = State(tuple(layers), sums[:, final:], hops + final)
        pcm = _samples(sums, hops, final + row.last)
        if not row.peek or row.last:
            return Decoded(pcm, state)
        sums = self._added(row.state, waves)
        return Decoded(pcm, state, _samples(sums, hops, len(waves) + 1)[len(pcm) :])

    def _added(self, state: State, waves: torch.Tensor) -> torch.Tensor:
        """(2, hops, HOP): the waves and their squared windows, overlapped and added to what is unfinished."""
        frames = len(waves)
        parts = torch.stack((waves * self._window[0], self._window[1].expand(frames, -1)))
        sums = waves.new_zeros(2, frames + _OVERLAPS - 1, HOP)
        sums[:, : _OVERLAPS - 1] = state.overlap
        for at, hops in enumerate(torch.split(parts, HOP, 2)):
            sums[:, at : at + frames] += hops
        return sums


def _samples(sums: torch.Tensor, hops: int, end: int) -> torch.Tensor:
    """What is finished of the sums before `end`. The first two hops of an utterance, and at its end the last two, are
    the margin that offline decoding cuts off.
    """
    begin = max(0, _OVERLAPS // 2 - hops)
    signal, weight = sums[:, min(begin, end) : end]
    pcm: torch.Tensor = (signal / weight).reshape(-1)
    return pcm


class _Walk:
    """One call's way through the convolutions, in order."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.lengths = [2 * len(row.hidden) for row in rows]
        """Frames of each row that the next layer gets."""
        self.final = list(self.lengths)
        """How many of them, from the first one on, depend on nothing that is to come."""
        self.kept: list[list[torch.Tensor]] = [[] for _ in rows]
        self._rows = rows
        self._layer = 0

    def enter(self, x: torch.Tensor, reach: int) -> torch.Tensor:
        """Put what each row has kept before its new frames, and zeros behind them where they are to be the last."""
        ends = x.new_zeros(reach, x.shape[1])
        seen: list[torch.Tensor] = []
        for number, (row, new) in enumerate(zip(self._rows, torch.split(x, self.lengths), strict=True)):
            before, final = row.state.layers[self._layer], self.final[number]
            seen.append(torch.cat((before, new, ends) if row.last or row.peek else (before, new)))
            known = len(before) + (len(new) + reach if row.last else final)
            self.kept[number].append(seen[-1][max(0, known - 2 * reach) : known])
            self.final[number] = max(0, known - 2 * reach)
        self._layer += 1
        self._starts = [0, *accumulate(map(len, seen))]
        self.lengths = [max(0, len(each) - 2 * reach) for each in seen]
        return torch.cat(seen) if len(seen) > 1 else seen[0]

    def select(self, x: torch.Tensor, offset: int = 0) -> torch.Tensor:
        """Of frames laid out as `enter` gave them, those from `offset` that have an output."""
        begins = (start + offset for start in self._starts)
        parts = [x[begin : begin + length] for begin, length in zip(begins, self.lengths, strict=False)]
        return torch.cat(parts) if len(parts) > 1 else parts[0]


class _Weights:
    """Tensors of a file by name, on the device."""

    def __init__(self, tensors: Tensors, device: torch.device, dense: torch.dtype) -> None:
        self._tensors, self._device, self._dense = tensors, device, dense

    def tensor(self, name: str) -> torch.Tensor:
        # A copy: one view of a mapped file would keep all that was read of it in memory.
        return self._tensors[name].to(self._device, torch.float32, copy=True)

    def bias(self, name: str) -> torch.Tensor | None:
        return self.tensor(f"{name}.bias") if f"{name}.bias" in self._tensors else None

    def dense(self, name: str, *, gelu: bool = False) -> "_Dense":
        weight = self.tensor(f"{name}.weight")
        return _Dense(weight.flatten(1).to(self._dense), self.bias(name), gelu=gelu)

    def norm(self, name: str) -> "_Norm":
        return _Norm(self.tensor(f"{name}.weight"), self.tensor(f"{name}.bias"))

    def count(self, prefix: str) -> int:
        """How many numbered parts there are under a name."""
        names = (name for name in self._tensors if name.startswith(f"{prefix}."))
        return 1 + max(int(name.removeprefix(f"{prefix}.").split(".")[0]) for name in names)


class _Dense:
    """A product per frame.

    On a CPU the weights are packed once for the kernels of oneDNN, by the operators that torch's compiler uses: for the
    few frames of a call that takes half of what `F.linear` takes, which packs them each time.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, *, gelu: bool = False) -> None:
        self._bias = None if bias is None else bias.to(weight.dtype)
        self._type, self._gelu = weight.dtype, gelu
        self._packed = weight.device.type == "cpu" and bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call, unused-ignore]
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight, _USUAL_FRAMES) if self._packed else weight

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(frames, inputs) to (frames, outputs) in the type of the weights."""
        x = x.to(self._type)
        if self._packed:
            then = "gelu" if self._gelu else "none"
            y: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, self._weight, self._bias, then, [], "none")
            return y
        y = F.linear(x, self._weight, self._bias)
        return F.gelu(y) if self._gelu else y


@dataclass(frozen=True, slots=True)
class _Norm:
    """Layer norm over the channels."""

    weight: torch.Tensor
    bias: torch.Tensor

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, x.shape[1:], self.weight, self.bias, _NORM_EPS)


class _Convolution:
    """A dense convolution over a few frames, as one product."""

    def __init__(self, weights: _Weights, name: str) -> None:
        weight = weights.tensor(f"{name}.weight")  # (outputs, inputs, frames)
        self._width = weight.shape[2]
        self._blank = weight.new_zeros(self._width // 2, weight.shape[1])
        self._product = _Dense(weight.flatten(1), weights.bias(name))
        self._outputs = len(weight)

    def blank(self) -> torch.Tensor:
        return self._blank

    def run(self, walk: _Walk, x: torch.Tensor) -> torch.Tensor:
        seen = walk.enter(x, self._width // 2)
        if len(seen) < self._width:
            return seen.new_zeros(0, self._outputs)
        return self._product(walk.select(seen.unfold(0, self._width, 1)).flatten(1))


class _Block:
    """ConvNeXt: a wide convolution per channel, then two products per frame."""

    def __init__(self, weights: _Weights, name: str, scale: str, dilation: int) -> None:
        kernel = weights.tensor(f"{name}.dwconv.weight")  # (channels, 1, frames)
        self._kernel, self._bias = kernel[:, 0].T.contiguous(), weights.tensor(f"{name}.dwconv.bias")
        self._dilation = dilation
        self._reach = dilation * (kernel.shape[2] // 2)
        self._norm = weights.norm(f"{name}.norm")
        self._widen = weights.dense(f"{name}.pwconv1", gelu=True)
        self._narrow = weights.dense(f"{name}.pwconv2")
        self._scale = weights.tensor(f"{name}.{scale}")

    def blank(self) -> torch.Tensor:
        return self._kernel.new_zeros(self._reach, self._kernel.shape[1])

    def run(self, walk: _Walk, x: torch.Tensor) -> torch.Tensor:
        seen = walk.enter(x, self._reach)
        y = self._norm(walk.select(self._convolved(seen)))
        y = self._narrow(self._widen(y)).float()
        return torch.addcmul(walk.select(seen, self._reach), y, self._scale)

    def _convolved(self, seen: torch.Tensor) -> torch.Tensor:
        frames = max(0, len(seen) - 2 * self._reach)
        y = self._bias.expand(frames, -1)
        for at, row in enumerate(self._kernel):
            y = torch.addcmul(y, seen[at * self._dilation : at * self._dilation + frames], row)
        return y


def _frames(hidden: torch.Tensor) -> torch.Tensor:
    """The first half of a token's channels is its first frame, the other half its second one."""
    tokens, channels = hidden.shape
    return hidden.reshape(2 * tokens, channels // 2)


def _waves(spectrum: torch.Tensor) -> torch.Tensor:
    """(frames, N_FFT) of (frames, N_FFT / 2 + 1); the library refuses to transform nothing."""
    return torch.fft.irfft(spectrum, N_FFT) if len(spectrum) else spectrum.real.new_zeros(0, N_FFT)


def _blocks(weights: _Weights, prefix: str, *, scale: str, dilation: int) -> list[_Block]:
    return [_Block(weights, f"{prefix}.{n}", scale, dilation) for n in range(weights.count(prefix))]
