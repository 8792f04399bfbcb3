"""WAV as a stream."""

import io
import wave

import pytest

from server.audio.format import AudioFormat
from server.audio.pcm import PcmEncoder
from server.audio.wav import WavEncoder
from tests.server.audio.signals import RATE, encoded, joined, speech


@pytest.mark.parametrize("rate", [8000, 22_050, 24_000])
def test_one_header_then_the_samples_of_pcm(rate: int) -> None:
    packets = encoded(WavEncoder(AudioFormat("wav", rate), RATE), speech(12_345), [1000, 1001, 7000])
    plain = encoded(PcmEncoder(AudioFormat("pcm_s16le", rate), RATE), speech(12_345))
    assert joined(packets)[44:] == joined(plain)
    assert packets[1:] == plain[1:]
    assert joined(packets).count(b"RIFF") == 1
    assert [packet.samples for packet in packets] == [packet.samples for packet in plain]


def test_a_reader_takes_it_to_its_end() -> None:
    stream = joined(encoded(WavEncoder(AudioFormat("wav", 16_000), RATE), speech(RATE)))
    with wave.open(io.BytesIO(stream)) as reader:
        assert (reader.getframerate(), reader.getnchannels(), reader.getsampwidth()) == (16_000, 1, 2)
        assert len(reader.readframes(1 << 24)) == 2 * 16_000


def test_the_header_is_known_to_the_byte() -> None:
    (packet,) = encoded(WavEncoder(AudioFormat("wav", RATE), RATE), speech(2))
    assert packet.data[:44].hex(" ", 4) == (
        "52494646 ffffffff 57415645 666d7420 10000000 01000100 c05d0000 80bb0000 02001000 64617461 ffffffff"
    )
    assert (packet.first_sample, packet.samples) == (0, 2)


def test_nothing_said_is_nothing_sent() -> None:
    assert encoded(WavEncoder(AudioFormat("wav", RATE), RATE), speech(0)) == []
