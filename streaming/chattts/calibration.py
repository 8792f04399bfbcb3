"""What was measured on one set of weights, kept beside them."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

_FILE = "calibration.json"


@dataclass(frozen=True, slots=True)
class Calibration:
    """How to speak with these weights. The defaults were measured on random ones."""

    lookahead: int = 12
    """Tokens of look-ahead that leave the first samples at most -50 dB wrong."""

    @classmethod
    def of(cls, weights: str) -> Self:
        """That of a folder, if it was calibrated. Raises ValueError for a file that is not one."""
        path = Path(weights) / _FILE
        if not path.is_file():
            return cls()
        try:
            return cls(lookahead=int(json.loads(path.read_text("utf-8"))["lookahead"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} is damaged: write it again with `python -m streaming calibrate`") from error

    def write(self, folder: Path) -> Path:
        """Beside the weights."""
        path = folder / _FILE
        path.write_text(json.dumps(asdict(self)) + "\n", "utf-8")
        return path
