"""Voices: vectors drawn from upstream's statistics, and upstream's strings for them."""

import lzma
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pybase16384
from numpy.typing import NDArray

from streaming.chattts import upstream

Vector = NDArray[np.float16]  # (hidden,)
Codes = NDArray[np.uint16]  # (codebooks, tokens)

_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]


@dataclass(frozen=True, slots=True)
class Statistics:
    """How speaker vectors are distributed, dimension by dimension."""

    mean: Vector
    std: Vector

    @classmethod
    def released(cls) -> "Statistics":
        """Upstream's."""
        values = np.frombuffer(pybase16384.decode_from_string(upstream.speaker_statistics()), np.float16)
        std, mean = np.split(values, 2)
        return cls(mean, std)


def draw(seed: int, statistics: Statistics, size: int | None = None) -> Vector:
    """The voice `seed:N`: the same vector on every machine, whatever library versions are installed.

    `size` keeps the first dimensions only, for models smaller than the released one.
    """
    # Philox's raw output is fixed by its algorithm; numpy's normal() may change between versions.
    raw = np.random.Philox(key=seed).random_raw(len(statistics.mean))
    normal = NormalDist()
    noise = [normal.inv_cdf(((int(word) >> 11) + 0.5) * 2.0**-53) for word in raw]
    vector = np.asarray(noise, np.float32) * statistics.std + statistics.mean
    return vector.astype(np.float16)[:size]


def unit(vector: Vector) -> NDArray[np.float32]:
    """The vector as the model takes it: of length 1, rounded to fp16 on the way as upstream does."""
    wide = vector.astype(np.float32)
    length = np.float32(np.float16(max(float(np.linalg.norm(wide)), 1e-12)))
    return (wide / length).astype(np.float16).astype(np.float32)


def encode(vector: Vector) -> str:
    """Upstream's string for a voice."""
    packed = lzma.compress(vector.astype("<f2").tobytes(), format=lzma.FORMAT_RAW, filters=_FILTERS)
    return str(pybase16384.encode_to_string(packed))


def decode(text: str, size: int) -> Vector:
    """The vector of upstream's string. Raises ValueError if it is not one of `size` values."""
    vector = np.frombuffer(_unpack(text, 0), "<f2")
    if len(vector) != size:
        raise ValueError(f"this speaker has {len(vector)} values; the model takes {size}")
    if not np.isfinite(vector).all():
        raise ValueError("this speaker holds values that are not numbers; export it again")
    return vector.astype(np.float16)


def encode_sample(codes: Codes) -> str:
    """Upstream's string for an audio prompt."""
    packed = lzma.compress(codes.astype("<u2").tobytes(), format=lzma.FORMAT_RAW, filters=_FILTERS)
    return str(pybase16384.encode_to_string(np.array(codes.shape, "<u2").tobytes() + packed))


def decode_sample(text: str) -> Codes:
    """The codes of upstream's string for an audio prompt. Raises ValueError if it is not one."""
    shape = np.frombuffer(_bytes(text)[:4], "<u2")
    values = np.frombuffer(_unpack(text, 4), "<u2")
    if len(shape) != 2 or int(shape[0]) * int(shape[1]) != len(values):
        raise ValueError("this audio prompt is cut short; copy the whole string")
    return values.reshape(int(shape[0]), int(shape[1])).astype(np.uint16)


def read_folder(folder: Path, size: int) -> dict[str, Vector]:
    """Named voices: `NAME.txt` holds upstream's string. Raises ValueError that names a bad file."""
    voices: dict[str, Vector] = {}
    for path in sorted(folder.glob("*.txt")):
        try:
            voices[path.stem] = decode(path.read_text("utf-8").strip(), size)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    return voices


def save(folder: Path, name: str, vector: Vector) -> Path:
    """Write a named voice. Raises ValueError if `name` can't be a file name."""
    if not name or not all(character.isalnum() or character in "-_" for character in name):
        raise ValueError(f"{name!r} can't name a voice: use letters, digits, - and _")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.txt"
    path.write_text(encode(vector) + "\n", "utf-8")
    return path


def _bytes(text: str) -> bytes:
    # The decoder reads past what it was given when it meets other characters, so they are refused first.
    if not text or not all(
        "\u4e00" <= character <= "\u8e00" or "\u3d00" <= character <= "\u3d06" for character in text
    ):
        raise ValueError("this is not a speaker string: it must be base16384 text as ChatTTS prints it")
    return bytes(pybase16384.decode_from_string(text))


def _unpack(text: str, header: int) -> bytes:
    try:
        return lzma.decompress(_bytes(text)[header:], format=lzma.FORMAT_RAW, filters=_FILTERS)
    except lzma.LZMAError as error:
        raise ValueError("this speaker string is damaged; copy it again") from error
