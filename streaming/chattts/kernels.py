"""Compiled CPU arithmetic of one transformer layer, for any set of rows.

A row is one token of one request: it has a slot and a position, and nothing computed for it depends on which other
rows are in the call. Every dot product runs over its own inputs in one fixed order (and in int8 is exact), and
attention spans the row's own past. So a request's numbers are the same, bit for bit, alone and in company.

Weights are packed so that they are read once, front to back: four output rows interleaved by vectors. Reading them
is what a step costs, so up to COLUMNS rows share each read. In int8 the activations are 13-bit integers with one
scale per row and the products are summed in 32 bits: only the weights are rounded noticeably.

Compiled anew by each process (4 s, before it is ready): numba's cache on disk compares the time stamp of one file, so a
change in `vectors` would go unnoticed.
"""

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload
from numpy.typing import NDArray

from streaming.chattts.vectors import (
    HEAD,
    TILE,
    WIDE,
    dots1,
    dots2,
    dots3,
    dots4,
    lanes,
    mix,
    narrow,
    power_of_two,
    score,
)

Array = NDArray[Any]

COLUMNS = 4 if WIDE else 3
"""Input rows that share one read of a tile, at most; more would spill registers."""
COLUMNS_INT8 = 4 if WIDE else 2
AHEAD = 1024
"""Bytes prefetched ahead when a tile is read once. On a Zen 3 core it takes bf16 from 36 to 28 ms a step."""
LEVELS = 4095
"""Largest activation level in int8. With 127 and 4096 inputs the sum stays under 2**31."""


def pack(weights: Array) -> Array:
    """Interleave for `linear`: (outputs, inputs) -> (outputs / TILE, TILE * inputs)."""
    outputs, inputs = weights.shape
    width = lanes(weights.dtype)
    tiles = weights.reshape(outputs // TILE, TILE, inputs // width, width).swapaxes(1, 2)
    return np.ascontiguousarray(tiles).reshape(outputs // TILE, -1)


@njit(nogil=True, error_model="numpy")
def linear(weights: Array, scales: Array, inputs: Array, levels: Array, outputs: Array, sums: Array) -> None:
    """outputs (rows, n) = inputs (rows, k) times packed weights, times a scale per output and a level per row."""
    rows = inputs.shape[0]
    most = COLUMNS_INT8 if weights.itemsize == 1 else COLUMNS
    tile_bytes = weights.strides[0]
    passes = (rows + most - 1) // most
    shift = 0
    while 2 << shift <= passes:
        shift += 1
    for tile in range(weights.shape[0]):
        row = 0
        for turn in range(passes):
            count = min(most, rows - row)
            # Each pass over a tile fetches its share of the next one, so that memory is never idle. With one pass
            # there is nothing to share.
            ahead = AHEAD if passes == 1 else tile_bytes + (turn * tile_bytes >> shift)
            if count == 1:
                dots1(weights, tile, inputs, row, sums, ahead, shift)
            elif count == 2:
                dots2(weights, tile, inputs, row, sums, ahead, shift)
            elif count == 3:
                dots3(weights, tile, inputs, row, sums, ahead, shift)
            else:
                dots4(weights, tile, inputs, row, sums, ahead, shift)
            for line in range(TILE):
                output = tile * TILE + line
                for column in range(count):
                    outputs[row + column, output] = sums[line * count + column] * (
                        scales[output] * levels[row + column]
                    )
            row += count


def prepare(values: Array, inputs: Array, levels: Array) -> None:
    """Bring fp32 values (rows, k) into the type of `inputs`, with a level per row that scales them back."""
    raise NotImplementedError


@overload(prepare, jit_options={"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract"}})
def _prepare(values: Any, inputs: Any, levels: Any) -> Any:  # noqa: ARG001
    # numba wants the implementations to have this very signature, annotations included.
    def copy(values: Any, inputs: Any, levels: Any) -> Any:
        inputs[:] = values
        levels[:] = np.float32(1)

    def quantise(values: Any, inputs: Any, levels: Any) -> Any:
        for row in range(values.shape[0]):
            largest = np.float32(1e-20)
            for k in range(values.shape[1]):
                largest = max(largest, abs(values[row, k]))
            factor = np.float32(LEVELS) / largest
            levels[row] = largest / np.float32(LEVELS)
            for k in range(values.shape[1]):
                inputs[row, k] = np.int16(np.rint(values[row, k] * factor))

    return copy if inputs.dtype == types.float32 else quantise


_LOG2E, _LN2_HIGH, _LN2_LOW = np.float32(1.44269504), np.float32(0.693359375), np.float32(-2.12194440e-4)
_E2, _E3, _E4 = np.float32(0.5), np.float32(1.66666655e-1), np.float32(4.16657962e-2)
_E5, _E6, _E7 = np.float32(8.33345205e-3), np.float32(1.39819994e-3), np.float32(1.98756912e-4)
_ZERO, _HALF, _ONE, _INFINITY = np.float32(0), np.float32(0.5), np.float32(1), np.float32(np.inf)
_LOWEST, _HIGHEST = np.float32(-87), np.float32(87)


@njit(nogil=True, error_model="numpy")
def _exp(x: Any) -> Any:
    """e**x in fp32 to about 2 units in the last place, in operations that compile to vectors."""
    x = min(max(x, _LOWEST), _HIGHEST)
    whole = np.floor(x * _LOG2E + _HALF)
    r = x - whole * _LN2_HIGH - whole * _LN2_LOW
    tail = ((((_E7 * r + _E6) * r + _E5) * r + _E4) * r + _E3) * r + _E2
    return (tail * r * r + r + _ONE) * power_of_two(whole)


@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def normalise(values: Array, weight: Array, eps: Any, outputs: Array) -> None:
    """RMS norm of each row."""
    size = np.float32(values.shape[1])
    for row in range(values.shape[0]):
        total = np.float32(0)
        for k in range(values.shape[1]):
            total += values[row, k] * values[row, k]
        factor = _ONE / np.sqrt(total / size + eps)
        for k in range(values.shape[1]):
            outputs[row, k] = values[row, k] * factor * weight[k]


@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _rotate_and_store(qkv: Array, slots: Array, positions: Array, angles: Array, cache: Array) -> None:
    """Turn queries and keys by their position; write keys and values into the cache."""
    heads, half = cache.shape[2], cache.shape[4] // 2
    like = cache[0, 0, 0, 0, 0]
    for row in range(qkv.shape[0]):
        slot, position = slots[row], positions[row]
        for head in range(heads):
            q = 2 * half * head
            k, v = q + 2 * half * heads, q + 4 * half * heads
            for d in range(half):
                cos, sin = angles[0, position, d], angles[1, position, d]
                low, high = qkv[row, q + d], qkv[row, q + half + d]
                qkv[row, q + d], qkv[row, q + half + d] = low * cos - high * sin, high * cos + low * sin
                low, high = qkv[row, k + d], qkv[row, k + half + d]
                cache[0, slot, head, position, d] = narrow(low * cos - high * sin, like)
                cache[0, slot, head, position, half + d] = narrow(high * cos + low * sin, like)
            for d in range(2 * half):
                cache[1, slot, head, position, d] = narrow(qkv[row, v + d], like)


@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _attend(mixed: Array, slots: Array, positions: Array, cache: Array, scores: Array, outputs: Array) -> None:
    """Each row's queries over its own past, head by head."""
    scale = _ONE / np.sqrt(np.float32(HEAD))
    for row in range(mixed.shape[0]):
        length = positions[row] + 1
        for head in range(cache.shape[2]):
            score(mixed, row, cache, slots[row], head, length, scores)
            largest = -_INFINITY
            for position in range(length):
                largest = max(largest, scores[position])
            total = _ZERO
            for position in range(length):
                scores[position] = _exp((scores[position] - largest) * scale)
                total += scores[position]
            for position in range(length):
                scores[position] /= total
            mix(outputs, row, cache, slots[row], head, length, scores)


@njit(nogil=True, error_model="numpy")
def _gate(both: Array, outputs: Array) -> None:
    """SwiGLU: (rows, 2 * n) -> (rows, n)."""
    size = outputs.shape[1]
    for row in range(outputs.shape[0]):
        for k in range(size):
            gate = both[row, k]
            outputs[row, k] = gate / (_ONE + _exp(-gate)) * both[row, size + k]


@njit(nogil=True, error_model="numpy")
def layer(rows: Any, scratch: Any, weights: Any, cache: Array, angles: Array, eps: Any) -> None:
    """One transformer layer, in place.

    `rows`: states (rows, hidden), slots (rows,), positions (rows,). `scratch`: working memory of at least as many
    rows. `weights`: the two norms, then packed weights and scales of qkv, output, gate-up and down. `cache`:
    (2, slots, heads, length, d), written at each row's position. Rows of one slot come in order of position.
    """
    states, slots, positions = rows
    norm1, norm2, qkv, qkv_scale, out, out_scale, up, up_scale, down, down_scale = weights
    normed, inputs, wide_inputs, levels, mixed, attended, both, gated, scores, sums = scratch
    count = states.shape[0]
    levels = levels[:count]

    normalise(states, norm1, eps, normed[:count])
    prepare(normed[:count], inputs[:count], levels)
    linear(qkv, qkv_scale, inputs[:count], levels, mixed[:count], sums)
    _rotate_and_store(mixed[:count], slots, positions, angles, cache)
    _attend(mixed[:count], slots, positions, cache, scores, attended)
    prepare(attended[:count], inputs[:count], levels)
    linear(out, out_scale, inputs[:count], levels, normed[:count], sums)
    states += normed[:count]

    normalise(states, norm2, eps, normed[:count])
    prepare(normed[:count], inputs[:count], levels)
    linear(up, up_scale, inputs[:count], levels, both[:count], sums)
    _gate(both[:count], gated[:count])
    prepare(gated[:count], wide_inputs[:count], levels)
    linear(down, down_scale, wide_inputs[:count], levels, normed[:count], sums)
    states += normed[:count]
