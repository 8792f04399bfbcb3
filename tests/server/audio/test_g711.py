"""G.711 against the tables of the recommendation."""

import warnings

import numpy as np
import pytest

from server.audio.g711 import alaw, mulaw

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "'audioop' is deprecated", DeprecationWarning)
    audioop = pytest.importorskip("audioop", reason="gone from Python 3.13 on")

MULAW_SEGMENTS = ((1, 1), (15, 2), (16, 4), (16, 8), (16, 16), (16, 32), (16, 64), (16, 128), (16, 256))
"""Table 2a, columns 1 and 2 upwards: intervals and their size, in 14-bit units."""

ALAW_SEGMENTS = ((32, 2), (16, 4), (16, 8), (16, 16), (16, 32), (16, 64), (16, 128))
"""Table 1a, likewise, in 13-bit units."""

ALL = np.arange(-32_768, 32_768).astype(np.int16)


def intervals(segments: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Where each of the 128 intervals starts and ends."""
    sizes = [size for count, size in segments for _ in range(count)]
    ends = np.cumsum(sizes).tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))


def test_mulaw_is_table_2() -> None:
    edges = intervals(MULAW_SEGMENTS)
    assert (len(edges), edges[-1]) == (128, (7903, 8159))
    for step, (start, end) in enumerate(edges):
        positive = np.arange(4 * start, 4 * end).astype(np.int16)
        assert set(mulaw(positive)) == {0xFF - step}
        assert set(mulaw(~positive)) == {0x7F - step}


def test_alaw_is_table_1() -> None:
    edges = intervals(ALAW_SEGMENTS)
    assert (len(edges), edges[-1]) == (128, (3968, 4096))
    for step, (start, end) in enumerate(edges):
        positive = np.arange(8 * start, 8 * end).astype(np.int16)
        assert set(alaw(positive)) == {(0x80 + step) ^ 0x55}
        assert set(alaw(~positive)) == {step ^ 0x55}


def test_the_loudest_stay_loud() -> None:
    loudest = np.array([32_767, -32_768], np.int16)
    assert mulaw(loudest) == b"\x80\x00"
    assert alaw(loudest) == b"\xaa\x2a"


def test_silence_is_the_idle_code() -> None:
    assert mulaw(np.zeros(3, np.int16)) == b"\xff\xff\xff"
    assert alaw(np.zeros(3, np.int16)) == b"\xd5\xd5\xd5"


@pytest.mark.parametrize(("encode", "decode"), [(mulaw, audioop.ulaw2lin), (alaw, audioop.alaw2lin)])
def test_a_known_decoder_gives_the_nearest_level(encode: type(mulaw), decode: type(mulaw)) -> None:  # type: ignore[valid-type]
    codes = bytes(range(256))
    levels = np.frombuffer(decode(codes, 2), np.int16)
    assert np.array_equal(np.frombuffer(decode(encode(levels), 2), np.int16), levels), "levels stay where they are"
    heard = np.frombuffer(decode(encode(ALL), 2), np.int16).astype(int)
    nearest = np.abs(levels.astype(int)[:, None] - ALL.astype(int)[None, ::97]).min(axis=0)
    assert np.abs(heard[::97] - ALL[::97]).max() <= nearest.max() + 4
