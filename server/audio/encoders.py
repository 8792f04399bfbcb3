"""The codecs a client can ask for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from server.audio.format import AudioFormat, Encoder
from server.audio.ogg import OggOpusEncoder
from server.audio.opus import RATE as OPUS_RATE
from server.audio.opus import OpusEncoder
from server.audio.pcm import PcmEncoder
from server.audio.wav import WavEncoder

_PCM_RATES = (8_000, 16_000, 22_050, 24_000, 44_100, 48_000)
_TELEPHONE_RATE = 8_000


class UnsupportedFormatError(Exception):
    """There is no such codec, or not at that rate. The message names what there is."""


@dataclass(frozen=True, slots=True)
class Codec:
    """A way to encode, and the sample rates it can have. `create` takes the format and the engine's rate."""

    rates: tuple[int, ...]
    default_rate: int
    media_type: str
    create: Callable[[AudioFormat, int], Encoder]


def create_encoder(audio_format: AudioFormat, source_rate: int) -> Encoder:
    """An encoder for one context, fed PCM at `source_rate`. Raises `UnsupportedFormatError`."""
    codec = CODECS.get(audio_format.codec)
    if codec is None:
        raise UnsupportedFormatError(f"There is no codec {audio_format.codec!r}; choose one of: {', '.join(CODECS)}.")
    if audio_format.sample_rate not in codec.rates:
        rates = ", ".join(str(rate) for rate in codec.rates)
        raise UnsupportedFormatError(
            f"{audio_format.codec} can't be had at {audio_format.sample_rate} Hz; choose one of: {rates}."
        )
    return codec.create(audio_format, source_rate)


def _opus(_format: AudioFormat, source_rate: int) -> Encoder:
    assert source_rate == OPUS_RATE, "every engine of ours speaks at the rate we give Opus"
    return OpusEncoder()


def _ogg_opus(_format: AudioFormat, source_rate: int) -> Encoder:
    assert source_rate == OPUS_RATE, "as above"
    return OggOpusEncoder()


CODECS: Mapping[str, Codec] = MappingProxyType(
    {
        "opus": Codec((OPUS_RATE,), OPUS_RATE, "audio/opus", _opus),
        "ogg_opus": Codec((OPUS_RATE,), OPUS_RATE, "audio/ogg", _ogg_opus),
        "pcm_s16le": Codec(_PCM_RATES, 24_000, "audio/pcm", PcmEncoder),
        "pcm_f32le": Codec(_PCM_RATES, 24_000, "audio/pcm", PcmEncoder),
        "pcm_mulaw": Codec(_PCM_RATES, _TELEPHONE_RATE, "audio/PCMU", PcmEncoder),
        "pcm_alaw": Codec(_PCM_RATES, _TELEPHONE_RATE, "audio/PCMA", PcmEncoder),
        "wav": Codec(_PCM_RATES, 24_000, "audio/wav", WavEncoder),
    }
)
