"""WAV as a stream: a header that knows no length, then samples until the end."""

import struct

from server.audio.format import AudioFormat, Packet
from server.audio.pcm import PcmEncoder

_UNKNOWN = 0xFFFF_FFFF
"""Where the sizes belong: what players take for `until the end`."""

_PCM, _MONO, _SAMPLE_BYTES = 1, 1, 2


class WavEncoder:
    """The packets of `pcm_s16le`, the first of them behind the one header."""

    def __init__(self, audio_format: AudioFormat, source_rate: int) -> None:
        self._pcm = PcmEncoder(AudioFormat("pcm_s16le", audio_format.sample_rate), source_rate)
        self._header = _header(audio_format.sample_rate)
        self.format = audio_format
        self.pre_skip = self._pcm.pre_skip
        self.frame_samples = self._pcm.frame_samples

    @property
    def samples(self) -> int:
        """A few short until the end."""
        return self._pcm.samples

    def encode(self, pcm: bytes) -> list[Packet]:
        """Whole packets; the rest waits."""
        return self._headed(self._pcm.encode(pcm))

    def finish(self) -> list[Packet]:
        """The last packet is as long as what is left."""
        return self._headed(self._pcm.finish())

    def _headed(self, packets: list[Packet]) -> list[Packet]:
        if not packets or not self._header:
            return packets
        header, self._header = self._header, b""
        first, *others = packets
        return [Packet(header + first.data, first.first_sample, first.samples), *others]


def _header(rate: int) -> bytes:
    kind = struct.pack("<HHIIHH", _PCM, _MONO, rate, rate * _SAMPLE_BYTES, _SAMPLE_BYTES, 8 * _SAMPLE_BYTES)
    return b"RIFF" + _size(_UNKNOWN) + b"WAVEfmt " + _size(len(kind)) + kind + b"data" + _size(_UNKNOWN)


def _size(count: int) -> bytes:
    return struct.pack("<I", count)
