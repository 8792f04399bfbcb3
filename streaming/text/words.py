"""Where a stretch without punctuation may be cut: between words, never inside a number."""

import rjieba

from streaming.text.chars import is_digit, is_han, word_set

_LINKS = word_set(
    "and or but nor so because which that who when while where if though although unless until then than as for with"
    " without in on at of from by to into after before over under between about through"
)
"""Words that begin a phrase: the voice may rest before one of them."""


def word_cut(text: str, low: int, high: int) -> int:
    """The best place to cut `text` in [low, high], or 0 if every one of them is inside a word or a number.

    Text beyond `high` is context: it tells where the last word ends.
    """
    han = _han_cuts(text)
    best, best_rank = 0, 0
    for cut in range(max(low, 1), min(high, len(text) - 1) + 1):
        rank = _rank(text, cut, han)
        if rank >= max(best_rank, 1):
            best, best_rank = cut, rank
    return best


def _rank(text: str, cut: int, han: frozenset[int]) -> int:
    left, right = text[cut - 1], text[cut]
    if left.isspace():
        return _rank_space(text, cut)
    if is_digit(left) or right.isspace():
        return 0
    if is_han(left) and is_han(right):
        return 2 if cut in han else 0
    joins_scripts = (is_han(left) and right.isalpha()) or (left.isalpha() and is_han(right))
    return 2 if joins_scripts else 0


def _rank_space(text: str, cut: int) -> int:
    """After a space: 3 before a linking word, 2 before any other, 1 behind one or a number, 0 between two numbers."""
    before = text[max(cut - 16, 0) : cut].split()[-1:] or [""]
    if is_digit(before[0][-1:] or " "):
        return 0 if is_digit(text[cut]) else 1
    if before[0].lower() in _LINKS:
        return 1
    word = text[cut : cut + 16].split(" ", maxsplit=1)[0]
    return 3 if word.lower() in _LINKS else 2


def _han_cuts(text: str) -> frozenset[int]:
    """The ends of the words of `text`, as rjieba sees them."""
    if not any(map(is_han, text)):
        return frozenset()
    ends, at = [], 0
    for word in rjieba.cut(text):
        at += len(word)
        ends.append(at)
    return frozenset(ends)
