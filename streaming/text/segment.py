"""Deltas in, segments out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text to be spoken in one generation.

    `start` and `end` are offsets in code points into everything pushed since the segmenter was made;
    `text` is that stretch, cleaned, and `pause_s` the silence that its ending asks for.
    """

    text: str
    start: int
    end: int
    pause_s: float
