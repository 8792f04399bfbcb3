"""Vector instructions that numba does not write by itself, as LLVM code.

Each function at the end of this file is called from the compiled functions of `kernels`. Arrays are C-contiguous.
"""
# ruff: noqa: ARG001 (numba reads what an intrinsic takes from its parameters; the code it emits gets them otherwise)

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDE = bool(binding.get_host_cpu_features().get("avx512f"))
LANES = 16 if WIDE else 8
"""Floats in a vector of this machine."""
TILE = 4
"""Output rows computed together."""
HEAD = 64
"""Dimensions of an attention head; the only size the model comes in."""

_I8, _I16, _I32, _I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_VOID, _F32 = ir.VoidType(), ir.FloatType()


def lanes(weights: Any) -> int:
    """Weights per vector, by numpy type."""
    return 2 * LANES if np.dtype(weights) == np.int8 else LANES


def _vector(element: Any, count: int) -> Any:
    return ir.VectorType(element, count)


def _splat(kind: Any, value: int) -> Any:
    return ir.Constant(kind, [value] * kind.count)


def _shuffle(builder: Any, vector: Any, indices: list[int]) -> Any:
    mask = ir.Constant(_vector(_I32, len(indices)), indices)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), mask)


def _emit_merge(builder: Any, one: Any, other: Any, distance: int) -> Any:
    """Sums of lanes that are `distance` apart: of `one` where that bit of the lane is 0, of `other` where it is 1."""
    near = [lane if not lane & distance else LANES + lane - distance for lane in range(LANES)]
    far = [lane + distance if not lane & distance else LANES + lane for lane in range(LANES)]
    picks = [ir.Constant(_vector(_I32, LANES), indices) for indices in (near, far)]
    return builder.add(*(builder.shuffle_vector(one, other, pick) for pick in picks))


def _library(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, arguments), name)


class _Float:
    """fp32 and bf16 weights against fp32 activations."""

    input, width = _F32, LANES
    total = _vector(_F32, LANES)

    def __init__(self, weight: Any) -> None:
        self.weight = weight

    def widen_weight(self, builder: Any, vector: Any) -> Any:
        if self.weight == _F32:
            return vector
        wide = builder.zext(vector, _vector(_I32, LANES))
        return builder.bitcast(builder.shl(wide, _splat(wide.type, 16)), self.total)

    def widen_input(self, _builder: Any, vector: Any) -> Any:
        return vector

    def accumulate(self, builder: Any, total: Any, weight: Any, value: Any) -> Any:
        fma = _library(builder, f"llvm.fma.v{LANES}f32", self.total, [self.total] * 3)
        return builder.call(fma, [weight, value, total])

    def reduce(self, builder: Any, vector: Any) -> Any:
        while vector.type.count > 1:
            half = vector.type.count // 2
            low, high = list(range(half)), list(range(half, 2 * half))
            vector = builder.fadd(_shuffle(builder, vector, low), _shuffle(builder, vector, high))
        return builder.extract_element(vector, _I32(0))

    def reduce_all(self, builder: Any, vectors: list[Any]) -> list[Any]:
        # One by one: the order of the additions must not depend on how many there are.
        return [self.reduce(builder, vector) for vector in vectors]


class _Int8:
    """int8 weights against int16 activations."""

    weight, input, width = _I8, _I16, 2 * LANES
    total = _vector(_I32, LANES)

    def widen_weight(self, builder: Any, vector: Any) -> Any:
        return builder.sext(vector, _vector(_I32, self.width))

    def widen_input(self, builder: Any, vector: Any) -> Any:
        return builder.sext(vector, _vector(_I32, self.width))

    def accumulate(self, builder: Any, total: Any, weight: Any, value: Any) -> Any:
        # Written so that x86 makes one pmaddwd of it.
        product = builder.mul(weight, value)
        even = _shuffle(builder, product, list(range(0, self.width, 2)))
        odd = _shuffle(builder, product, list(range(1, self.width, 2)))
        return builder.add(total, builder.add(even, odd))

    def reduce_all(self, builder: Any, vectors: list[Any]) -> list[Any]:
        """Up to LANES sums at once: vectors are merged pairwise until lane i holds the sum of vector i."""
        sums = []
        for start in range(0, len(vectors), LANES):
            group, distance = vectors[start : start + LANES], 1
            size = len(group)
            while distance < LANES:
                group += group[-1:] * (len(group) % 2)
                pairs = zip(group[::2], group[1::2], strict=True) if len(group) > 1 else [(group[0], group[0])]
                group = [_emit_merge(builder, one, other, distance) for one, other in pairs]
                distance *= 2
            floats = builder.sitofp(group[0], _vector(_F32, LANES))
            sums += [builder.extract_element(floats, _I32(lane)) for lane in range(size)]
        return sums


def _arithmetic(weights: Any) -> _Float | _Int8:
    if weights == types.int8:
        return _Int8()
    return _Float(_F32 if weights == types.float32 else _I16)


def _emit_loop(
    builder: Any, count: Any, step: int, initial: list[Any], body: Callable[[Any, list[Any]], list[Any]]
) -> list[Any]:
    """Run `body(index, carried)` for 0, step, ... below `count`, at least once; returns what it carried last."""
    before, loop, after = builder.block, builder.append_basic_block("loop"), builder.append_basic_block("after")
    builder.branch(loop)
    builder.position_at_end(loop)
    index = builder.phi(_I64)
    index.add_incoming(_I64(0), before)
    carried = [builder.phi(value.type) for value in initial]
    for value, first in zip(carried, initial, strict=True):
        value.add_incoming(first, before)
    updated = body(index, carried)
    following = builder.add(index, _I64(step))
    index.add_incoming(following, loop)
    for value, new in zip(carried, updated, strict=True):
        value.add_incoming(new, loop)
    builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
    builder.position_at_end(after)
    return updated


def _load(builder: Any, address: Any, element: Any, count: int) -> Any:
    """A vector of `count` elements at an address aligned to one of them."""
    pointer = builder.inttoptr(address, _vector(element, count).as_pointer())
    return builder.load(pointer, align=_bytes(element))


def _bytes(element: Any) -> int:
    return 4 if element == _F32 else int(element.width) // 8


def _emit_dots(
    builder: Any, kind: _Float | _Int8, columns: int, pointers: tuple[Any, ...], ahead: tuple[Any, Any], inputs: Any
) -> None:
    """TILE x `columns` dot products over `inputs` weights each.

    `pointers` are the addresses of the tile, of the first input row, of the sums, and the bytes of an input row.
    `ahead`: what is read n bytes into the tile also prefetches the tile's address plus ahead[0] plus n >> ahead[1].
    """
    tile, first, sums, stride = pointers
    soon, shift = builder.add(tile, ahead[0]), ahead[1]
    line_bytes = kind.width * _bytes(kind.weight)
    rows = [builder.add(first, builder.mul(stride, _I64(column))) for column in range(columns)]

    def body(index: Any, totals: list[Any]) -> list[Any]:
        along = builder.mul(index, _I64(TILE * _bytes(kind.weight)))
        at = builder.add(tile, along)
        _emit_prefetch(builder, builder.add(soon, builder.lshr(along, shift)), TILE * line_bytes)
        offset = builder.mul(index, _I64(_bytes(kind.input)))
        loaded = [_load(builder, builder.add(row, offset), kind.input, kind.width) for row in rows]
        values = [kind.widen_input(builder, value) for value in loaded]
        updated = []
        for line in range(TILE):
            packed = _load(builder, builder.add(at, _I64(line * line_bytes)), kind.weight, kind.width)
            weight = kind.widen_weight(builder, packed)
            row_totals = totals[line * columns : (line + 1) * columns]
            pairs = zip(row_totals, values, strict=True)
            updated += [kind.accumulate(builder, total, weight, value) for total, value in pairs]
        return updated

    zeros = [ir.Constant(kind.total, None)] * (TILE * columns)
    for number, total in enumerate(kind.reduce_all(builder, _emit_loop(builder, inputs, kind.width, zeros, body))):
        target = builder.inttoptr(builder.add(sums, _I64(4 * number)), _F32.as_pointer())
        builder.store(total, target)


def _emit_prefetch(builder: Any, address: Any, size: int) -> None:
    byte = _I8.as_pointer()
    prefetch = _library(builder, "llvm.prefetch.p0", _VOID, [byte, _I32, _I32, _I32])
    for ahead in range(0, size, 64):
        target = builder.inttoptr(builder.add(address, _I64(ahead)), byte)
        builder.call(prefetch, [target, _I32(0), _I32(3), _I32(1)])


def _address(context: Any, builder: Any, signature: Any, arguments: Any, number: int, indices: list[Any]) -> Any:
    """Address of an element of the array that is argument `number`, by its leading indices."""
    array = context.make_array(signature.args[number])(context, builder, arguments[number])
    address = builder.ptrtoint(array.data, _I64)
    strides = cgutils.unpack_tuple(builder, array.strides)
    for index, stride in zip(indices, strides, strict=False):
        address = builder.add(address, builder.mul(index, stride))
    return address


def _dots(columns: int) -> Any:
    """`dots(weights, tile, inputs, row, sums, ahead, shift)`: a tile against rows `row` to `row + columns`."""

    @intrinsic
    def dots(context: Any, weights: Any, tile: Any, inputs: Any, row: Any, sums: Any, ahead: Any, shift: Any) -> Any:
        signature = types.void(weights, types.intp, inputs, types.intp, sums, types.intp, types.intp)
        kind = _arithmetic(weights.dtype)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            tile_at = _address(context, builder, signature, arguments, 0, [arguments[1]])
            row_at = _address(context, builder, signature, arguments, 2, [arguments[3]])
            sums_at = _address(context, builder, signature, arguments, 4, [_I64(0)])
            array = context.make_array(signature.args[2])(context, builder, arguments[2])
            stride, size = (cgutils.unpack_tuple(builder, values) for values in (array.strides, array.shape))
            _emit_dots(builder, kind, columns, (tile_at, row_at, sums_at, stride[0]), tuple(arguments[5:]), size[1])
            return context.get_dummy_value()

        return signature, generate

    return dots


dots1, dots2, dots3, dots4 = (_dots(columns) for columns in (1, 2, 3, 4))


@intrinsic
def narrow(context: Any, value: Any, like: Any) -> Any:
    """An fp32 as the cache keeps it, rounded to the nearest, ties to even."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if signature.return_type == types.float32:
            return arguments[0]
        bits = builder.bitcast(arguments[0], _I32)
        odd = builder.and_(builder.lshr(bits, _I32(16)), _I32(1))
        rounded = builder.add(bits, builder.add(odd, _I32(0x7FFF)))
        return builder.trunc(builder.lshr(rounded, _I32(16)), _I16)

    return like(types.float32, like), generate


@intrinsic
def power_of_two(context: Any, exponent: Any) -> Any:
    """2**exponent of a whole fp32 in [-126, 127]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        biased = builder.add(builder.fptosi(arguments[0], _I32), _I32(127))
        return builder.bitcast(builder.shl(biased, _I32(23)), _F32)

    return types.float32(types.float32), generate


@intrinsic
def score(context: Any, queries: Any, row: Any, cache: Any, slot: Any, head: Any, length: Any, scores: Any) -> Any:
    """scores[:length] = the row's query of one head, times each of its keys."""
    signature = types.void(queries, types.intp, cache, types.intp, types.intp, types.intp, scores)
    kind = _arithmetic(cache.dtype)
    assert isinstance(kind, _Float)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, row, _, slot, head, length, _ = arguments
        start = builder.mul(head, _I64(HEAD))
        query = _address(context, builder, signature, arguments, 0, [row])
        query = builder.add(query, builder.mul(start, _I64(4)))
        keys = _address(context, builder, signature, arguments, 2, [_I64(0), slot, head])
        scores = _address(context, builder, signature, arguments, 6, [])
        parts = range(0, HEAD, LANES)
        wanted = [_load(builder, builder.add(query, _I64(4 * part)), _F32, LANES) for part in parts]

        def body(position: Any, carried: list[Any]) -> list[Any]:
            key = builder.add(keys, builder.mul(position, _I64(HEAD * _bytes(kind.weight))))
            totals = [ir.Constant(kind.total, None)] * 2
            for number, part in enumerate(parts):
                packed = _load(builder, builder.add(key, _I64(part * _bytes(kind.weight))), kind.weight, LANES)
                weight = kind.widen_weight(builder, packed)
                totals[number % 2] = kind.accumulate(builder, totals[number % 2], weight, wanted[number])
            score = kind.reduce(builder, builder.fadd(*totals))
            target = builder.add(scores, builder.mul(position, _I64(4)))
            builder.store(score, builder.inttoptr(target, _F32.as_pointer()))
            return carried

        _emit_loop(builder, length, 1, [], body)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def mix(context: Any, outputs: Any, row: Any, cache: Any, slot: Any, head: Any, length: Any, shares: Any) -> Any:
    """The row's output of one head = its values, weighted by shares[:length]."""
    signature = types.void(outputs, types.intp, cache, types.intp, types.intp, types.intp, shares)
    kind = _arithmetic(cache.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, row, _, slot, head, length, _ = arguments
        output = _address(context, builder, signature, arguments, 0, [row])
        output = builder.add(output, builder.mul(head, _I64(4 * HEAD)))
        values = _address(context, builder, signature, arguments, 2, [_I64(1), slot, head])
        shares = _address(context, builder, signature, arguments, 6, [])
        parts = range(0, HEAD, LANES)

        def body(position: Any, totals: list[Any]) -> list[Any]:
            value = builder.add(values, builder.mul(position, _I64(HEAD * _bytes(kind.weight))))
            target = builder.add(shares, builder.mul(position, _I64(4)))
            share = builder.load(builder.inttoptr(target, _F32.as_pointer()))
            lone = builder.insert_element(ir.Constant(kind.total, ir.Undefined), share, _I32(0))
            spread = _shuffle(builder, lone, [0] * LANES)
            updated = []
            for total, part in zip(totals, parts, strict=True):
                packed = _load(builder, builder.add(value, _I64(part * _bytes(kind.weight))), kind.weight, LANES)
                updated.append(kind.accumulate(builder, total, kind.widen_weight(builder, packed), spread))
            return updated

        zeros = [ir.Constant(kind.total, None)] * len(parts)
        for total, part in zip(_emit_loop(builder, length, 1, zeros, body), parts, strict=True):
            target = builder.inttoptr(builder.add(output, _I64(4 * part)), kind.total.as_pointer())
            builder.store(total, target, align=4)
        return context.get_dummy_value()

    return signature, generate
