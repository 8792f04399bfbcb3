"""Raw Opus: what a decoder makes of it is the signal, whole and in its place."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.audio.opus import OpusEncoder
from tests.server.audio.signals import encoded, lag, opus_decoded, rms_db, speech

CUTS = st.lists(st.integers(0, 5000), max_size=12)


@given(st.integers(0, 5000), CUTS)
def test_a_decoder_gives_every_sample_in_its_place(samples: int, cuts: list[int]) -> None:
    signal, encoder = speech(samples), OpusEncoder()
    packets = encoded(encoder, signal, cuts)
    heard = opus_decoded([packet.data for packet in packets])[encoder.pre_skip :]
    assert encoder.samples == samples
    assert bool(packets) == bool(samples)
    assert len(heard) >= samples
    if samples >= 960:
        heard = heard[:samples]
        assert abs(lag(heard, signal)) <= 4, "the codec's high-pass advances low notes by so much, nothing else moves"
        assert rms_db(heard) == pytest.approx(rms_db(signal), abs=1)
        assert rms_db(heard[-200:]) == pytest.approx(rms_db(signal[-200:]), abs=3), "the tail is there"


@given(st.integers(0, 5000), CUTS)
def test_cuts_do_not_matter(samples: int, cuts: list[int]) -> None:
    assert encoded(OpusEncoder(), speech(samples), cuts) == encoded(OpusEncoder(), speech(samples))


@given(st.integers(1, 5000))
def test_packets_tell_which_stretch_they_hold(samples: int) -> None:
    packets = encoded(OpusEncoder(), speech(samples))
    assert [packet.first_sample for packet in packets] == list(range(0, 480 * len(packets), 480))
    assert sum(packet.samples for packet in packets) == samples
    assert all(packet.samples == 480 for packet in packets[:-2])


def test_a_packet_leaves_with_its_last_sample() -> None:
    encoder = OpusEncoder()
    assert encoder.encode(bytes(4 * 479)) == []
    assert len(encoder.encode(bytes(4))) == 1


def test_it_is_set_for_speech_on_a_reliable_line() -> None:
    library = OpusEncoder()._encoder
    assert (library.bitrate, library.vbr, library.complexity) == (32_000, 1, 5)
    assert (library.signal, library.application) == (3001, 2048), "voice, VOIP"
    assert (library.dtx, library.inband_fec) == (0, 0)
    assert OpusEncoder().pre_skip == 156


def test_silence_is_sent_too() -> None:
    packets = encoded(OpusEncoder(), np.zeros(24_000, np.float32))
    assert all(len(packet.data) > 2 for packet in packets), "a packet of DTX is one or two bytes"


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30, -7.0])
def test_what_is_no_sound_stays_bounded_and_passes(bad: float) -> None:
    signal = speech(9600)
    signal[1000:1003] = bad
    heard = opus_decoded([packet.data for packet in encoded(OpusEncoder(), signal)])[156:]
    assert np.isfinite(heard).all() and np.abs(heard).max() < 8
    assert rms_db(heard[4800:9600]) == pytest.approx(rms_db(signal[4800:]), abs=1)


def test_half_a_sample_is_our_own_fault() -> None:
    with pytest.raises(AssertionError, match="half a sample"):
        OpusEncoder().encode(bytes(5))


def test_an_interpreter_ends_in_silence_with_an_encoder_alive() -> None:
    code = "from server.audio.opus import OpusEncoder; encoder = OpusEncoder(); encoder.encode(bytes(4000))"
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == ""
