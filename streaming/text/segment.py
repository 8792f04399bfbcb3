"""Deltas in, segments out.

A segment is cut at the first place where it is long enough and the text allows it: the first one at a clause,
so that speech starts early, later ones at a sentence. Whether a mark is such a place depends on a bounded window
around it, so that any split of the same text into deltas gives the same segments.
"""

import re
from dataclasses import dataclass

from streaming.text.alphabet import Skip
from streaming.text.boundary import CLAUSE_MARKS, WINDOW, Mark, Verdict, judge
from streaming.text.chars import CLOSERS, NEWLINES, OPENERS, SENTENCE_STOPS, is_digit, is_han, is_speakable
from streaming.text.limits import SegmentLimits
from streaming.text.mapped import Link
from streaming.text.words import word_cut

_BLOCK = 1024
"""Characters scanned at a time: the buffer stays short, so a long delta costs no more than many short ones."""
_LEADING = 8
"""Characters kept before the first speakable one: opening quotes, signs, currency."""
_SIGNS = frozenset("-+−±#@&~*_/\\<>=|`^%√∛∑∏∫∂∞¬∀∃≈≠≤≥")
_FORCED = (1.0, 1.5, 4.0)
"""How full a segment is when it is cut between words, at any space, anywhere."""

_CLAUSE_PAUSE_S = {",": 0.18, "，": 0.18, "、": 0.14, "…": 0.3}
_WEAK_PAUSE_S = 0.25
_SENTENCE_PAUSE_S = 0.45
_LINE_PAUSE_S = 0.6
_NO_PAUSE_S = 0.12
MOST_PAUSE_S = 10.0
"""The longest silence that text may ask for, however often it asks."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text to be spoken in one generation.

    `start` and `end` are offsets in code points into everything pushed since the segmenter was made;
    `text` is that stretch, cleaned, and `pause_s` the silence that its ending asks for. The rest is the work of
    `TextFront`: without it, `text` is what is spoken.
    """

    text: str
    start: int
    end: int
    pause_s: float
    spoken: str = ""
    """What the engine is given. Empty with something `skipped`: the engine can read none of it."""
    mapping: tuple[Link, ...] = ()
    """Which part of `spoken` says which part of the source, in order of `spoken`."""
    skipped: tuple[Skip, ...] = ()
    """Source text that is left out although someone may miss it."""
    language: str = ""
    """`en` or `zh`: how numbers and signs were read."""
    lead_s: float = 0.0
    """The silence before it that was asked for and that the segment before it did not give."""


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Limits of one segment as (characters, Han characters) pairs."""

    sentence: tuple[int, int]
    clause: tuple[int, int]
    least: tuple[int, int]
    most: tuple[int, int]
    context: int
    """Characters seen beyond a forced cut: a mark there is a better place, and the last word is whole."""


def _first_sizes(limits: SegmentLimits) -> _Sizes:
    clause = (limits.first_min, limits.cjk_first_min)
    # A first sentence may be half as long as a first clause: its pause is a natural one.
    sentence = ((clause[0] + 1) // 2, (clause[1] + 1) // 2)
    return _Sizes(sentence, clause, clause, (limits.first_max, limits.cjk_first_max), context=2)


def _later_sizes(limits: SegmentLimits) -> _Sizes:
    least = (limits.min, limits.cjk_min)
    clause = (limits.clause, limits.cjk_clause)
    return _Sizes(least, clause, least, (limits.max, limits.cjk_max), context=12)


@dataclass(slots=True)
class _Scan:
    """What is known about the beginning of the buffer. Positions count from the start of the segment."""

    at: int = 0
    plain: int = 0
    han: int = 0
    speakable: bool = False
    line: int = 0
    """Where the judged text begins: the start of the segment or of its last sentence."""
    sentence_end: int = 0
    """The last sentence that was too short to stand alone."""
    clause_end: int = 0
    least_at: int = 0
    """Where the segment became long enough to be cut anywhere."""
    forced: int = 0
    """How many of the `_FORCED` fillings were tried."""

    def fill(self, size: tuple[int, int]) -> float:
        return self.plain / size[0] + self.han / size[1]


class Segmenter:
    """Cuts text that comes in deltas into segments. Owned by one context."""

    def __init__(self, limits: SegmentLimits | None = None) -> None:
        limits = limits or SegmentLimits()
        self._later = _later_sizes(limits)
        self._sizes = _first_sizes(limits)
        self._buffer = ""
        self._offset = 0
        self._scan = _Scan()
        self._asked: dict[int, float] = {}
        self._owed_s = 0.0
        self._given_s = 0.0

    @property
    def waiting(self) -> bool:
        """Is there text that would be spoken if nothing followed."""
        return self._scan.speakable or any(map(is_speakable, self._buffer[self._scan.at :]))

    @property
    def consumed(self) -> int:
        """The offset before which nothing is held back."""
        return self._offset

    @property
    def owed_s(self) -> float:
        """Silence that was asked for and that no segment has given yet."""
        return max(0.0, self._owed_s - self._given_s)

    def ask_pause(self, at: int, pause_s: float) -> None:
        """The newline that comes at this offset asks for a silence of `pause_s`."""
        self._asked[at] = pause_s

    def push(self, delta: str) -> list[Segment]:
        """Take in more text; return the segments that became certain."""
        segments: list[Segment] = []
        for at in range(0, len(delta), _BLOCK):
            self._buffer += delta[at : at + _BLOCK]
            segments += self._drain(final=False)
        return segments

    def settle(self) -> list[Segment]:
        """Text has stopped coming: return what ends at a sentence or a clause, as if nothing followed."""
        segments = self._drain(final=True)
        while cut := self._settled_cut():
            segments += self._cut(cut) + self._drain(final=True)
        # What was judged as the end of the text is judged again when more comes.
        self._scan = _Scan()
        return segments

    def flush(self) -> list[Segment]:
        """Return everything that is left."""
        segments = self._drain(final=True)
        return segments + self._cut(len(self._buffer)) if self._buffer else segments

    def _drain(self, *, final: bool) -> list[Segment]:
        segments: list[Segment] = []
        while cut := self._next_cut(final=final):
            segments += self._cut(cut)
        return segments

    def _next_cut(self, *, final: bool) -> int:
        """Scan on until a cut is certain; 0 when the buffer is used up or the next mark is unsure."""
        scan = self._scan
        while scan.at < len(self._buffer):
            char = self._buffer[scan.at]
            if char in NEWLINES or self._is_idle(char):
                return scan.at + 1
            verdict = self._judge(char, final=final)
            if verdict.mark is Mark.UNSURE or (self._is_overfull() and not self._sees_on(final=final)):
                return 0
            if cut := self._cut_before():
                return cut
            self._count(verdict.length if char in _MARKS else self._run())
            if cut := self._cut_after(verdict.mark):
                return cut
        return 0

    def _is_idle(self, char: str) -> bool:
        """Is this a blank or the end of a long run of marks, with nothing to say before it."""
        scan = self._scan
        return not scan.speakable and (char.isspace() or scan.at >= WINDOW) and not is_speakable(char)

    def _judge(self, char: str, *, final: bool) -> Verdict:
        if char not in SENTENCE_STOPS and char not in CLAUSE_MARKS:
            return Verdict(Mark.NOTHING, 1)
        at = self._scan.at
        line = max(self._scan.line, at - WINDOW)
        ahead = self._buffer[at : at + WINDOW]
        return judge(self._buffer[line:at], ahead, line_start=line == self._scan.line, final=final)

    def _run(self) -> int:
        """How many characters from here on are no marks and can't fill the segment: they are counted at once."""
        scan, sizes = self._scan, self._sizes
        run = _PLAIN_RUN.match(self._buffer, scan.at) if scan.speakable else None
        if run is None:
            return 1
        rooms = [run.end() - scan.at]
        if not scan.least_at:
            rooms.append(int((1 - scan.fill(sizes.least)) * sizes.least[0]))
        if scan.forced < len(_FORCED):
            rooms.append(int((_FORCED[scan.forced] - scan.fill(sizes.most)) * sizes.most[0]))
        return max(1, min(rooms))

    def _count(self, length: int) -> None:
        scan = self._scan
        counted = self._buffer[scan.at : scan.at + length]
        han = 0 if counted.isascii() else sum(map(is_han, counted))
        scan.han += han
        scan.plain += length - han
        scan.speakable = scan.speakable or any(map(is_speakable, counted))
        scan.at += length
        if not scan.least_at and scan.fill(self._sizes.least) >= 1:
            scan.least_at = scan.at

    def _cut_after(self, mark: Mark) -> int:
        """The cut that the mark just counted asks for, 0 if none."""
        scan, sizes = self._scan, self._sizes
        if mark is Mark.NOTHING or not scan.speakable:
            return 0
        if scan.fill(sizes.sentence if mark is Mark.SENTENCE else sizes.clause) >= 1:
            return scan.at
        if mark is Mark.SENTENCE:
            scan.sentence_end = scan.line = scan.at
        else:
            scan.clause_end = scan.at
        return 0

    def _is_overfull(self) -> bool:
        scan = self._scan
        return scan.forced < len(_FORCED) and scan.fill(self._sizes.most) >= _FORCED[scan.forced]

    def _sees_on(self, *, final: bool) -> bool:
        return final or len(self._buffer) >= self._scan.at + self._sizes.context

    def _cut_before(self) -> int:
        """The cut of a segment that is too long, unless a mark is near: then that one decides."""
        if not self._is_overfull():
            return 0
        scan = self._scan
        near = self._buffer[scan.at : scan.at + self._sizes.context]
        if scan.fill(self._sizes.most) < _FORCED[scan.forced] * 1.2 + 0.1 and not _MARKS.isdisjoint(near):
            return 0
        scan.forced += 1
        return self._forced_cut(near)

    def _forced_cut(self, near: str) -> int:
        scan = self._scan
        if scan.forced == len(_FORCED):
            return scan.at
        if mark := self._settled_cut():
            return mark
        text = self._buffer[: scan.at]
        if scan.forced > 1:
            return text.rfind(" ") + 1
        return word_cut(text + near, scan.least_at, scan.at)

    def _settled_cut(self) -> int:
        """The last mark seen that is good enough when no better one comes, 0 if none."""
        scan = self._scan
        clause = scan.clause_end if scan.clause_end >= scan.least_at > 0 else 0
        return max(scan.sentence_end, clause)

    def _cut(self, length: int) -> list[Segment]:
        """Take `length` characters off the buffer: a segment, or nothing if they say nothing."""
        raw, start = self._buffer[:length], self._offset
        self._buffer = self._buffer[length:]
        self._offset += length
        self._scan = _Scan()
        asked_s = self._asked.pop(self._offset - 1, None)
        first = next((at for at, char in enumerate(raw) if is_speakable(char)), None)
        if first is None:
            self._owed_s = min(self._owed_s + (asked_s or 0.0), MOST_PAUSE_S)
            return []
        self._sizes = self._later
        first, last = _lead(raw, first), len(raw.rstrip())
        lead_s, pause_s = self.owed_s, _pause_s(raw) if asked_s is None else asked_s
        self._owed_s, self._given_s = 0.0, 0.0 if asked_s is not None else pause_s
        return [Segment(raw[first:last], start + first, start + last, pause_s, lead_s=lead_s)]


_MARKS = NEWLINES | SENTENCE_STOPS | CLAUSE_MARKS
_PLAIN_RUN = re.compile(rf"[^{re.escape(''.join(sorted(_MARKS)))}\u2e80-\U0010ffff]+")


def _lead(raw: str, first: int) -> int:
    """Where the text begins whose first speakable character is at `first`."""
    at = first
    while at > 0 and first - at < _LEADING and _leads(raw[at - 1], raw[at]):
        at -= 1
    return at


def _leads(char: str, following: str) -> bool:
    return char in OPENERS or char in _SIGNS or (char == "." and is_digit(following))


def _pause_s(raw: str) -> float:
    """The silence that the end of `raw` asks for, in seconds."""
    if raw[-1] in NEWLINES:
        return _LINE_PAUSE_S
    marks = raw.rstrip().rstrip("".join(CLOSERS))
    last = marks[-1:]
    if marks.endswith(("...", "…")):
        return _CLAUSE_PAUSE_S["…"]
    if last in SENTENCE_STOPS:
        return _SENTENCE_PAUSE_S
    if last in CLAUSE_MARKS:
        return _CLAUSE_PAUSE_S.get(last, _WEAK_PAUSE_S)
    return _NO_PAUSE_S
