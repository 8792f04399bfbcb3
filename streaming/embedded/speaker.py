"""What turns phonemes into samples."""

from dataclasses import dataclass
from typing import Protocol

import onnxruntime

from streaming.embedded.silence import Samples
from streaming.engine import SpeechParams


class Speaker(Protocol):
    """One voice of one model."""

    def pieces(self, text: str) -> list[str]:
        """The phonemes of a text, in the pieces that are spoken one call each."""

    def speak(self, phonemes: str, params: SpeechParams, options: onnxruntime.RunOptions) -> Samples:
        """The samples of one piece, as the model gives them. The same call gives the same samples."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One call: who speaks what, and the silence after it."""

    speaker: Speaker
    phonemes: str
    gap_s: float
