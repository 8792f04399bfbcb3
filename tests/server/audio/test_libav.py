"""MP3, AAC and FLAC, read back by libavformat and by readers of our own."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.audio.format import AudioFormat
from server.audio.libav import LibavEncoder
from server.audio.pcm import PcmEncoder
from tests.server.audio.signals import RATE, encoded, joined, lag, played, rms_db, speech

CUTS = st.lists(st.integers(0, 9000), max_size=6)
RATES = [8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]


def mpeg_frames(stream: bytes, rate: int) -> list[bytes]:
    """The frames of an MP3 stream at a constant 64 kbit/s; none may be cut."""
    found = []
    while stream:
        assert stream[0] == 0xFF and stream[1] & 0xE6 == 0xE2, "MPEG audio, layer III"
        padding = stream[2] >> 1 & 1
        size = (144 if rate >= 32_000 else 72) * 64_000 // rate + padding
        found.append(stream[:size])
        assert len(found[-1]) == size
        stream = stream[size:]
    return found


def adts_frames(stream: bytes) -> list[bytes]:
    """The access units of an ADTS stream, their headers checked field by field."""
    found = []
    while stream:
        header = int.from_bytes(stream[:7], "big")
        size = header >> 13 & 0x1FFF
        assert header >> 44 == 0xFFF and header >> 40 & 0xF == 1, "sync, MPEG-4, no checksum"
        assert (header >> 38 & 3, header >> 34 & 15, header >> 30 & 7) == (1, 6, 1), "LC, 24 kHz, mono"
        assert (header >> 2 & 0x7FF, header & 3) == (0x7FF, 0)
        assert 7 < size <= len(stream)
        found.append(stream[7:size])
        stream = stream[size:]
    return found


@given(st.integers(1, 9000), CUTS)
@settings(max_examples=50)
def test_flac_is_the_samples_of_pcm(samples: int, cuts: list[int]) -> None:
    encoder = LibavEncoder(AudioFormat("flac", RATE), RATE)
    packets = encoded(encoder, speech(samples), cuts)
    plain = np.frombuffer(joined(encoded(PcmEncoder(AudioFormat("pcm_s16le", RATE), RATE), speech(samples))), "<i2")
    assert np.array_equal(played(joined(packets)) * 32_768, plain)
    assert (encoder.samples, encoder.pre_skip) == (samples, 0)
    assert sum(packet.samples for packet in packets) == samples
    assert [packet.first_sample for packet in packets] == list(range(0, 480 * len(packets), 480))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("codec", ["mp3", "aac"])
@pytest.mark.parametrize("samples", [12_000, 31_234])
def test_every_sample_is_heard_in_its_place(codec: str, rate: int, samples: int) -> None:
    signal = speech(samples)
    encoder = LibavEncoder(AudioFormat(codec, rate), RATE)
    packets = encoded(encoder, signal, [1000, 1001, 17_000])
    plain = np.frombuffer(joined(encoded(PcmEncoder(AudioFormat("pcm_f32le", rate), RATE), signal)), "<f4")
    heard = played(joined(packets))[encoder.pre_skip :]
    assert encoder.samples == len(plain) <= len(heard) <= len(plain) + 3 * encoder.frame_samples
    padding = np.append(heard[len(plain) + 200 :], np.float32(0))
    assert rms_db(padding) < -40, "silence follows"
    assert sum(packet.samples for packet in packets) == encoder.samples
    heard = heard[: len(plain)]
    assert lag(heard, plain) == 0
    assert rms_db(heard) == pytest.approx(rms_db(plain), abs=0.5)
    assert rms_db(heard[-800:]) == pytest.approx(rms_db(plain[-800:]), abs=1), "the tail is there"


@given(st.integers(1, 9000), CUTS, st.sampled_from(["mp3", "aac", "flac"]))
@settings(max_examples=50)
def test_cuts_do_not_matter(samples: int, cuts: list[int], codec: str) -> None:
    audio_format = AudioFormat(codec, RATE)
    whole = encoded(LibavEncoder(audio_format, RATE), speech(samples))
    assert encoded(LibavEncoder(audio_format, RATE), speech(samples), cuts) == whole


@pytest.mark.parametrize("rate", RATES[1:])
def test_mp3_is_whole_frames(rate: int) -> None:
    packets = encoded(LibavEncoder(AudioFormat("mp3", rate), RATE), speech(RATE))
    assert mpeg_frames(joined(packets), rate) == [packet.data for packet in packets]


def test_aac_is_adts() -> None:
    packets = encoded(LibavEncoder(AudioFormat("aac", RATE), RATE), speech(RATE))
    assert len(adts_frames(joined(packets))) == len(packets) == 25


def test_flac_begins_with_its_head_alone() -> None:
    packets = encoded(LibavEncoder(AudioFormat("flac", RATE), RATE), speech(RATE))
    head = packets[0].data[:42]
    assert head[:8] == b"fLaC\x80\x00\x00\x22"
    assert struct.unpack(">HH", head[8:12]) == (480, 480)
    rate_and_length = int.from_bytes(head[18:26], "big")
    assert (rate_and_length >> 44, rate_and_length >> 41 & 7, (rate_and_length >> 36 & 31) + 1) == (RATE, 0, 16)
    assert rate_and_length & (1 << 36) - 1 == 0, "the length is unknown"
    assert joined(packets).count(b"fLaC") == 1
    assert all(packet.data[0] == 0xFF for packet in packets[1:])


@pytest.mark.parametrize(("codec", "samples"), [("flac", 481), ("mp3", 1920), ("aac", 2881)])
def test_the_first_sound_waits_for_no_more_than_its_codec_must(codec: str, samples: int) -> None:
    encoder = LibavEncoder(AudioFormat(codec, RATE), RATE)
    assert encoder.encode(speech(samples).tobytes())


@pytest.mark.parametrize("bit_rate", [16_000, 32_000, 128_000, 192_000])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("codec", ["mp3", "aac"])
def test_every_bit_rate_that_may_be_asked_for_can_be_had(codec: str, rate: int, bit_rate: int) -> None:
    stream = joined(encoded(LibavEncoder(AudioFormat(codec, rate, bit_rate), RATE), speech(12_000)))
    assert len(played(stream)) >= rate // 2


@pytest.mark.parametrize("codec", ["mp3", "aac", "flac"])
def test_nothing_said_is_nothing_sent(codec: str) -> None:
    assert encoded(LibavEncoder(AudioFormat(codec, RATE), RATE), speech(0)) == []
