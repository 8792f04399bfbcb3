"""What kind of character is this: the classes that every stage of the text pipeline asks about."""

import unicodedata

NEWLINES = frozenset("\n\r\v\f\x85\u2028\u2029")
SENTENCE_STOPS = frozenset(".!?。！？．｡…؟।")
CLOSERS = frozenset("\"'”’»›)]}）】」』》〉〕〗＂＇")
OPENERS = frozenset("\"'“‘«‹([{（【「『《〈〔〖＂＇")

_HAN_RANGES = (
    ("\u2e80", "\u2fdf"),  # radicals
    ("\u3005", "\u3007"),  # 々 〆 〇
    ("\u3040", "\u30ff"),  # kana: as dense as Han, and as slow to speak
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\uac00", "\ud7af"),  # Hangul syllables
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U000323af"),
)


def is_han(char: str) -> bool:
    """Is this one character one syllable: Han, kana or Hangul."""
    return char >= "\u2e80" and any(low <= char <= high for low, high in _HAN_RANGES)


def is_digit(char: str) -> bool:
    """ASCII or full-width digit."""
    return "0" <= char <= "9" or "０" <= char <= "９"


def is_speakable(char: str) -> bool:
    """Would a person say something for this character standing alone: letters, numbers, money, pictures."""
    return char.isalnum() or (char >= "$" and unicodedata.category(char) in ("Sc", "So", "No", "Nl"))


def word_set(words: str) -> frozenset[str]:
    """The words of a table written as prose."""
    return frozenset(words.split())
