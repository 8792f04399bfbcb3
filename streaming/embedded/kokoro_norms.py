"""What the generator averages over an utterance, forecast before anything of it is decoded.

The averages differ from voice to voice. Within a voice they follow how much of the utterance is silent and how loud it
is planned to be: a plane over those two foretells means to 2 % of a deviation and variances to 4 %.
`data/kokoro_norms.npz` holds the planes, fitted by `python -m streaming.embedded.kokoro_fit FILE`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from streaming.embedded.kokoro_model import Values

_FILE = Path(__file__).parents[1] / "data" / "kokoro_norms.npz"


@dataclass(frozen=True, slots=True)
class Norms:
    """One voice's planes."""

    planes: Values  # (3, values): at the origin, and both slopes

    def forecast(self, frame_energy: Values, silence: float) -> Values:
        """The averages, `(1, values, 1)`, of an utterance with this planned energy, `(T,)`, and share of silence."""
        return (features(frame_energy, silence) @ self.planes)[None, :, None]


def features(frame_energy: Values, silence: float) -> Values:
    """What the forecast goes by: `(3,)`."""
    return np.array([1, silence, frame_energy.mean()], np.float32)


def load() -> Mapping[str, Norms]:
    """By voice."""
    with np.load(_FILE) as file:
        return {name: Norms(file[name].astype(np.float32)) for name in file.files}
