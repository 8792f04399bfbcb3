"""How a user wants words to be said."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from streaming.text.clean import sanitise
from streaming.text.mapped import Mapped, concat

LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Entry:
    """Say `say` for `word`; in text of `language` only, if given. Case counts if `exact`."""

    word: str
    say: str
    language: str | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        if not self.word.strip() or not self.say.strip():
            raise LexiconError("an entry has a word and what to say for it")
        if self.language not in (None, *LANGUAGES):
            raise LexiconError(f"the language of {self.word!r} is en, zh or any, not {self.language!r}")


class LexiconError(ValueError):
    """A line of a lexicon can't be read. The message says which and why."""


@dataclass(frozen=True)
class Lexicon:
    """Entries in layers, later ones before earlier ones. A value: to reload, read it again; to extend, add two."""

    layers: tuple["_Layer", ...] = ()

    @staticmethod
    def of(entries: Iterable[Entry]) -> "Lexicon":
        """A lexicon of one layer, in which an entry replaces an earlier one for the same word."""
        layer = _Layer(tuple(entries))
        return Lexicon((layer,) if layer.entries else ())

    @staticmethod
    def parse(lines: Iterable[str]) -> "Lexicon":
        """Lines of `word<TAB>replacement[<TAB>language[<TAB>exact]]`; `#` begins a comment, `*` is any language."""
        return Lexicon.of(
            _parse_line(number, line.rstrip("\r\n"))
            for number, line in enumerate(lines, 1)
            if line.strip() and not line.lstrip().startswith("#")
        )

    def __add__(self, other: "Lexicon") -> "Lexicon":
        return Lexicon(self.layers + other.layers)

    @property
    def size(self) -> int:
        """How many entries there are."""
        return sum(len(layer.entries) for layer in self.layers)

    def apply(self, text: Mapped, language: str) -> Mapped:
        """Say the words of the lexicon as it says; of two that begin at one place, the longer."""
        tables = [layer.tables[language] for layer in reversed(self.layers)]
        parts: list[Mapped] = []
        at = 0
        for start, end, say in _matches(text.text, tables) if tables else ():
            parts += [text[at:start], text[start:end].said_as(say)]
            at = end
        return concat([*parts, text[at:]]) if parts else text


def _matches(text: str, tables: list["_Table"]) -> Iterator[tuple[int, int, str]]:
    """Where a word stands, and what to say for it. Earlier tables win."""
    folded = _fold(text)
    at = 0
    while at < len(text):
        found = max((table.match(text, folded, at) for table in tables), key=lambda match: match[0])
        if found[0]:
            yield at, at + found[0], found[1]
        at += found[0] or 1


@dataclass(frozen=True)
class _Layer:
    """Entries that were given together, with their tables."""

    entries: tuple[Entry, ...]

    @cached_property
    def tables(self) -> dict[str, "_Table"]:
        """By language."""
        return {language: _Table(self.entries, language) for language in LANGUAGES}


class _Table:
    """The entries of one language, found by length and spelling: their number does not slow a text down."""

    def __init__(self, entries: Iterable[Entry], language: str) -> None:
        self._lengths: dict[str, list[int]] = {}
        self._exact: dict[str, str] = {}
        self._loose: dict[str, str] = {}
        for entry in entries:
            if entry.language in (None, language):
                self._add(entry)

    def _add(self, entry: Entry) -> None:
        word = "".join(map(sanitise, entry.word))
        folded = _fold(word)
        (self._exact if entry.exact else self._loose)[word if entry.exact else folded] = entry.say
        lengths = self._lengths.setdefault(folded[:1], [])
        if len(word) not in lengths:
            lengths.append(len(word))
            lengths.sort(reverse=True)

    def match(self, text: str, folded: str, at: int) -> tuple[int, str]:
        """How long the longest word that stands at `at` is, and what to say for it; 0 if there is none."""
        for length in self._lengths.get(folded[at], ()):
            end = at + length
            say = self._exact.get(text[at:end]) or self._loose.get(folded[at:end])
            if say and end <= len(text) and not _is_inside(text, at) and not _is_inside(text, end):
                return length, say
        return 0, ""


def _fold(text: str) -> str:
    """Lower case, character by character, so that places stay."""
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _is_inside(text: str, at: int) -> bool:
    """Is `at` inside a Latin word or a number: those match whole only, Han words anywhere."""
    around = text[max(at - 1, 0) : at + 1]
    return 0 < at < len(text) and around.isascii() and around.isalnum()


def _parse_line(number: int, line: str) -> Entry:
    fields = [field.strip() for field in line.split("\t")]
    if len(fields) < 2 or not fields[0] or not fields[1]:
        raise LexiconError(f"line {number}: write a word, a tab and what to say for it")
    if len(fields) > 3 and fields[3] not in ("", "exact"):
        raise LexiconError(f"line {number}: the case rule is exact or nothing, not {fields[3]!r}")
    language = fields[2] if len(fields) > 2 and fields[2] not in ("", "*") else None
    try:
        return Entry(fields[0], fields[1], language, exact=fields[3:4] == ["exact"])
    except LexiconError as error:
        raise LexiconError(f"line {number}: {error}") from None
