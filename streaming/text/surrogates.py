"""Joins halves of surrogate pairs, which JSON may deliver in two deltas."""

import re

_LONE = re.compile("[\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _join(match: re.Match[str]) -> str:
    high, low = map(ord, match.group())
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


class SurrogateJoiner:
    """Turns halves into the character they make, and a half that stays alone into U+FFFD."""

    def __init__(self) -> None:
        self._high = ""

    def push(self, delta: str) -> str:
        """Everything certain so far: at most one character, a high half, is held back."""
        text = self._high + delta
        self._high = ""
        if not _LONE.search(text):
            return text
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._high = text[:-1], text[-1]
        return _LONE.sub("\ufffd", _PAIR.sub(_join, text))

    def flush(self) -> str:
        """What is held back, as U+FFFD."""
        held, self._high = self._high, ""
        return "\ufffd" if held else ""
