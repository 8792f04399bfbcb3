"""What an engine can read, and what is done with the rest: mapped where it can be, reported where it can't."""

import re
import unicodedata
from dataclasses import dataclass

from streaming.text.chars import is_han, is_speakable
from streaming.text.mapped import Mapped


@dataclass(frozen=True, slots=True)
class Skip:
    """Source text that is not spoken, and why. Of a hidden block only the place is kept, not the text."""

    text: str
    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Alphabet:
    """The characters an engine can read besides spaces: `letters` and `marks`, and Han characters if `han`."""

    name: str
    letters: str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    marks: str = ".,!?;:'\"()-"
    han: bool = False
    dotted: bool = False
    """Does the engine spell `F.B.I.` more surely than `F-B-I`."""

    @property
    def unreadable(self) -> re.Pattern[str]:
        """Matches one character that the engine can't read."""
        han = "\u3400-\u9fff" if self.han else ""
        # The module `re` keeps what it compiled.
        return re.compile(rf"[^{re.escape(self.letters + self.marks)}{han}\s]")

    def reads(self, char: str) -> bool:
        """Can the engine read this character."""
        return (
            char in self.letters or char in self.marks or char.isspace() or (self.han and "\u3400" <= char <= "\u9fff")
        )


CHATTTS = Alphabet("chattts", marks="，。、,.", han=True)
"""What ChatTTS was trained on: two stops, two commas and no apostrophe."""
ENGLISH = Alphabet("english", dotted=True)
CHINESE_AND_ENGLISH = Alphabet("chinese-and-english", marks="，。！？；：、,.!?;:'\"()-“”", han=True)

_MARKS = {
    "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": ", ", "―": ", ", "…": "...", "，": ", ", "。": ". ",
    "！": "! ", "？": "? ", "；": "; ", "：": ": ", "、": ", ", "（": " (", "）": ") ", "～": " ", "~": " ",
    "_": " ", "/": " ", "\\": " ", "|": " ", "*": " ", "#": " ", "^": " ", "«": '"', "»": '"', "「": '"', "」": '"',
    "『": '"', "』": '"', "《": '"', "》": '"', "【": " ", "】": " ", "{": " ", "}": " ", "•": " ", "·": " ",
    "؟": "?", "،": ",", "।": ".", "␣": " ", "¿": " ", "¡": " ",
}  # fmt: skip
_WEAKER = {
    "!": ".", "?": ".", ";": ",", ":": ",", "！": "。", "？": "。", "；": "，", "：": "，", "(": ", ", ")": ", ",
    "（": "，", "）": "，", "…": "，", "—": "，", "“": " ", "”": " ", '"': " ", "'": " ", "-": " ",
}  # fmt: skip
"""Where an engine has few marks: the one that pauses as long."""
_LETTERS = {
    "〇": "零", "ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "æ": "ae", "Æ": "Ae", "œ": "oe",
    "Œ": "Oe", "þ": "th", "ð": "d", "ı": "i",
}  # fmt: skip


def fit(text: Mapped, alphabet: Alphabet, source: str) -> tuple[Mapped, tuple[Skip, ...]]:
    """`text` in the characters of `alphabet`. `source` is what it was made from, for what is reported."""
    skipped: list[Skip] = []

    def say(match: re.Match[str]) -> str:
        said = _nearest(match.group(), alphabet)
        if said is None:
            at = match.start()
            _report(skipped, source, text.starts[at], text.ends[at])
            return " "
        return said

    fitted = text.sub(alphabet.unreadable, say)
    return fitted, tuple(skipped)


def _nearest(char: str, alphabet: Alphabet) -> str | None:
    """What stands in for `char`; None if the listener would miss something."""
    for table in (_MARKS, _WEAKER, _LETTERS):
        said = table.get(char, "")
        if said and all(map(alphabet.reads, said)):
            return said
    said = _without_accents(char)
    if said and all(map(alphabet.reads, said)):
        return said
    return None if char.isalnum() or is_han(char) or unicodedata.category(char) in ("So", "Sc", "Sm") else " "


def _without_accents(char: str) -> str:
    return "".join(part for part in unicodedata.normalize("NFD", char) if not unicodedata.combining(part))


def _report(skipped: list[Skip], source: str, start: int, end: int) -> None:
    """Add one character; neighbours become one report."""
    gap = source[skipped[-1].end : start] if skipped else "x"
    if skipped and not gap.strip() and start <= skipped[-1].end + 1:
        start = min(start, skipped[-1].start)
        end = max(end, skipped.pop().end)
        first = start if not skipped else max(start, skipped[-1].end)
        start = first
    skipped.append(Skip(source[start:end], start, end, "unsupported"))


def has_words(text: str) -> bool:
    """Is there anything to say."""
    return any(map(is_speakable, text))
