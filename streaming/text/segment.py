"""Deltas in, segments out."""

import re
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


_SENTENCE = re.compile(r"""[.!?。！？…]+["'”’)\]]*(?=\s)|\n""")
_CLAUSE = re.compile(r"[,;:](?=\s)")


class Segmenter:
    def __init__(self) -> None:
        self._buffer = ""
        self._start = 0
        self._first = True

    @property
    def waiting(self) -> bool:
        return bool(self._buffer.strip())

    def push(self, delta: str) -> list[Segment]:
        self._buffer += delta
        segments = []
        while (end := self._boundary()) is not None:
            segments += self._cut(end)
        return segments

    def settle(self) -> list[Segment]:
        return self.flush() if re.search(r"[.!?。！？…,;:]$", self._buffer) else []

    def flush(self) -> list[Segment]:
        return self._cut(len(self._buffer))

    def _boundary(self) -> int | None:
        found = _SENTENCE.search(self._buffer)
        if self._first and (clause := _CLAUSE.search(self._buffer)) and clause.end() > 8:
            found = clause if found is None or clause.end() < found.end() else found
        return found.end() if found else None

    def _cut(self, end: int) -> list[Segment]:
        piece, self._buffer = self._buffer[:end], self._buffer[end:]
        start, self._start = self._start, self._start + end
        text = piece.strip()
        if not re.search(r"\w", text):
            return []
        self._first = False
        start += piece.index(text)
        return [Segment(text, start, start + len(text), 0.18 if text[-1] in ",;:" else 0.45)]
