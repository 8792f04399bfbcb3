"""Kokoro's graph cut in two, so that a sentence is planned whole and decoded in windows.

The planner reads phonemes and gives durations, pitch, energy and the harmonic source of the whole utterance. The
decoder, nine tenths of the work, is convolutions and instance norms. It was trained on excerpts, so it may be given
excerpts, but its norms average over time, and the second and a half of silence that the model puts around every
utterance is part of that average: without it speech comes out 2 to 7 dB quieter. So the decoder's means become
weighted means: a few frames of silence stand for all of it, and are not paid for.
"""

from collections.abc import Iterable

import onnx
from onnx import TensorProto, helper

_GENERATOR = "/decoder/decoder/generator/"
_FINEST = tuple(f"{_GENERATOR}{block}/" for block in ("noise_res.1", "resblocks.3", "resblocks.4", "resblocks.5"))
_TWICE = "/decoder/decoder/decode.3/norm2/"

ALIGNED = "/encoder/MatMul_1_output_0"
PITCH = "/encoder/Reshape_output_0"
ENERGY = "/encoder/Reshape_1_output_0"
SOURCE = f"{_GENERATOR}Concat_3_output_0"
WAVE = f"{_GENERATOR}istft/stft/ConvTranspose_output_0"
WEIGHTS = {1: "weights_1", 2: "weights_2", 20: "weights_20", 120: "weights_120"}
"""Inputs for the weights of the means, by steps per frame."""

_DECODER_INPUTS: dict[str, list[int | str | None]] = {
    ALIGNED: [1, 512, "frames"],
    PITCH: [1, "halves"],
    ENERGY: [1, "halves"],
    SOURCE: [1, 22, "hops"],
    **{name: [1, None, 1] for name in WEIGHTS.values()},
}


def cut(model: bytes) -> tuple[bytes, bytes]:
    """The planner and the decoder, as models of their own."""
    whole = onnx.load_from_string(model)
    _weigh_means(whole.graph.node)
    planner = _part(whole, {}, [ALIGNED, PITCH, ENERGY, SOURCE])
    decoder = _part(whole, _DECODER_INPUTS, [WAVE])
    return planner.SerializeToString(), decoder.SerializeToString()


def _weigh_means(nodes: Iterable[onnx.NodeProto]) -> None:
    """Every mean over time in the decoder becomes a product with weights that sum to one."""
    for node in nodes:
        if node.op_type == "ReduceMean" and node.name.startswith("/decoder/"):
            signal = node.input[0]
            node.op_type = "MatMul"
            del node.input[:], node.attribute[:]
            node.input.extend([signal, WEIGHTS[_steps_per_frame(node.name)]])


def _steps_per_frame(name: str) -> int:
    if name.startswith(_FINEST):
        return 120
    if name.startswith(_GENERATOR):
        return 20
    return 2 if name.startswith(_TWICE) else 1


def _part(whole: onnx.ModelProto, inputs: dict[str, list[int | str | None]], outputs: list[str]) -> onnx.ModelProto:
    """What `outputs` need, down to `inputs`."""
    graph = whole.graph
    needed = _needed(graph, inputs.keys(), outputs)
    return helper.make_model(
        helper.make_graph(
            [node for node in graph.node if any(name in needed for name in node.output)],
            "part",
            [value for value in graph.input if value.name in needed]
            + [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
            [tensor for tensor in graph.initializer if tensor.name in needed],
        ),
        opset_imports=whole.opset_import,
        ir_version=whole.ir_version,
    )


def _needed(graph: onnx.GraphProto, inputs: Iterable[str], outputs: list[str]) -> set[str]:
    producers = {name: node for node in graph.node for name in node.output}
    given, needed, names = set(inputs), set[str](), list(outputs)
    while names:
        name = names.pop()
        if name in needed or name in given:
            continue
        needed.add(name)
        if name in producers:
            names.extend(producers[name].input)
    return needed
