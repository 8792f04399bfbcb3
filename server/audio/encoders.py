"""The codecs a client can ask for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from server.audio.format import AudioFormat, Encoder
from server.audio.libav import LibavEncoder
from server.audio.ogg import OggOpusEncoder
from server.audio.opus import RATE as OPUS_RATE
from server.audio.opus import OpusEncoder
from server.audio.pcm import PcmEncoder
from server.audio.wav import WavEncoder

_RATES = (8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_TELEPHONE_RATE = 8_000
_BIT_RATES = range(16_000, 192_001)


class UnsupportedFormatError(Exception):
    """There is no such codec, or not at those rates. The message names what there is."""


@dataclass(frozen=True, slots=True)
class Codec:
    """A way to encode, and the rates it can have. `create` takes the format and the engine's rate."""

    rates: tuple[int, ...]
    default_rate: int
    media_type: str
    create: Callable[[AudioFormat, int], Encoder]
    bit_rates: range = range(0)
    """What may be asked for. Empty: nothing; the codec has no choice."""


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
    if audio_format.bit_rate is not None and audio_format.bit_rate not in codec.bit_rates:
        raise UnsupportedFormatError(f"{audio_format.codec} can't be had at {audio_format.bit_rate} bits a second.")
    return codec.create(audio_format, source_rate)


def _opus(audio_format: AudioFormat, source_rate: int) -> Encoder:
    assert source_rate == OPUS_RATE, "every engine of ours speaks at the rate we give Opus"
    return OpusEncoder(audio_format.bit_rate)


def _ogg_opus(audio_format: AudioFormat, source_rate: int) -> Encoder:
    assert source_rate == OPUS_RATE, "as above"
    return OggOpusEncoder(audio_format.bit_rate)


CODECS: Mapping[str, Codec] = MappingProxyType(
    {
        "opus": Codec((OPUS_RATE,), OPUS_RATE, "audio/opus", _opus, _BIT_RATES),
        "ogg_opus": Codec((OPUS_RATE,), OPUS_RATE, "audio/ogg", _ogg_opus, _BIT_RATES),
        "pcm_s16le": Codec(_RATES, 24_000, "audio/pcm", PcmEncoder),
        "pcm_f32le": Codec(_RATES, 24_000, "audio/pcm", PcmEncoder),
        "pcm_mulaw": Codec(_RATES, _TELEPHONE_RATE, "audio/PCMU", PcmEncoder),
        "pcm_alaw": Codec(_RATES, _TELEPHONE_RATE, "audio/PCMA", PcmEncoder),
        "wav": Codec(_RATES, 24_000, "audio/wav", WavEncoder),
        "flac": Codec(_RATES, 24_000, "audio/flac", LibavEncoder),
        "mp3": Codec(_RATES, 24_000, "audio/mpeg", LibavEncoder, _BIT_RATES),
        "aac": Codec(_RATES, 24_000, "audio/aac", LibavEncoder, _BIT_RATES),
    }
)
