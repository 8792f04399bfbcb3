"""How texts are read aloud, written down from how people say them and before our rules were run on them.

`readings.tsv` holds them. Used by the tests and by `tests.bench.text`, which judges other normalisers by them too.
"""

import re
from dataclasses import dataclass
from pathlib import Path

_UNIT = re.compile(r"[\u3400-\u9fff]|[a-z']+")


@dataclass(frozen=True, slots=True)
class Reading:
    """What may be said for `text`."""

    kind: str
    text: str
    accepted: tuple[str, ...]

    def allows(self, said: str) -> bool:
        """Does `said` have the words of one of the readings: case, marks and hyphens don't count."""
        return units(said) in [units(one) for one in self.accepted]


def units(text: str) -> list[str]:
    """Lower-case Latin words and single Han characters; 幺 is a way to say 一."""
    return [unit.strip("'") for unit in _UNIT.findall(text.lower().replace("幺", "一")) if unit.strip("'")]


def _read(path: Path) -> tuple[Reading, ...]:
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return tuple(Reading(kind, text, tuple(accepted.split(" | "))) for kind, text, accepted in rows)


READINGS = _read(Path(__file__).with_suffix(".tsv"))
