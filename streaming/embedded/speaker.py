"""What turns text into samples, piece by piece."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import onnxruntime

from streaming.engine import SpeechParams
from streaming.silence import Samples


class Speech(Protocol):
    """One piece while it is spoken. It owns what the model needs to go on."""

    @property
    def done(self) -> bool:
        """Whether every sample was given."""

    def advance(self, options: onnxruntime.RunOptions) -> Samples:
        """The next samples, if any, by one bounded call. A call that is terminated can be made again."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Phonemes that are spoken as one utterance."""

    phonemes: str
    begin: Callable[[SpeechParams], Speech]


class Speaker(Protocol):
    """One voice."""

    def pieces(self, text: str, language: str) -> list[Piece]:
        """The text as pieces; digits without a neighbour are read in `language`. Reproducible."""
