"""How a ChatTTS engine is built."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from streaming.chattts.calibration import Calibration
from streaming.chattts.cpu_model import Precision
from streaming.chattts.runner import PIECE
from streaming.chattts.vocoder import EXACT

AUTO = "auto"
VOCODER_TYPES: Mapping[str, torch.dtype] = {"fp32": torch.float32, "bf16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class Options:
    """How to build the engine. Raises ValueError with a sentence for a value that makes no sense."""

    weights: str
    """A directory with the released files, `random:SEED` or `random-tiny:SEED`."""
    device: str = "cpu"
    """`cpu`, `cuda` or `cuda:N`."""
    precision: str = "int8"
    """`int8`, `bf16` or `fp32`; a card has no int8."""
    slots: int = 8
    """Requests held and advanced at once."""
    length: int = 1024
    """Tokens a request can have, prompt included: 1024 are about 20 s of speech and 63 MB a slot in int8."""
    voices: str = ""
    """A directory of speaker files, NAME.txt each."""
    graphs: bool = False
    """Replay steps as CUDA graphs."""
    lookahead: str = "auto"
    """Tokens that the first samples look ahead, 1 to 52, of which `exact` is 52; `auto`: what `calibrate` found."""
    vocoder: str = "fp32"
    """`fp32` or `bf16`, for the vocoder's large products."""

    def __post_init__(self) -> None:
        """Check."""
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
