"""Ogg Opus, read back by a strict reader of our own."""

import struct
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.audio.ogg import OggOpusEncoder
from server.audio.opus import OpusEncoder
from tests.server.audio.signals import RATE, encoded, joined, played, rms_db, speech

CONTINUED, FIRST, LAST = 1, 2, 4


@dataclass(frozen=True)
class Page:
    flags: int
    position: int
    serial: int
    number: int
    packet: bytes


def checksum(page: bytes) -> int:
    """Bit by bit: polynomial 0x04c11db7, from 0, nothing reflected, nothing inverted."""
    register = 0
    for byte in page:
        register ^= byte << 24
        for _ in range(8):
            register = (register << 1) ^ (0x1_04C1_1DB7 if register & 0x8000_0000 else 0)
    return register


def pages(stream: bytes) -> list[Page]:
    """Every page; each holds one whole packet."""
    found = []
    while stream:
        magic, version, flags, position, serial, number, crc, count = struct.unpack_from("<4sBBqIIIB", stream)
        assert (magic, version) == (b"OggS", 0)
        lacing = stream[27 : 27 + count]
        assert set(lacing[:-1]) <= {255} and lacing[-1] < 255, "one packet, and it ends here"
        size = 27 + count + sum(lacing)
        page, stream = stream[:size], stream[size:]
        assert len(page) == size
        assert checksum(page[:22] + bytes(4) + page[26:]) == crc
        found.append(Page(flags, position, serial, number, page[27 + count :]))
    return found


@given(st.integers(1, 3000), st.lists(st.integers(0, 3000), max_size=6))
def test_it_is_the_packets_of_opus_each_in_a_page(samples: int, cuts: list[int]) -> None:
    encoder = OggOpusEncoder()
    packets = encoded(encoder, speech(samples), cuts)
    head, tags, *audio = pages(joined(packets))
    assert head.packet == b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 312, 24_000, 0, 0)
    assert tags.packet.startswith(b"OpusTags")
    plain = encoded(OpusEncoder(tail=480), speech(samples))
    assert [page.packet for page in audio] == [packet.data for packet in plain]
    assert [page.number for page in (head, tags, *audio)] == list(range(len(audio) + 2))
    assert {page.serial for page in (tags, *audio)} == {head.serial}
    assert [page.flags for page in (head, tags, *audio)] == [FIRST, 0, *[0] * (len(audio) - 1), LAST]
    assert [page.position for page in (head, tags, *audio)] == [
        *(0, 0),
        *range(960, 960 * len(audio), 960),
        312 + 2 * samples + 960,
    ]
    assert 960 * (len(audio) - 1) < 312 + 2 * samples + 960 <= 960 * len(audio), "the last page cuts less than a frame"
    assert sum(packet.samples for packet in packets) == samples, "the frame of silence is not counted"
    assert (encoder.samples, encoder.pre_skip) == (samples, 0)


def test_the_headers_come_with_the_first_sound_and_nothing_is_held() -> None:
    encoder = OggOpusEncoder()
    assert encoder.encode(bytes(4 * 479)) == []
    (packet,) = encoder.encode(bytes(4))
    assert [page.packet[:8] for page in pages(packet.data)[:2]] == [b"OpusHead", b"OpusTags"]
    assert len(pages(packet.data)) == 3
    assert (packet.first_sample, packet.samples) == (0, 480)


def test_a_player_hears_the_signal_then_one_frame_of_silence() -> None:
    heard = played(joined(encoded(OggOpusEncoder(), speech(31_234))))
    assert len(heard) == 2 * (31_234 + 480)
    assert rms_db(heard[-600:]) < -55


def test_the_bit_rate_is_what_was_asked_for() -> None:
    sizes = [len(joined(encoded(OggOpusEncoder(rate), speech(RATE)))) for rate in (None, 32_000, 64_000)]
    assert sizes[0] == sizes[1] < 0.7 * sizes[2]


def test_nothing_said_is_nothing_sent() -> None:
    assert encoded(OggOpusEncoder(), speech(0)) == []


@pytest.mark.parametrize("size", [0, 1, 254, 255, 256, 510, 1275])
def test_a_packet_of_any_size_has_its_lacing(size: int) -> None:
    (page,) = pages(OggOpusEncoder()._page(bytes(size), 960))
    assert page.packet == bytes(size)
