"""ITU-T G.711: 16-bit samples as one byte each, for telephones."""

import numpy as np
from numpy.typing import NDArray

Int16 = NDArray[np.int16]
Bytes = NDArray[np.uint8]


def mulaw(samples: Int16) -> bytes:
    """Mu-law, North America and Japan."""
    return _MULAW.take(samples.view(np.uint16)).tobytes()


def alaw(samples: Int16) -> bytes:
    """A-law, everywhere else."""
    return _ALAW.take(samples.view(np.uint16)).tobytes()


def _sign_and_magnitude() -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Of every sample, at its index. Ones' complement, as in the reference encoder (G.191): x and ~x mirror."""
    linear = np.arange(65_536, dtype=np.uint16).view(np.int16).astype(np.int32)
    negative = linear < 0
    return negative, np.where(negative, ~linear, linear)


def _mulaw_table() -> Bytes:
    """Table 2: a 13-bit magnitude, biased by 33, as three bits of segment and four of step; all bits inverted."""
    negative, magnitude = _sign_and_magnitude()
    biased = np.minimum(magnitude >> 2, 8158) + 33
    segment = _exponent(biased) - 5
    code = segment << 4 | biased >> (segment + 1) & 0x0F
    table: Bytes = (code ^ np.where(negative, 0x7F, 0xFF)).astype(np.uint8)
    return table


def _alaw_table() -> Bytes:
    """Table 1: a 12-bit magnitude likewise; the first two segments have the same step; even bits inverted."""
    negative, magnitude = _sign_and_magnitude()
    magnitude = magnitude >> 3
    segment = np.maximum(_exponent(np.maximum(magnitude, 1)) - 4, 0)
    code = segment << 4 | magnitude >> np.maximum(segment, 1) & 0x0F
    table: Bytes = (code ^ np.where(negative, 0x55, 0xD5)).astype(np.uint8)
    return table


def _exponent(values: NDArray[np.int32]) -> NDArray[np.int32]:
    """The position of the highest bit. Exact: `frexp` takes it from the float, where `log2` would round."""
    return np.frexp(values.astype(np.float64))[1] - 1


_MULAW = _mulaw_table()
_ALAW = _alaw_table()
