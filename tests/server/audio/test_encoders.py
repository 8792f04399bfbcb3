"""Every codec, asked for by name."""

import itertools

import numpy as np
import pytest

from server.audio.encoders import CODECS, UnsupportedFormatError, create_encoder
from server.audio.format import AudioFormat, Encoder
from tests.server.audio.signals import RATE, Float, encoded, opus_decoded, played, rms_db, speech
from tests.server.audio.test_g711 import audioop
from tests.server.audio.test_ogg import pages

FORMATS = [AudioFormat(name, rate) for name, codec in CODECS.items() for rate in codec.rates]


def heard(encoder: Encoder, signal: Float) -> Float:
    """What a listener gets to hear."""
    packets = [packet.data for packet in encoded(encoder, signal)]
    data = b"".join(packets)
    match encoder.format.codec:
        case "opus":
            return opus_decoded(packets)[encoder.pre_skip :][: encoder.samples]
        case "ogg_opus":
            return opus_decoded([page.packet for page in pages(data)[2:]])[156:][: encoder.samples]
        case "pcm_f32le":
            return np.frombuffer(data, "<f4")
        case "mp3" | "aac" | "flac":
            return played(data)[encoder.pre_skip :][: encoder.samples]
        case "pcm_mulaw":
            data = audioop.ulaw2lin(data, 2)
        case "pcm_alaw":
            data = audioop.alaw2lin(data, 2)
        case "wav":
            data = data[44:]
    return (np.frombuffer(data, "<i2") / 32_768).astype(np.float32)


@pytest.mark.parametrize("audio_format", FORMATS, ids=str)
def test_each_is_as_loud_and_as_long_as_the_signal(audio_format: AudioFormat) -> None:
    signal = speech(RATE)
    encoder = create_encoder(audio_format, RATE)
    assert encoder.format == audio_format
    sound = heard(encoder, signal)
    assert len(sound) == encoder.samples == audio_format.sample_rate
    assert rms_db(sound) == pytest.approx(rms_db(signal), abs=0.5)


def test_an_unknown_codec_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnsupportedFormatError, match=r"no codec 'mp9'; choose one of: opus, .*aac\.$"):
        create_encoder(AudioFormat("mp9", RATE), RATE)


@pytest.mark.parametrize(("codec", "rate"), [("opus", 48_000), ("ogg_opus", 48_000), ("pcm_s16le", 11_025), ("wav", 0)])
def test_another_rate_is_refused_with_the_right_ones(codec: str, rate: int) -> None:
    rates = ", ".join(str(rate) for rate in CODECS[codec].rates)
    with pytest.raises(UnsupportedFormatError, match=f"{codec} can't be had at {rate} Hz; choose one of: {rates}.$"):
        create_encoder(AudioFormat(codec, rate), RATE)


@pytest.mark.parametrize("audio_format", FORMATS, ids=str)
@pytest.mark.parametrize("samples", [3, 240, 479, 480, 481, 960, 1000, 4800])
def test_the_last_packet_is_left_for_the_end(audio_format: AudioFormat, samples: int) -> None:
    encoder = create_encoder(audio_format, RATE)
    before = encoder.encode(speech(samples).tobytes())
    assert encoder.finish()
    assert all(packet.samples == encoder.frame_samples for packet in before)


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("bit_rate", [0, 15_999, 192_001])
def test_another_bit_rate_is_refused(name: str, bit_rate: int) -> None:
    with pytest.raises(UnsupportedFormatError, match=f"{name} can't be had at {bit_rate} bits a second."):
        create_encoder(AudioFormat(name, CODECS[name].default_rate, bit_rate), RATE)


def test_defaults_are_allowed() -> None:
    assert all(codec.default_rate in codec.rates for codec in CODECS.values())


def test_two_encoders_share_nothing() -> None:
    signal = speech(4800).tobytes()
    for audio_format in FORMATS:
        one, two = create_encoder(audio_format, RATE), create_encoder(audio_format, RATE)
        alone = encoded(create_encoder(audio_format, RATE), speech(4800))
        first = one.encode(signal[:8000])
        two.encode(signal)
        assert list(itertools.chain(first, one.encode(signal[8000:]), one.finish())) == alone
