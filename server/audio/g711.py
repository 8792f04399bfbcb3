"""ITU-T G.711: 16-bit samples as one byte each, for telephones."""

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float32]
Bytes = NDArray[np.uint8]


def mulaw(samples: Float) -> bytes:
    """Mu-law bytes of samples in [-1, 1]."""
    return _MULAW[_index(samples)].tobytes()


def alaw(samples: Float) -> bytes:
    """A-law bytes of samples in [-1, 1]."""
    return _ALAW[_index(samples)].tobytes()


def _index(samples: Float) -> NDArray[np.uint16]:
    return (np.clip(np.nan_to_num(samples), -1.0, 1.0) * 32_767).round().astype(np.int16).view(np.uint16)


def _mulaw_table() -> Bytes:
    """Section 3.2: 14-bit magnitude, biased by 33, as sign, segment and four bits within it."""
    linear = np.arange(65_536, dtype=np.uint16).view(np.int16).astype(np.int32) >> 2
    magnitude = np.minimum(np.abs(linear), 8159) + 33
    segment = np.log2(magnitude).astype(np.int32) - 5
    code = segment << 4 | magnitude >> (segment + 1) & 0x0F
    table: Bytes = (code ^ np.where(linear < 0, 0x7F, 0xFF)).astype(np.uint8)
    return table


def _alaw_table() -> Bytes:
    """Section 3.1: 13-bit magnitude as sign, segment and four bits within it, every other bit inverted."""
    linear = np.arange(65_536, dtype=np.uint16).view(np.int16).astype(np.int32) >> 3
    magnitude = np.where(linear < 0, -linear - 1, linear)
    segment = np.maximum(np.log2(np.maximum(magnitude, 1)).astype(np.int32) - 4, 0)
    code = segment << 4 | magnitude >> np.maximum(segment, 1) & 0x0F
    table: Bytes = (code ^ np.where(linear < 0, 0x55, 0xD5)).astype(np.uint8)
    return table


_MULAW = _mulaw_table()
_ALAW = _alaw_table()
