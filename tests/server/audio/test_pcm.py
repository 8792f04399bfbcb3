"""Raw samples: right rate, right length, right place, whatever the pieces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.audio.encoders import CODECS
from server.audio.format import AudioFormat
from server.audio.pcm import PcmEncoder
from tests.server.audio.signals import RATE, Float, encoded, joined, lag, rms_db, speech, tone

BYTES = {"pcm_s16le": 2, "pcm_f32le": 4, "pcm_mulaw": 1, "pcm_alaw": 1}
RATES = CODECS["pcm_s16le"].rates
CUTS = st.lists(st.integers(0, 20_000), max_size=12)


def resampled(signal: Float, rate: int) -> Float:
    return np.frombuffer(joined(encoded(PcmEncoder(AudioFormat("pcm_f32le", rate), RATE), signal)), "<f4")


@given(st.integers(0, 12_000), CUTS, st.sampled_from(RATES), st.sampled_from(sorted(BYTES)))
def test_cuts_do_not_matter_and_every_sample_is_announced(n: int, cuts: list[int], rate: int, codec: str) -> None:
    encoder = PcmEncoder(AudioFormat(codec, rate), RATE)
    packets = encoded(encoder, speech(n), cuts)
    assert packets == encoded(PcmEncoder(AudioFormat(codec, rate), RATE), speech(n))
    assert encoder.samples == round(n * rate / RATE) == sum(packet.samples for packet in packets)
    first = 0
    for packet in packets:
        assert (packet.first_sample, len(packet.data)) == (first, packet.samples * BYTES[codec])
        first += packet.samples
    assert all(packet.samples == rate // 50 for packet in packets[:-1])


@pytest.mark.parametrize("rate", RATES)
def test_a_tone_keeps_its_pitch_and_its_level(rate: int) -> None:
    heard = resampled(tone(1000, RATE), rate)
    assert len(heard) == rate
    spectrum = np.abs(np.fft.rfft(heard * np.hanning(rate)))
    assert int(np.argmax(spectrum)) == 1000
    assert rms_db(heard[rate // 4 : -rate // 4]) == pytest.approx(rms_db(tone(1000, RATE)), abs=0.01)


@pytest.mark.parametrize("rate", [rate for rate in RATES if rate < RATE])
def test_what_the_rate_cannot_hold_does_not_come_back_as_another_tone(rate: int) -> None:
    assert rms_db(resampled(tone(min(11_500, 0.55 * rate), RATE), rate)[rate // 10 : -rate // 10]) < -100


@pytest.mark.parametrize("rate", RATES)
def test_sound_stays_in_its_place(rate: int) -> None:
    signal = np.zeros(RATE, np.float32)
    signal[12_000:12_600] = tone(440, 600) * np.hanning(600)
    times = np.arange(rate) * RATE / rate
    wanted = np.interp(times, np.arange(RATE), signal).astype(np.float32)
    assert abs(lag(resampled(signal, rate), wanted)) <= 2


@pytest.mark.parametrize(("rate", "held_ms"), [(8000, 25), (16_000, 10), (22_050, 10), (24_000, 0), (48_000, 10)])
def test_little_is_held_back(rate: int, held_ms: int) -> None:
    encoder = PcmEncoder(AudioFormat("pcm_s16le", rate), RATE)
    for taken_ms in range(5, 500, 5):
        encoder.encode(bytes(4 * RATE // 200))
        assert taken_ms - 1000 * encoder.samples / rate <= held_ms + 0.2


def test_samples_of_16_bits_are_rounded_and_clipped() -> None:
    values = [0.0, 0.5, -0.5, 0.6 / 32_768, -0.6 / 32_768, 0.4 / 32_768, 1.0, -1.0, 3.0, -1e30, np.nan, np.inf, -np.inf]
    data = joined(encoded(PcmEncoder(AudioFormat("pcm_s16le", RATE), RATE), np.array(values, np.float32)))
    assert np.frombuffer(data, "<i2").tolist() == [
        *(0, 16_384, -16_384, 1, -1, 0, 32_767, -32_768, 32_767, -32_768, 0, 0, 0)
    ]


def test_every_16_bit_sample_comes_back_as_it_was() -> None:
    samples = np.arange(-32_768, 32_768).astype("<i2")
    signal = (samples / np.float32(32_768)).astype(np.float32)
    assert joined(encoded(PcmEncoder(AudioFormat("pcm_s16le", RATE), RATE), signal)) == samples.tobytes()


def test_floats_pass_as_they_are() -> None:
    signal = speech(1234)
    assert joined(encoded(PcmEncoder(AudioFormat("pcm_f32le", RATE), RATE), signal)) == signal.astype("<f4").tobytes()


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_becomes_silence_and_spreads_nowhere(rate: int, bad: float) -> None:
    signal, silenced = speech(4800), speech(4800)
    signal[1000], silenced[1000] = bad, 0
    assert np.array_equal(resampled(signal, rate), resampled(silenced, rate))


def test_half_a_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="multiple of element size"):
        PcmEncoder(AudioFormat("pcm_s16le", RATE), RATE).encode(bytes(5))
