"""MP3, AAC and FLAC by libavcodec: its packets, each with what a stream of them needs around it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import av
import numpy as np
from av import AudioCodecContext

from server.audio.format import AudioFormat, Packet
from server.audio.pcm import PcmEncoder


@dataclass(frozen=True, slots=True)
class _Codec:
    """How libavcodec is set, and by how many samples a decoder is late: no header of a stream takes that off."""

    encoder: str
    sample_format: str
    frame_samples: Callable[[int], int]
    head: Callable[[AudioCodecContext], bytes] = lambda _context: b""
    framed: Callable[[bytes, int], bytes] = lambda packet, _rate: packet
    bit_rate: int | None = None
    delay: int = 0
    options: Mapping[str, str] = field(default_factory=dict)


class LibavEncoder:
    """The samples of `pcm_s16le`, compressed. The stream's head travels with the first packet."""

    def __init__(self, audio_format: AudioFormat, source_rate: int) -> None:
        self._codec = _CODECS[audio_format.codec]
        self._pcm = PcmEncoder(AudioFormat("pcm_s16le", audio_format.sample_rate), source_rate)
        self._context: AudioCodecContext | None = None
        self._given = 0
        self.format = audio_format
        self.pre_skip = self._codec.delay
        self.frame_samples = self._codec.frame_samples(audio_format.sample_rate)

    @property
    def samples(self) -> int:
        """A few short until the end."""
        return self._pcm.samples

    def encode(self, pcm: bytes) -> list[Packet]:
        """Whole frames; the rest waits."""
        return self._compressed(self._pcm.encode(pcm))

    def finish(self) -> list[Packet]:
        """What the encoder still holds; the last frame of MP3 and AAC is padded, and nothing can say by how much."""
        packets = self._compressed(self._pcm.finish())
        return packets + self._packets(self._context.encode(None)) if self._context else packets

    def _compressed(self, packets: list[Packet]) -> list[Packet]:
        if not packets:
            return []
        if self._context is None:
            self._context = self._opened()
        samples = np.frombuffer(b"".join(packet.data for packet in packets), "<i2")
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), "s16", "mono")
        frame.sample_rate = self.format.sample_rate
        return self._packets(self._context.encode(frame))

    def _opened(self) -> AudioCodecContext:
        """Takes a millisecond or two, so it waits until an encoder thread does it."""
        context = av.CodecContext.create(self._codec.encoder, "w")
        assert isinstance(context, AudioCodecContext)
        context.sample_rate = self.format.sample_rate
        context.layout = "mono"
        context.format = self._codec.sample_format
        if bit_rate := self.format.bit_rate or self._codec.bit_rate:
            context.bit_rate = bit_rate
        context.options = {"frame_size": str(self.frame_samples), **self._codec.options}
        context.open()
        return context

    def _packets(self, packets: "list[av.Packet[av.AudioStream]]") -> list[Packet]:
        return [self._packet(bytes(packet)) for packet in packets if packet.size]

    def _packet(self, packet: bytes) -> Packet:
        assert self._context is not None
        head = b"" if self._given else self._codec.head(self._context)
        first, self._given = self._given, self._given + self.frame_samples
        count = max(0, min(self.frame_samples, self.samples - first))
        return Packet(head + self._codec.framed(packet, self.format.sample_rate), first, count)


_ADTS_RATES = (96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000)


def _adts(packet: bytes, rate: int) -> bytes:
    """ISO 14496-3, 1.A.3: a header of seven bytes, no checksum, low complexity, one channel, buffer size unknown."""
    sync, low_complexity, channels, fullness = 0xFFF1, 1, 1, 0x7FF
    header = sync << 40 | low_complexity << 38 | _ADTS_RATES.index(rate) << 34 | channels << 30
    header |= (7 + len(packet)) << 13 | fullness << 2
    return header.to_bytes(7, "big") + packet


def _flac_head(context: AudioCodecContext) -> bytes:
    """The magic word and one block, the last: STREAMINFO, in which zeros mean an unknown length."""
    assert context.extradata is not None
    return b"fLaC" + (0x80 << 24 | len(context.extradata)).to_bytes(4, "big") + context.extradata


_CODECS: Mapping[str, _Codec] = MappingProxyType(
    {
        "mp3": _Codec(
            encoder="libmp3lame",
            sample_format="s16p",
            frame_samples=lambda rate: 1152 if rate >= 32_000 else 576,
            bit_rate=64_000,
            delay=576 + 529,  # LAME's own and what every decoder adds
            # The reservoir would hold frames back, and LAME's best qualities cost three times as much.
            options={"reservoir": "0", "compression_level": "7"},
        ),
        "aac": _Codec(
            encoder="aac",
            sample_format="fltp",
            frame_samples=lambda _rate: 1024,
            framed=_adts,
            bit_rate=64_000,
            delay=1024,
        ),
        "flac": _Codec(encoder="flac", sample_format="s16", frame_samples=lambda rate: rate // 50, head=_flac_head),
    }
)
