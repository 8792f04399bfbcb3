"""Surrogate pairs that were cut in two.

JSON may carry half of a UTF-16 pair in one message and the other half in the next.
"""


class SurrogateJoiner:
    """Joins halves across deltas, so that everything after it sees whole code points only."""

    def __init__(self) -> None:
        self._held = ""

    def push(self, delta: str) -> str:
        """`delta` with its pairs joined and lone halves replaced by U+FFFD; a high half at its end is held back."""
        text = self._held + delta
        self._held = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return _joined(text[:-1] if self._held else text)

    def finish(self) -> str:
        """U+FFFD for a half that never got its other half, else nothing."""
        held, self._held = self._held, ""
        return "\ufffd" if held else ""


def _joined(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
