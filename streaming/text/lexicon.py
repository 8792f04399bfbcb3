"""How a user wants words to be said."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from streaming.text.mapped import Mapped


@dataclass(frozen=True, slots=True)
class Entry:
    """Say `say` for `word`; in `language` only, if given. Case counts if `exact`."""

    word: str
    say: str
    language: str | None = None
    exact: bool = False


class LexiconError(ValueError):
    """A line of a lexicon can't be read. The message says which and why."""


@dataclass(frozen=True)
class Lexicon:
    """Entries, later ones before earlier ones. A value: to reload, read it again; to extend, add two."""

    entries: tuple[Entry, ...] = ()

    @staticmethod
    def parse(lines: Iterable[str]) -> "Lexicon":
        """Lines of `word<TAB>replacement[<TAB>language[<TAB>exact]]`; `#` begins a comment, `*` is any language."""
        entries = []
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.lstrip().startswith("#"):
                entries.append(_parse_line(number, line.rstrip("\r\n")))
        return Lexicon(tuple(entries))

    def __add__(self, other: "Lexicon") -> "Lexicon":
        return Lexicon(self.entries + other.entries)

    def apply(self, text: Mapped, language: str) -> Mapped:
        """Say the words of the lexicon as it says."""
        found = self._by_language.get(language)
        if found is None:
            return text
        pattern, exact, loose = found

        def say(match: re.Match[str]) -> str | None:
            return exact.get(match.group()) or loose.get(match.group().lower())

        return text.sub(pattern, say)

    @cached_property
    def _by_language(self) -> dict[str, tuple[re.Pattern[str], dict[str, str], dict[str, str]]]:
        tables = {language: self._tables(language) for language in ("en", "zh")}
        return {language: table for language, table in tables.items() if table is not None}

    def _tables(self, language: str) -> tuple[re.Pattern[str], dict[str, str], dict[str, str]] | None:
        mine = [entry for entry in self.entries if entry.language in (None, language)]
        if not mine:
            return None
        words = sorted({entry.word for entry in mine}, key=len, reverse=True)
        pattern = re.compile("|".join(map(_whole_word, words)), re.IGNORECASE)
        exact = {entry.word: entry.say for entry in mine if entry.exact}
        loose = {entry.word.lower(): entry.say for entry in mine if not entry.exact}
        return pattern, exact, loose


def _parse_line(number: int, line: str) -> Entry:
    fields = [field.strip() for field in line.split("\t")]
    if len(fields) < 2 or not fields[0] or not fields[1]:
        raise LexiconError(f"line {number}: write a word, a tab and what to say for it")
    language = fields[2] if len(fields) > 2 and fields[2] not in ("", "*") else None
    if language not in (None, "en", "zh"):
        raise LexiconError(f"line {number}: the language is en, zh or *, not {language!r}")
    if len(fields) > 3 and fields[3] not in ("", "exact"):
        raise LexiconError(f"line {number}: the case rule is exact or nothing, not {fields[3]!r}")
    return Entry(fields[0], fields[1], language, exact=len(fields) > 3 and fields[3] == "exact")


def _whole_word(word: str) -> str:
    """Latin words match whole only; Han words anywhere."""
    left = r"(?<![A-Za-z0-9])" if word[0].isascii() and word[0].isalnum() else ""
    right = r"(?![A-Za-z0-9])" if word[-1].isascii() and word[-1].isalnum() else ""
    return left + re.escape(word) + right
