"""Which text each stretch of a context's audio says, for wire formats that tell it with the audio itself.

All times are estimates: a segment's words share out its length (`server.timing`), and while its length is not known,
a length at an ordinary reading speed. Once it is known, what has not been told yet is told by it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from server.events import Audio, SegmentStarted, SegmentTimed, WordTime
from server.timing import SpokenSegment, estimated_s, word_times
from streaming.text.surrogates import SurrogateJoiner


@dataclass(frozen=True, slots=True)
class Piece:
    """A character or a word, and where its audio is, in samples from the start of the context."""

    text: str
    first_sample: int
    samples: int


Split = Callable[[str, int, Sequence[WordTime]], list[Piece]]
"""Cuts the words of a segment to pieces: (text of the context up to the segment's end, where it begins, words)."""


def words(_text: str, _start: int, times: Sequence[WordTime]) -> list[Piece]:
    """Each word, exactly as it was sent."""
    return [Piece(word.text, word.first_sample, word.samples) for word in times]


def characters(text: str, start: int, times: Sequence[WordTime]) -> list[Piece]:
    """Every character. What stands behind a word shares its time; what stands before the first has none."""
    if not times:
        return [Piece(c, 0, 0) for c in text[start:]]
    pieces = [Piece(c, times[0].first_sample, 0) for c in text[start : times[0].start]]
    ends = [word.start for word in times[1:]] + [len(text)]
    for word, end in zip(times, ends, strict=True):
        shared = text[word.start : end]
        for n, c in enumerate(shared):
            begin, stop = (word.samples * i // len(shared) for i in (n, n + 1))
            pieces.append(Piece(c, word.first_sample + begin, stop - begin))
    return pieces


class Alignment:
    """One context's. Told its text and its events in order; gives each piece once, in order, with its audio."""

    def __init__(self, split: Split, sample_rate: int, speed: float = 1.0) -> None:
        self._split = split
        self._rate = sample_rate
        self._speed = speed
        self._joiner = SurrogateJoiner()
        self._text = ""
        self._start = 0
        self._segment: SegmentStarted | None = None
        self._told = 0
        """Pieces of the segment that were given."""
        self._due: list[Piece] = []
        """Pieces of the segment that were not."""
        self._latest = 0
        """Where the last piece was said to begin."""

    def add(self, delta: str) -> None:
        """Text was appended to the context."""
        self._text += self._joiner.push(delta)

    def started(self, event: SegmentStarted) -> None:
        """A segment begins. What was left of the one before is told with its first audio."""
        late = [Piece(piece.text, event.first_sample, 0) for piece in self._due]
        if self._segment is not None:
            self._start = self._segment.end
        self._segment = event
        samples = round(estimated_s(self._text[event.start : event.end]) / self._speed * self._rate)
        spoken = SpokenSegment(self._text[event.start : event.end], event.start, event.first_sample, samples)
        self._told = -len(late)
        self._due = late + self._pieces(word_times(spoken))

    def timed(self, event: SegmentTimed) -> None:
        """The segment's length is known."""
        late = self._due[: max(0, -self._told)]
        self._due = late + self._pieces(event.words)[max(0, self._told) :]

    def take(self, audio: Audio) -> list[Piece]:
        """What begins in this audio; with the last of it, everything that is left."""
        end = audio.first_sample + audio.samples
        if audio.last:
            self._due += self._split(self._text, self._segment.end if self._segment else 0, ())
        later = (n for n, piece in enumerate(self._due) if piece.first_sample >= end and not audio.last)
        count = next(later, len(self._due))
        taken, self._due = self._due[:count], self._due[count:]
        self._told += count
        return [self._in_order(piece) for piece in taken]

    def _in_order(self, piece: Piece) -> Piece:
        """What was told by an estimate can't be taken back: nothing begins before it."""
        begin = max(self._latest, piece.first_sample)
        self._latest = begin
        return Piece(piece.text, begin, max(0, piece.first_sample + piece.samples - begin))

    def _pieces(self, times: Sequence[WordTime]) -> list[Piece]:
        assert self._segment is not None
        return self._split(self._text[: self._segment.end], self._start, times)
