"""Ogg Opus (RFC 7845), one packet to a page, so that nothing waits for a page to fill."""

import struct

from fastcrc import crc32

from server.audio.format import AudioFormat, Packet
from server.audio.opus import FRAME, RATE, OpusEncoder

TAIL = FRAME

_GRANULES = 2
"""Granule positions always count at 48 kHz; our samples are at 24."""

_FIRST, _LAST = 2, 4
_CRC_FIELD = slice(22, 26)


class OggOpusEncoder:
    """The packets of `OpusEncoder` in one logical stream. The headers travel with the first page of audio.

    Behind the last sample comes one frame of silence: players that resample a stream lose a little of its end.
    """

    def __init__(self, bit_rate: int | None = None) -> None:
        self._opus = OpusEncoder(bit_rate, tail=TAIL)
        self._pages = 0
        self.format = AudioFormat("ogg_opus", RATE, bit_rate)
        self.pre_skip = 0
        """Players drop the encoder's look-ahead by themselves: the header says how much it is."""
        self.frame_samples = FRAME

    @property
    def samples(self) -> int:
        """Samples taken so far."""
        return self._opus.samples

    def encode(self, pcm: bytes) -> list[Packet]:
        """A page for each whole frame."""
        return [self._paged(packet) for packet in self._opus.encode(pcm)]

    def finish(self) -> list[Packet]:
        """The last page's position cuts the padding off."""
        packets = self._opus.finish()
        return [self._paged(packet, _LAST if packet is packets[-1] else 0) for packet in packets]

    def _paged(self, packet: Packet, flags: int = 0) -> Packet:
        headers = b"" if self._pages else self._page(self._head(), 0, _FIRST) + self._page(_TAGS, 0)
        end = self._opus.pre_skip + self._opus.samples + TAIL if flags & _LAST else packet.first_sample + FRAME
        position = _GRANULES * end
        return Packet(headers + self._page(packet.data, position, flags), packet.first_sample, packet.samples)

    def _head(self) -> bytes:
        return struct.pack("<8sBBHIhB", b"OpusHead", 1, 1, _GRANULES * self._opus.pre_skip, RATE, 0, 0)

    def _page(self, data: bytes, position: int, flags: int = 0) -> bytes:
        number, self._pages = self._pages, self._pages + 1
        lacing = bytes([255] * (len(data) // 255) + [len(data) % 255])
        page = struct.pack("<4sBBqIIIB", b"OggS", 0, flags, position, 1, number, 0, len(lacing)) + lacing + data
        return page[: _CRC_FIELD.start] + struct.pack("<I", _checksum(page)) + page[_CRC_FIELD.stop :]


_VENDOR = b"firstword"
_TAGS = struct.pack(f"<8sI{len(_VENDOR)}sI", b"OpusTags", len(_VENDOR), _VENDOR, 0)


def _checksum(page: bytes) -> int:
    """Ogg's CRC is that of POSIX `cksum` without its last inversion."""
    return crc32.cksum(page) ^ 0xFFFFFFFF
