"""Signals to encode, ways to cut them, and what a listener does with the packets."""

import io
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import av
import numpy as np
import opuslib_next
from numpy.typing import NDArray

from server.audio.format import Encoder, Packet

Float = NDArray[np.float32]

RATE = 24_000


def speech(samples: int) -> Float:
    """A voiced sound whose pitch and loudness move, as a voice's do. A longer one begins with the shorter one."""
    time = np.arange(samples) / RATE
    phase = 2 * np.pi * 120 * time + 4 * np.sin(2 * np.pi * 2 * time)
    voice: NDArray[np.float64] = sum((np.cos(k * phase) / k for k in range(1, 21)), np.zeros(samples))
    return (0.1 * voice * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * time))).astype(np.float32)


def tone(hertz: float, samples: int, rate: int = RATE) -> Float:
    """Half of full scale."""
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(samples) / rate)).astype(np.float32)


def encoded(encoder: Encoder, signal: Float, cuts: Iterable[int] = ()) -> list[Packet]:
    """All packets of `signal`, fed in the pieces that `cuts` makes."""
    edges = [0, *sorted(cut % (len(signal) + 1) for cut in cuts), len(signal)]
    pieces = (signal[start:end].astype("<f4").tobytes() for start, end in itertools.pairwise(edges))
    return [*itertools.chain.from_iterable(encoder.encode(piece) for piece in pieces), *encoder.finish()]


def opus_decoded(packets: Sequence[bytes], frame: int = 480) -> Float:
    """What a decoder gives, its delay and the padding still in it."""
    decoder = opuslib_next.Decoder(RATE, 1)
    pcm = b"".join(bytes(decoder.decode_float(packet, frame)) for packet in packets)
    return np.frombuffer(pcm, "<f4")


def played(stream: bytes) -> Float:
    """What a player gives, at the stream's own rate."""
    with av.open(io.BytesIO(stream), "r") as container:
        samples: NDArray[Any] = np.concatenate([frame.to_ndarray().reshape(-1) for frame in container.decode(audio=0)])
    return samples.astype(np.float32) / np.float32(32_768 if samples.dtype == np.int16 else 1)


def joined(packets: Sequence[Packet]) -> bytes:
    """The bytes of all packets."""
    return b"".join(packet.data for packet in packets)


def rms_db(signal: Float) -> float:
    """Level below full scale."""
    return float(10 * np.log10(np.mean(np.square(signal, dtype=np.float64)) + 1e-12))


def lag(signal: Float, reference: Float, most: int = 100) -> int:
    """By how many samples `signal` comes late, up to `most` either way."""
    core = reference[most:-most].astype(np.float64)
    matches = [np.dot(signal[most + late :][: len(core)], core) for late in range(-most, most + 1)]
    return int(np.argmax(matches)) - most
