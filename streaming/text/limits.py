"""How long segments are best. An engine says so, and needs nothing else of the text front end for it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SegmentLimits:
    """How long segments are, in characters. `cjk_*` count Han, kana and Hangul, which take longer to speak.

    Mixed text adds up: half of one limit and half of the other fill a segment.
    """

    first_min: int = 10
    first_max: int = 72
    min: int = 16
    clause: int = 120
    """From here on a later segment ends at the next clause, too."""
    max: int = 240
    cjk_first_min: int = 4
    cjk_first_max: int = 8
    cjk_min: int = 5
    cjk_clause: int = 24
    cjk_max: int = 48

    def __post_init__(self) -> None:
        if not 0 < self.first_min <= self.first_max or not 0 < self.min <= self.clause <= self.max:
            raise ValueError("segment limits must rise: first_min, first_max and min, clause, max")
        if not 0 < self.cjk_first_min <= self.cjk_first_max or not 0 < self.cjk_min <= self.cjk_clause <= self.cjk_max:
            raise ValueError("segment limits must rise: cjk_first_min, cjk_first_max and cjk_min, cjk_clause, cjk_max")
