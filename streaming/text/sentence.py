"""Does this full stop end a sentence?"""

import re
from functools import lru_cache

from sentencex import segment

_PROBES = ("Then", "then", "5")
"""Where every kind of next word starts a sentence, there is no need to wait for the real one."""

_OWN_ABBREVIATIONS = frozenset({"approx", "ca", "ed", "est", "excl", "ext", "incl", "max", "min", "resp", "tel", "vol"})
"""What the splitter does not know. They end a sentence only before a capital letter."""

_LAST_WORD = re.compile(r"[\w.]+$")


def ends_sentence(word: str, following: str | None) -> bool | None:
    """Whether a sentence ends after `word`, which ends with a full stop, and perhaps quotes or brackets after it.

    `following` is the next word, or None while it is not known; then the answer may be None too: it depends.
    """
    if following is not None:
        return _splits(word, following)
    answers = {_splits(word, probe) for probe in _PROBES}
    return answers.pop() if len(answers) == 1 else None


def may_end_text(word: str) -> bool:
    """Whether `word`, which ends with a full stop, could be the last one of a text that stopped coming."""
    return _splits(word, "Then")


@lru_cache(maxsize=4096)
def _splits(word: str, following: str) -> bool:
    stem = _LAST_WORD.search(word.rstrip(".\"'”’)]"))
    name = stem.group().lower() if stem else ""
    if name == "no":
        return not following[:1].isdigit()
    if name in _OWN_ABBREVIATIONS and not following[:1].isupper():
        return False
    return len(segment("en", f"So {word} {following}")) > 1
