"""Raw samples in 20 ms packets."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from server.audio.format import AudioFormat, Packet
from server.audio.g711 import alaw, mulaw
from server.audio.resample import create_resampler

Float = NDArray[np.float32]


class PcmEncoder:
    """Resamples, converts and cuts. Packets never split a sample."""

    def __init__(self, audio_format: AudioFormat, source_rate: int) -> None:
        self._resampler = create_resampler(source_rate, audio_format.sample_rate)
        self._sample_bytes, self._convert = _SAMPLES[audio_format.codec]
        self._rest = b""
        self._given = 0
        self.format = audio_format
        self.pre_skip = 0
        self.frame_samples = audio_format.sample_rate // 50
        self.samples = 0
        """What came out of the resampler: a few short until the end."""

    def encode(self, pcm: bytes) -> list[Packet]:
        """Whole packets; the rest waits, and be it one packet: `finish` must have a last one to give."""
        data = self._rest + self._taken(self._resampler.push(_finite(np.frombuffer(pcm, "<f4"))))
        size = self.frame_samples * self._sample_bytes
        whole = max(0, len(data) - 1) // size * size
        self._rest = data[whole:]
        return self._packets(data[:whole])

    def finish(self) -> list[Packet]:
        """The last packet is as long as what is left."""
        return self._packets(self._rest + self._taken(self._resampler.finish()))

    def _taken(self, samples: Float) -> bytes:
        self.samples += len(samples)
        return self._convert(samples)

    def _packets(self, data: bytes) -> list[Packet]:
        size = self.frame_samples * self._sample_bytes
        return [self._packet(data[at : at + size]) for at in range(0, len(data), size)]

    def _packet(self, data: bytes) -> Packet:
        first, count = self._given, len(data) // self._sample_bytes
        self._given += count
        return Packet(data, first, count)


def _finite(samples: Float) -> Float:
    """A NaN is a click of one sample here; behind the resampler's filter it would be a hole."""
    if np.isfinite(samples).all():
        return samples
    return np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0)


def _int16(samples: Float) -> NDArray[np.int16]:
    """Scaled as libopus does it, so that all codecs are equally loud."""
    scaled = samples * np.float32(32_768)
    np.rint(scaled, out=scaled)
    np.clip(scaled, -32_768, 32_767, out=scaled)
    return scaled.astype(np.int16)


_SAMPLES: Mapping[str, tuple[int, Callable[[Float], bytes]]] = MappingProxyType(
    {
        "pcm_s16le": (2, lambda samples: _int16(samples).astype("<i2", copy=False).tobytes()),
        "pcm_f32le": (4, lambda samples: samples.astype("<f4", copy=False).tobytes()),
        "pcm_mulaw": (1, lambda samples: mulaw(_int16(samples))),
        "pcm_alaw": (1, lambda samples: alaw(_int16(samples))),
    }
)
"""By codec: bytes a sample, and how to make them."""
