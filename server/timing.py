"""When each word is heard, estimated: a segment's time is shared out by the length of its words."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from server.events import WordTime

_WORD = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff]|[^\s\u2e80-\u9fff\uf900-\ufaff]+")
"""A run without spaces, or a single Chinese character."""

_HAN_WEIGHT = 3.5
"""A Chinese character is a syllable and lasts about as long as this many Latin letters."""

_WEIGHT_PER_S = 16.0
"""Letters and word ends a second: an ordinary reading speed."""


@dataclass(frozen=True, slots=True)
class SpokenSegment:
    """A segment whose audio has begun. `samples` is the length of its speech, without the pause behind it."""

    text: str
    start: int
    first_sample: int
    samples: int


def word_times(segment: SpokenSegment) -> tuple[WordTime, ...]:
    """The words of a segment, back to back over exactly its samples."""
    words = [(m.group(), m.start()) for m in _WORD.finditer(segment.text)]
    total = sum(_weight(word) for word, _ in words)
    times: list[WordTime] = []
    weight = 0.0
    for word, offset in words:
        begin = round(segment.samples * weight / total)
        weight += _weight(word)
        stop = round(segment.samples * weight / total)
        start = segment.start + offset
        times.append(WordTime(word, start, start + len(word), segment.first_sample + begin, stop - begin))
    return tuple(times)


def spoken_until(segments: Iterable[SpokenSegment], sample: int) -> int:
    """How many code points of the text a listener has heard who has heard `sample` samples. Counts begun words."""
    heard = 0
    for segment in segments:
        for word in word_times(segment):
            if word.first_sample < sample:
                heard = max(heard, word.end)
    return heard


def estimated_s(text: str) -> float:
    """About how many seconds it takes to say, for a segment whose audio is not all there yet."""
    return sum(_weight(m.group()) for m in _WORD.finditer(text)) / _WEIGHT_PER_S


def _weight(word: str) -> float:
    return _HAN_WEIGHT if "\u2e80" <= word[0] <= "\ufaff" else len(word) + 1.0
