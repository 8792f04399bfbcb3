"""Which language a number is read in: decided by the words around it, never by one vote for the whole text."""

import re

from streaming.text.chars import is_han

_RUN = re.compile(r"[A-Za-z][A-Za-z'’-]*(?:[\s,.;:!?\d()%$&/+-]+[A-Za-z][A-Za-z'’-]*){3,}")

_MARKS = frozenset("，。！？；：、")


def english_runs(text: str) -> list[tuple[int, int]]:
    """Stretches of four or more English words inside Chinese text: a quotation, read as English."""
    return [match.span() for match in _RUN.finditer(text) if _mostly_words(match.group())]


def _mostly_words(run: str) -> bool:
    words = re.findall(r"[A-Za-z]+", run)
    return len([word for word in words if word.islower()]) * 2 >= len(words)


def language_of(text: str, before: str) -> str:
    """`zh` or `en` for a segment. Without letters it is that of the segment `before` it."""
    if any(is_han(char) or char in _MARKS for char in text):
        return "zh"
    return "en" if any(char.isalpha() for char in text) else before
