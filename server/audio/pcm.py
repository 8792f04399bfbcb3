"""Raw samples in 20 ms packets."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from server.audio.format import AudioFormat, Packet
from server.audio.g711 import alaw, mulaw
from server.audio.resample import Resampler, create_resampler

Float = NDArray[np.float32]


def _s16le(samples: Float) -> bytes:
    return (np.clip(np.nan_to_num(samples), -1.0, 1.0) * 32_767).round().astype("<i2").tobytes()


def _f32le(samples: Float) -> bytes:
    return samples.astype("<f4").tobytes()


SAMPLE_FORMATS: Mapping[str, tuple[int, Callable[[Float], bytes]]] = MappingProxyType(
    {"pcm_s16le": (2, _s16le), "pcm_f32le": (4, _f32le), "pcm_mulaw": (1, mulaw), "pcm_alaw": (1, alaw)}
)
"""Bytes a sample and the conversion, by codec name."""


class PcmEncoder:
    """Resamples, converts and cuts. Packets never split a sample."""

    def __init__(self, audio_format: AudioFormat, source_rate: int) -> None:
        self._format = audio_format
        self._resampler: Resampler = create_resampler(source_rate, audio_format.sample_rate)
        self._sample_bytes, self._convert = SAMPLE_FORMATS[audio_format.codec]
        self._rest = b""
        self._sent = 0
        self._samples = 0

    @property
    def format(self) -> AudioFormat:
        """As it was asked for."""
        return self._format

    @property
    def pre_skip(self) -> int:
        """Nothing is late."""
        return 0

    @property
    def frame_samples(self) -> int:
        """20 ms."""
        return self._format.sample_rate // 50

    @property
    def samples(self) -> int:
        """Samples that came out of the resampler."""
        return self._samples

    def encode(self, pcm: bytes) -> list[Packet]:
        """Whole packets; the rest waits."""
        return self._packets(self._resampler.push(np.frombuffer(pcm, "<f4")), last=False)

    def finish(self) -> list[Packet]:
        """The last packet is as long as it is."""
        return self._packets(self._resampler.finish(), last=True)

    def _packets(self, samples: Float, *, last: bool) -> list[Packet]:
        self._samples += len(samples)
        data = self._rest + self._convert(samples)
        size = self.frame_samples * self._sample_bytes
        end = len(data) if last else len(data) - len(data) % size
        self._rest = data[end:]
        return [self._packet(data[at : min(at + size, end)]) for at in range(0, end, size)]

    def _packet(self, data: bytes) -> Packet:
        first, count = self._sent, len(data) // self._sample_bytes
        self._sent += count
        return Packet(data, first, count)
