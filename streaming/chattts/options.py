"""What can be chosen when the ChatTTS engine is built. Knows no torch, so that the server can list it."""

from dataclasses import dataclass, field
from enum import StrEnum

from streaming.chattts.calibration import Calibration
from streaming.chattts.layout import EXACT

PIECE = 64
"""Prompt tokens in one step at most."""


AUTO = "auto"
VOCODER_TYPES = ("fp32", "bf16")


class Precision(StrEnum):
    """What the weights and the cache are kept in. Sums are at least fp32."""

    FP32 = "fp32"
    BF16 = "bf16"
    INT8 = "int8"


@dataclass(frozen=True, slots=True)
class Options:
    """How to build the engine. Raises ValueError with a sentence for a value that makes no sense.

    Each field is a command-line option of the server, with its `about`.
    """

    weights: str = field(
        metadata={
            "about": "ChatTTS's weights: a folder that `python -m streaming pull` filled, or random:SEED for tests."
        }
    )
    precision: str = field(
        default="int8", metadata={"about": "What ChatTTS computes in: int8, bf16 or fp32; a card has no int8."}
    )
    device: str = field(default="cpu", metadata={"about": "Where ChatTTS computes: cpu, cuda or cuda:N."})
    slots: int = field(default=8, metadata={"about": "Segments that ChatTTS speaks at once in each worker."})
    length: int = field(
        default=1024,
        metadata={"about": "Tokens of a segment, prompt included: 1024 are about 20 s, and 63 MB a slot on a CPU."},
    )
    speakers: str = field(default="", metadata={"about": "A folder of ChatTTS speaker files, NAME.txt each."})
    lookahead: str = field(
        default="auto",
        metadata={
            "about": "Tokens that ChatTTS's first sound looks ahead, 1 to 52, or exact for 52: later, exact from the "
            "start. auto: as `python -m streaming calibrate` found for these weights."
        },
    )
    vocoder: str = field(default="fp32", metadata={"about": "What ChatTTS's vocoder computes in: fp32 or bf16."})
    graphs: bool = field(default=False, metadata={"about": "Replay ChatTTS's steps as CUDA graphs."})

    def __post_init__(self) -> None:
        """Check."""
        if not self.weights:
            raise ValueError("there are no weights: fetch them with `python -m streaming pull` and say --weights")
        if self.precision not in list(Precision):
            raise ValueError(f"precision is one of {', '.join(Precision)}, not {self.precision!r}")
        if self.device != "cpu" and not self.device.startswith("cuda"):
            raise ValueError(f"device is cpu, cuda or cuda:N, not {self.device!r}")
        if self.device != "cpu" and self.precision == Precision.INT8:
            raise ValueError("int8 runs on a CPU only; choose --precision bf16 for a card")
        if not 1 <= self.slots <= 256:
            raise ValueError(f"slots must be from 1 to 256, not {self.slots}")
        if self.vocoder not in VOCODER_TYPES:
            raise ValueError(f"vocoder is one of {', '.join(VOCODER_TYPES)}, not {self.vocoder!r}")
        if self.lookahead not in {AUTO, "exact"} and not self.lookahead.isdecimal():
            raise ValueError(f"lookahead is a number of tokens, exact or auto, not {self.lookahead!r}")
        if self.lookahead.isdecimal() and not 1 <= int(self.lookahead) <= EXACT:
            raise ValueError(f"lookahead must be from 1 to {EXACT} tokens, not {self.lookahead}")
        if not 2 * PIECE <= self.length <= 4095:
            raise ValueError(f"length must be from {2 * PIECE} to 4095 tokens, not {self.length}")

    @property
    def first_lookahead(self) -> int:
        """Tokens."""
        if self.lookahead == AUTO:
            return Calibration.of(self.weights).lookahead
        return int(self.lookahead) if self.lookahead.isdecimal() else EXACT
