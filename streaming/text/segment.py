"""Deltas in, segments out."""

import re
from dataclasses import dataclass
from enum import Enum, auto

from streaming.text.sentence import ends_sentence, may_end_text


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text to be spoken in one generation.

    `start` and `end` are offsets in code points into everything pushed since the segmenter was made;
    `text` is that stretch, and `pause_s` the silence that its ending asks for.
    """

    text: str
    start: int
    end: int
    pause_s: float


@dataclass(frozen=True, slots=True)
class SegmentLimits:
    """How long segments are, in letters and marks; a Chinese character counts as three, for it takes as long to say."""

    first_min: int = 8
    """A first clause shorter than this is not spoken alone: what follows would come after an odd pause."""
    clause_from: int = 160
    """A sentence longer than this is cut at its next clause."""
    longest: int = 300
    """Without any mark at all, a cut is made at a space before this."""


class _Mark(Enum):
    """What may end at a place in the text."""

    NONE = auto()
    CLAUSE = auto()
    SENTENCE = auto()
    LINE = auto()
    UNKNOWN = auto()
    """It depends on text that is not there yet."""


_HAN = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff]")
_HAN_WEIGHT = 3

_STOPS = ".!?…。！？"
_WIDE_STOPS = "。！？"
_CLAUSES = ",;:，、；：—–"
_WIDE_CLAUSES = "，、；："
_CLOSERS = "\"'”’」』）)]》*_"
_MARKS = re.compile(rf"[{re.escape(_STOPS + _CLAUSES)}\n]")
_RUN = re.compile(rf"[{re.escape(_STOPS)}]{{1,16}}[{re.escape(_CLOSERS + _STOPS)}]{{0,16}}")
_NEXT_WORD = re.compile(r"\s+(\S+)\s")
_AHEAD = 24
"""How many characters a judgement may look ahead."""

_LIST_NUMBER = re.compile(r"\s*\(?(?:\d{1,3}|[A-Za-z])\.")
_SPEAKABLE = re.compile(r"[^\W_]")
_ADDRESS = re.compile(r"://|www\.|@|^[./~]")

_PAUSES_S = {",": 0.18, "，": 0.18, "、": 0.15, ";": 0.28, "；": 0.28, ":": 0.28, "：": 0.28, "—": 0.28, "–": 0.28}
_SENTENCE_PAUSE_S = 0.45
_LINE_PAUSE_S = 0.6
_NO_MARK_PAUSE_S = 0.12


class Segmenter:
    """Cuts a growing text. The cuts depend on the text alone, never on how it was delivered.

    The first segment is a clause, so that speech begins early; later ones are sentences.
    """

    def __init__(self, limits: SegmentLimits = SegmentLimits()) -> None:
        self._limits = limits
        self._text = ""
        self._origin = 0
        self._begin = 0
        self._scan = 0
        self._measured = 0
        self._weight = 0
        self._counted = 0
        self._letters = 0
        self._first = True

    @property
    def waiting(self) -> bool:
        """Text is held back that was not spoken yet."""
        return _SPEAKABLE.search(self._text, self._begin) is not None

    def push(self, delta: str) -> list[Segment]:
        """Append text, whole code points; get the segments that nothing that follows can change."""
        self._text += delta
        segments = self._scanned()
        self._origin += self._begin
        self._scan -= self._begin
        self._measured -= self._begin
        self._counted -= self._begin
        self._text, self._begin = self._text[self._begin :], 0
        return segments

    def settle(self) -> list[Segment]:
        """Text has stopped coming: speak what is complete as it stands, and no half clause."""
        tail = self._text.rstrip()
        if not self.waiting or not self._complete(tail):
            return []
        return self._drained()

    def flush(self) -> list[Segment]:
        """Speak all there is."""
        return self._scanned() + self._drained()

    # Scanning.

    def _scanned(self) -> list[Segment]:
        segments: list[Segment] = []
        while True:
            limit = self._limit()
            found = _MARKS.search(self._text, self._scan, limit)
            if found is None:
                if limit == len(self._text):
                    self._scan = limit
                    return segments
                self._cut(self._forced(limit), segments)
                continue
            mark, end = self._judged(found.start())
            if mark is _Mark.UNKNOWN:
                self._scan = found.start()
                return segments
            self._scan = end
            if self._wanted(mark, end):
                self._cut(end, segments)

    def _limit(self) -> int:
        """How far the text may be scanned: to its end, or to where it gets too long for one segment."""
        longest = self._limits.longest
        while self._measured < len(self._text) and self._weight <= longest:
            self._weight += _weight(self._text[self._measured])
            self._measured += 1
        return self._measured - 1 if self._weight > longest else len(self._text)

    def _wanted(self, mark: _Mark, end: int) -> bool:
        if mark in (_Mark.SENTENCE, _Mark.LINE):
            return True
        if mark is _Mark.NONE:
            return False
        return self._length(end) >= (self._limits.first_min if self._first else self._limits.clause_from)

    def _length(self, end: int) -> int:
        """Letters from the segment's begin to `end`, spaces left out; counted on from the last call."""
        for at in range(self._counted, end):
            if not self._text[at].isspace():
                self._letters += _weight(self._text[at])
        self._counted = max(self._counted, end)
        return self._letters

    def _forced(self, limit: int) -> int:
        """The best place to cut before `limit`: a clause, a space, or where no word or number is cut in two."""
        piece = self._text[self._begin : limit]
        for pattern in (_LAST_CLAUSE, _LAST_SPACE, _LAST_GAP):
            found = pattern.match(piece)
            if found and _SPEAKABLE.search(piece, 0, found.end()):
                return self._begin + found.end()
        return limit

    # Judging marks.

    def _judged(self, at: int) -> tuple[_Mark, int]:
        """What ends at the mark at `at`, and where the text after it begins."""
        character = self._text[at]
        if character == "\n":
            return _Mark.LINE, at + 1
        if character in _CLAUSES:
            return self._judged_clause(at)
        run = _RUN.match(self._text, at)
        assert run is not None
        if run.end() == len(self._text):
            return _Mark.UNKNOWN, at
        return self._judged_stop(at, run.end()), run.end()

    def _judged_clause(self, at: int) -> tuple[_Mark, int]:
        end = at + 1
        if end == len(self._text):
            return _Mark.UNKNOWN, at
        before, after = self._text[at - 1 : at] if at else "", self._text[end]
        if before.isdigit() and after.isdigit():
            return _Mark.NONE, end
        character = self._text[at]
        if character in _WIDE_CLAUSES or after.isspace():
            return _Mark.CLAUSE, end
        if character == "—" or _is_han(before) or _is_han(after):
            return _Mark.CLAUSE, end
        return _Mark.NONE, end

    def _judged_stop(self, at: int, end: int) -> _Mark:
        run, after = self._text[at:end], self._text[end]
        if any(character in _WIDE_STOPS for character in run) or _is_han(after):
            return _Mark.NONE if after.isdigit() and run == "." else _Mark.SENTENCE
        if not after.isspace():
            return self._judged_glued(at, end)
        if run[0] in "!?":
            return self._judged_loud(end)
        return self._judged_full_stop(at, end)

    def _judged_glued(self, at: int, end: int) -> _Mark:
        """A stop with no space behind it: `one.Part two`, but not `example.com`, `3.14` or `?q=1`."""
        before, after = self._text[at - 1 : at] if at else "", self._text[end]
        if end - at == 1 and self._text[at] == "." and not (before.islower() and after.isupper()):
            return _Mark.NONE
        if not after.isalpha():
            return _Mark.NONE
        word = re.split(r"\s", self._text[self._begin : at])[-1]
        return _Mark.NONE if _ADDRESS.search(word) or not word else _Mark.SENTENCE

    def _judged_loud(self, end: int) -> _Mark:
        """After ! or ? in quotes a small letter goes on with the sentence: `"Really?" he said.`"""
        if self._text[end - 1] not in _CLOSERS:
            return _Mark.SENTENCE
        following = self._next_character(end)
        if following is None:
            return _Mark.UNKNOWN
        return _Mark.NONE if following.islower() else _Mark.SENTENCE

    def _judged_full_stop(self, at: int, end: int) -> _Mark:
        if self._text[at:end].startswith(("..", "…")):
            return self._judged_ellipsis(end)
        if _LIST_NUMBER.fullmatch(self._text, self._begin, end):
            return _Mark.NONE
        if self._text[end] == "\n":
            return _Mark.SENTENCE
        word = self._last_word(end)
        answer = ends_sentence(word, None)
        if answer is None:
            following = self._next_word(end)
            if following is None:
                return _Mark.UNKNOWN
            answer = ends_sentence(word, following)
        return _Mark.SENTENCE if answer else _Mark.NONE

    def _next_word(self, end: int) -> str | None:
        """The word after the space at `end`, or None while it could still grow."""
        found = _NEXT_WORD.match(self._text, end, end + _AHEAD + 1)
        if found:
            return found.group(1)
        return self._text[end : end + _AHEAD].strip() or "Then" if len(self._text) - end > _AHEAD else None

    def _next_character(self, end: int) -> str | None:
        """What follows the spaces at `end`, or None while nothing does."""
        following = self._text[end : end + _AHEAD].lstrip(" \t")
        return following[0] if following else "\n" if len(self._text) - end > _AHEAD else None

    def _judged_ellipsis(self, end: int) -> _Mark:
        following = self._next_character(end)
        if following is None:
            return _Mark.UNKNOWN
        return _Mark.CLAUSE if following.islower() else _Mark.SENTENCE

    def _last_word(self, end: int) -> str:
        return self._text[max(self._begin, end - _AHEAD) : end].split()[-1]

    def _complete(self, tail: str) -> bool:
        """Does the held-back text end where a sentence or a wanted clause does?"""
        bare = tail.rstrip(_CLOSERS)
        if not bare or bare[-1] not in _STOPS:
            return bool(bare) and bare[-1] in _CLAUSES and self._wanted(_Mark.CLAUSE, len(tail))
        if _LIST_NUMBER.fullmatch(tail, self._begin):
            return False
        return bare[-1] != "." or may_end_text(self._last_word(len(tail)))

    # Cutting.

    def _cut(self, end: int, segments: list[Segment]) -> None:
        """Everything up to `end` is one segment, if anything in it can be spoken."""
        begin, self._begin = self._begin, end
        self._scan = max(self._scan, end)
        self._measured, self._weight = end, 0
        self._counted, self._letters = end, 0
        piece = self._text[begin:end]
        text = piece.strip()
        if not _SPEAKABLE.search(text):
            return
        self._first = False
        start = self._origin + begin + piece.index(text)
        segments.append(Segment(text, start, start + len(text), _pause_s(piece)))

    def _drained(self) -> list[Segment]:
        segments: list[Segment] = []
        while (limit := self._limit()) < len(self._text):
            self._cut(self._forced(limit), segments)
        self._cut(len(self._text), segments)
        return segments


_LAST_CLAUSE = re.compile(r".*[,;:，、；：—–](?=\D)", re.DOTALL)
_LAST_SPACE = re.compile(r".*\s", re.DOTALL)
_LAST_GAP = re.compile(r".*(?:[\u2e80-\u9fff\uf900-\ufaff](?=.)|[^\W\d](?=[\u2e80-\u9fff\uf900-\ufaff]))", re.DOTALL)
"""The end of the last Chinese character, or of the word before it."""


def _is_han(character: str) -> bool:
    return _HAN.match(character) is not None


def _weight(character: str) -> int:
    return _HAN_WEIGHT if "\u2e80" <= character <= "\ufaff" else 1


def _pause_s(piece: str) -> float:
    """By the mark that the piece ends with."""
    if piece.endswith("\n"):
        return _LINE_PAUSE_S
    last = piece.rstrip().rstrip(_CLOSERS)[-1:]
    if last and last in _STOPS:
        return _SENTENCE_PAUSE_S
    return _PAUSES_S.get(last, _NO_MARK_PAUSE_S)
