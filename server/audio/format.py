"""What a client can ask for, and what an encoder gives it."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """A codec, the sample rate the client wants to hear it at, and the bits a second, None: as the codec has it."""

    codec: str
    sample_rate: int
    bit_rate: int | None = None


@dataclass(frozen=True, slots=True)
class Packet:
    """One message of encoded audio.

    `first_sample` and `samples` count in the format's sample rate. They say which stretch of the signal
    went into the packet; what a decoder gives for it comes `Encoder.pre_skip` samples later.
    """

    data: bytes
    first_sample: int
    samples: int


class Encoder(Protocol):
    """PCM of one context to packets. Stateful: one encoder per context, used by one thread at a time."""

    @property
    def format(self) -> AudioFormat:
        """What comes out."""

    @property
    def pre_skip(self) -> int:
        """Samples that a decoder gives before the first real one, at the format's rate."""

    @property
    def frame_samples(self) -> int:
        """Samples of every packet but perhaps the last, at the format's rate."""

    def encode(self, pcm: bytes) -> list[Packet]:
        """Take float32 mono PCM at the engine's rate; give the packets that are complete."""

    def finish(self) -> list[Packet]:
        """Give what is left, padded so that a decoder yields every real sample. Called once, last.

        At least one packet if there were samples: somebody marks the last one.
        """

    @property
    def samples(self) -> int:
        """Real samples of the signal so far, at the format's rate; exact after `finish`."""
