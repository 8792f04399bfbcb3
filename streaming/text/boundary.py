"""Where a sentence or a clause may end, decided from a bounded window around the mark.

Every answer depends on at most `WINDOW` characters behind the mark and `WINDOW` after it. When the text that
has arrived is too short to be sure, the answer is `UNSURE`, so that no cut of the text into deltas can change it.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

import sentencex

from streaming.text.chars import CLOSERS, NEWLINES, SENTENCE_STOPS, is_digit, is_han, word_set

WINDOW = 40
CLAUSE_MARKS = frozenset(",;:，、；：—–-―")


class Mark(Enum):
    """What a punctuation mark does to the flow of speech."""

    NOTHING = auto()
    CLAUSE = auto()
    SENTENCE = auto()
    UNSURE = auto()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the mark is, and how many characters from its first one belong to it, closing quotes included."""

    mark: Mark
    length: int


UNSURE = Verdict(Mark.UNSURE, 0)

_TITLES = word_set("mr mrs ms dr prof st mt ft gen sen rep gov capt cpt lt col sgt maj rev hon pres sr jr mx fr")
"""A name follows these, so a capital letter after them proves nothing."""
_NEVER_END = frozenset(["e.g", "i.e", "vs", "cf", "viz", "eg", "ie", "fig", "figs", "vol", "approx", "ca"])
_BEFORE_NUMBER = word_set(
    "p pp c ca fig figs eq ch sec ex art ext vol approx jan feb mar apr jun jul aug sep sept oct nov dec"
)
"""A number after these belongs to them."""
_NOT_PLAIN = _TITLES | _NEVER_END | _BEFORE_NUMBER | {"no"}
_CALENDAR = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october november december est edt cst cdt mst mdt pst pdt gmt utc cet cest bst jst"
)
_STARTERS = word_set("the then he she it we they this that these those i in but and so if when a an there here what")
"""A letter before a stop is an initial unless one of these follows: a name rarely is one of them."""
_DOMAINS = word_set("com org net edu gov io ai dev app co uk de fr cn jp ru info biz")
_LIST_NUMBER = re.compile(r"[(（]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})\Z")
_NEXT_WORD = re.compile(r"[\s]*[\"'“‘«(\[（]*([^\s]*)")


def judge(before: str, ahead: str, *, line_start: bool, final: bool) -> Verdict:
    """Judge the mark that `ahead` begins with.

    `before` is the text of its line or segment up to it, at most `WINDOW` characters, and `line_start` says
    that it is the whole of it; `ahead` is what has arrived from the mark on, at most `WINDOW` characters.
    `final` says that nothing more will come when `ahead` is shorter than that.
    """
    final = final or len(ahead) >= WINDOW
    if ahead[0] in SENTENCE_STOPS:
        return _judge_stop(before, ahead, line_start, final)
    if ahead[0] in CLAUSE_MARKS:
        return _judge_clause(before, ahead, final)
    return Verdict(Mark.NOTHING, 1)


def _judge_stop(before: str, ahead: str, line_start: bool, final: bool) -> Verdict:
    run = _span(ahead, 0, SENTENCE_STOPS)
    close = _span(ahead, run, CLOSERS)
    if close == len(ahead) and not final:
        return UNSURE
    stops, rest = ahead[:run], ahead[close:]
    if stops.strip(".…．") or "。" in stops:
        return _judge_strong(before, stops, rest, close, final)
    if len(stops) > 1 or stops == "…":
        return Verdict(Mark.CLAUSE if _is_gap(rest) else Mark.NOTHING, close)
    return _judge_full_stop(before, rest, run, close, line_start, final)


def _judge_strong(before: str, stops: str, rest: str, close: int, final: bool) -> Verdict:
    """`!`, `?` and the full-width stops: an end, unless inside an address or a name such as `Yahoo!x`."""
    if _is_gap(rest) or stops.strip(".!?…"):
        return Verdict(Mark.SENTENCE, close)
    return _judge_glued(_last_token(before), rest, close, final)


def _judge_full_stop(before: str, rest: str, run: int, close: int, line_start: bool, final: bool) -> Verdict:
    token = _last_token(before)
    if not _is_gap(rest):
        if before[-1:].islower() and rest[0].isupper() and close == run:
            return _judge_glued(token, rest, close, final)
        return Verdict(Mark.NOTHING, run)
    if line_start and before.strip() == token and _LIST_NUMBER.match(token):
        return Verdict(Mark.NOTHING, close)
    if is_han(before[-1:] or " ") or not rest or rest[0] in NEWLINES:
        return _judge_at_end(token, close)
    if close == run and rest[0].isspace() and _is_plain(token):
        return Verdict(Mark.SENTENCE, close)
    return _judge_by_next_word(token, rest, close, final)


def _judge_at_end(token: str, close: int) -> Verdict:
    """Nothing follows on this line: only a title or `e.g.` asks for more."""
    waits = token.lower() in _TITLES or token.lower() in _NEVER_END
    return Verdict(Mark.NOTHING if waits else Mark.SENTENCE, close)


def _judge_glued(token: str, rest: str, close: int, final: bool) -> Verdict:
    """`one.Part`: an end when a capitalised word follows, and the word before is no address."""
    if re.search(r"[@/\\_.]", token) or not rest[0].isupper():
        return Verdict(Mark.NOTHING, close)
    word = re.match(r"\w*", rest)
    assert word is not None
    if word.end() == len(rest) and not final:
        return UNSURE
    tail = word.group()[1:]
    if word.group().lower() in _DOMAINS or not (tail == "" or tail.islower()):
        return Verdict(Mark.NOTHING, close)
    return Verdict(Mark.SENTENCE, close)


def _judge_by_next_word(token: str, rest: str, close: int, final: bool) -> Verdict:
    match = _NEXT_WORD.match(rest)
    assert match is not None
    word = match.group(1)
    if match.end() == len(rest) and not final:
        # One letter settles it when it is small or a digit: nothing that follows can make an end of it.
        return Verdict(Mark.NOTHING, close) if word[:1].islower() else UNSURE
    ends = not word or is_han(word[0]) or _ends_before(token, word)
    return Verdict(Mark.SENTENCE if ends else Mark.NOTHING, close)


def _ends_before(token: str, word: str) -> bool:
    """Does a stop after `token` end the sentence when `word` comes next."""
    low = token.lower().strip("([\"'“‘")
    if low == "no" or (low in _BEFORE_NUMBER and is_digit(word[0])):
        return not is_digit(word[0])
    if word[0].islower() or low in _TITLES or low in _NEVER_END:
        return word[0].islower() and _is_plain(token)
    if low in ("a.m", "p.m", "am", "pm"):
        return word.lower().strip(".,;:!?") not in _CALENDAR
    if len(low) == 1 and low != "i":
        return word.lower() in _STARTERS
    return _oracle(low if len(low) > 1 and "." not in low else token, word)


@lru_cache(maxsize=4096)
def _oracle(token: str, word: str) -> bool:
    return len(list(sentencex.segment("en", f"It is {token}. {word} came"))) > 1


@lru_cache(maxsize=4096)
def _is_plain(token: str) -> bool:
    """A word that no abbreviation looks like: then the stop ends the sentence whatever follows."""
    word = token.strip("([\"'“‘")
    if len(word) < 2 or "." in word or is_digit(word[0]) or word.lower() in _NOT_PLAIN:
        return False
    return all(_oracle(form, "Smith") for form in {word, word.lower(), word.capitalize()})


def _judge_clause(before: str, ahead: str, final: bool) -> Verdict:
    mark = ahead[0]
    run = _span(ahead, 0, frozenset("—–-―")) if mark in "—–-―" else 1
    close = run if mark == "-" else _span(ahead, run, CLOSERS)
    if close == len(ahead) and not final:
        return UNSURE
    rest = ahead[close:]
    if is_digit(before[-1:] or " ") and is_digit(rest[:1] or " "):
        return Verdict(Mark.NOTHING, close)
    return Verdict(Mark.CLAUSE if _is_clause(mark, run, before, rest) else Mark.NOTHING, close)


def _is_clause(mark: str, run: int, before: str, rest: str) -> bool:
    if mark == "-":
        return _is_gap(rest) and before[-1:].isspace() if run == 1 else not before[-1:].isdigit()
    if mark == "–":
        return before[-1:].isspace() or not rest[:1].isdigit()
    if mark in ",:":
        return _is_gap(rest) or is_han(before[-1:] or " ")
    return True


def _is_gap(rest: str) -> bool:
    """Does a new word start here: end of text, space, or a script that uses no spaces."""
    return not rest or rest[0].isspace() or is_han(rest[0])


def _span(text: str, start: int, chars: frozenset[str]) -> int:
    end = start
    while end < len(text) and text[end] in chars:
        end += 1
    return end


def _last_token(before: str) -> str:
    match = re.search(r"[^\s\u2e80-\u9fff，。！？；：、]*\Z", before)
    return match.group() if match else ""
