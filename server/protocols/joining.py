"""Sentences of clients that send one a message and leave out the space between them."""

from streaming.text.chars import CLOSERS, SENTENCE_STOPS


class Joiner:
    """Gives each text as it is to be appended. `spaced`: texts are whole sentences; else they are cut anywhere."""

    def __init__(self, *, spaced: bool) -> None:
        self._spaced = spaced
        self._last = ""

    def join(self, text: str) -> str:
        """The text, behind a space where two sentences would be glued: `12345.Let` is read as one word."""
        glued = self._spaced and self._ended and text[:1].isalnum() and text[0].isascii()
        self._last = (self._last + text)[-8:]
        return f" {text}" if glued else text

    @property
    def _ended(self) -> bool:
        stop = self._last.rstrip("".join(CLOSERS))[-1:]
        return bool(stop) and stop in SENTENCE_STOPS
