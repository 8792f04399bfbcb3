"""Kokoro's graph cut in three, so that a sentence is planned whole and sounds long before it is decoded whole.

    planner    phonemes to durations, pitch, energy and the harmonic source of the utterance
    body       those to hidden frames; a twentieth of the decoder's work
    generator  hidden frames to the wave; the rest of the work, done in windows

All three are convolutions, whose reach is short, and instance norms, which average over the whole utterance. The body
sees all of it. The generator is told its averages beforehand, by a forecast (`kokoro_norms`): with the true ones,
windows give the wave of the undivided model to 110 dB.
"""

from collections.abc import Iterable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_GENERATOR = "/decoder/decoder/generator/"
_REFINER = f"{_GENERATOR}LeakyRelu_1_output_0"
"""Between the generator's two stages, 20 steps a frame."""

PITCH = "/encoder/Reshape_output_0"
ENERGY = "/encoder/Reshape_1_output_0"
ALIGNED = "/encoder/MatMul_1_output_0"
SOURCE = f"{_GENERATOR}Concat_3_output_0"
HIDDEN = f"{_GENERATOR}LeakyRelu_output_0"
WAVE = f"{_GENERATOR}istft/stft/ConvTranspose_output_0"
FINE_SOURCE = "fine_source"
"""The source again, for the frames that the second stage keeps."""
AVERAGES = "averages"
"""The averages, `(1, values, 1)`, in the order of `averages`."""
CROP = ("crop_begin", "crop_end")
"""Which of the first stage's steps the second stage keeps."""

_BODY_INPUTS: dict[str, list[int | str]] = {
    ALIGNED: [1, 512, "frames"],
    PITCH: [1, "halves"],
    ENERGY: [1, "halves"],
}
_GENERATOR_INPUTS: dict[str, list[int | str]] = {
    HIDDEN: [1, 512, "halves"],
    SOURCE: [1, 22, "hops"],
    FINE_SOURCE: [1, 22, "fine_hops"],
    AVERAGES: [1, "values", 1],
}


def cut(model: bytes) -> tuple[bytes, bytes, bytes]:
    """The planner, the body and the generator, as models of their own."""
    whole = onnx.load_from_string(model)
    _convolve_stft(whole.graph)
    planner = _part(whole, [], [ALIGNED, PITCH, ENERGY, SOURCE])
    body = _part(whole, _values(_BODY_INPUTS, TensorProto.FLOAT), [HIDDEN])
    _take_averages(whole.graph)
    _crop(whole.graph)
    inputs = _values(_GENERATOR_INPUTS, TensorProto.FLOAT) + _values({name: [1] for name in CROP}, TensorProto.INT64)
    generator = _part(whole, inputs, [WAVE])
    return planner, body, generator


def averaging(model: bytes) -> bytes:
    """The undivided model, which gives its plan and the generator's averages beside the wave."""
    whole = onnx.load_from_string(model)
    return _part(whole, [], [ALIGNED, PITCH, ENERGY, SOURCE, WAVE, *averages(whole.graph)])


def averages(graph: onnx.GraphProto) -> list[str]:
    """The generator's means and variances over time, by name, in order."""
    return [node.output[0] for node in graph.node if node.op_type == "ReduceMean" and node.name.startswith(_GENERATOR)]


def _take_averages(graph: onnx.GraphProto) -> None:
    """What the generator averaged is read from an input."""
    names = averages(graph)
    sizes = [_channels(graph, name) for name in names]
    for node in [node for node in graph.node if node.output[0] in names]:
        graph.node.remove(node)
    graph.initializer.append(numpy_helper.from_array(np.array(sizes, np.int64), "average_sizes"))
    graph.node.insert(0, helper.make_node("Split", [AVERAGES, "average_sizes"], names, axis=1))


def _channels(graph: onnx.GraphProto, average: str) -> int:
    """Channels of the signal that is averaged: as many as the block that it belongs to has, by its filters."""
    block = average.removeprefix(_GENERATOR).partition("/")[0]
    alpha = next(tensor for tensor in graph.initializer if tensor.name.endswith(f"generator.{block}.alpha1.0"))
    return int(alpha.dims[1])


def _crop(graph: onnx.GraphProto) -> None:
    """The second stage reaches less far than the first, and need not be given as much."""
    graph.initializer.append(numpy_helper.from_array(np.array([2], np.int64), "time_axis"))
    second = next(node for node in graph.node if node.name == f"{_GENERATOR}ups.1/ConvTranspose")
    second.input[0] = "cropped"
    at = list(graph.node).index(second)
    graph.node.insert(at, helper.make_node("Slice", [_REFINER, *CROP, "time_axis"], ["cropped"]))
    _quantize_again(graph)


def _quantize_again(graph: onnx.GraphProto) -> None:
    """The second stage's filter reads the source of its own frames."""
    quantizer = next(node for node in graph.node if node.op_type == "DynamicQuantizeLinear" and SOURCE in node.input)
    again = {name: f"{name}_fine" for name in quantizer.output}
    for node in graph.node:
        if node.name.startswith(f"{_GENERATOR}noise_convs.1/"):
            node.input[:] = [again.get(name, name) for name in node.input]
    graph.node.insert(0, helper.make_node("DynamicQuantizeLinear", [FINE_SOURCE], list(again.values())))


def _convolve_stft(graph: onnx.GraphProto) -> None:
    """A transform of 20 samples is a small filter bank; onnxruntime's own operator takes a third of the plan's time."""
    stft = next(node for node in graph.node if node.op_type == "STFT")
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    hop, window = int(constants[stft.input[1]]), constants[stft.input[2]]
    turned = next(node for node in graph.node if stft.output[0] in node.input)
    parts = [node for node in graph.node if turned.output[0] in node.input]
    real, imaginary = sorted(parts, key=lambda node: int(constants[node.input[1]]))
    graph.initializer.append(numpy_helper.from_array(_filter_bank(window), "stft_filters"))
    graph.initializer.append(numpy_helper.from_array(np.array([1, 1, -1], np.int64), "one_channel"))
    added = [
        helper.make_node("Reshape", [stft.input[0], "one_channel"], ["stft_signal"]),
        helper.make_node("Conv", ["stft_signal", "stft_filters"], ["stft_bins"], strides=[hop]),
        helper.make_node("Split", ["stft_bins"], [real.output[0], imaginary.output[0]], axis=1, num_outputs=2),
    ]
    at = list(graph.node).index(stft)
    for node in (stft, turned, real, imaginary):
        graph.node.remove(node)
    for node in reversed(added):
        graph.node.insert(at, node)


def _filter_bank(window: np.ndarray) -> np.ndarray:
    """Real parts of all bins, then the imaginary ones: `(2 bins, 1, window)`."""
    transform = np.fft.rfft(np.eye(window.size) * window)  # (window, bins)
    bank = np.concatenate([transform.real, transform.imag], axis=1).T
    bank[np.abs(bank) < 1e-12] = 0
    return bank[:, None].astype(np.float32)


def _values(shapes: dict[str, list[int | str]], kind: int) -> list[onnx.ValueInfoProto]:
    return [helper.make_tensor_value_info(name, kind, shape) for name, shape in shapes.items()]


def _part(whole: onnx.ModelProto, inputs: list[onnx.ValueInfoProto], outputs: list[str]) -> bytes:
    """What `outputs` need, down to `inputs`."""
    graph = whole.graph
    needed = _needed(graph, {value.name for value in inputs}, outputs)
    model = helper.make_model(
        helper.make_graph(
            [node for node in graph.node if any(name in needed for name in node.output)],
            "part",
            [value for value in graph.input if value.name in needed] + inputs,
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
            [tensor for tensor in graph.initializer if tensor.name in needed],
        ),
        opset_imports=whole.opset_import,
        ir_version=whole.ir_version,
    )
    serialized: bytes = model.SerializeToString()
    return serialized


def _needed(graph: onnx.GraphProto, given: set[str], outputs: Iterable[str]) -> set[str]:
    producers = {name: node for node in graph.node for name in node.output}
    needed, names = set[str](), list(outputs)
    while names:
        name = names.pop()
        if name in needed or name in given:
            continue
        needed.add(name)
        if name in producers:
            names.extend(producers[name].input)
    return needed
