"""Text that remembers where each of its characters comes from: the one type between the stages."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple


class Link(NamedTuple):
    """spoken[spoken_start:spoken_end] is what is said for source[start:end]."""

    spoken_start: int
    spoken_end: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mapped:
    """`text[i]` is said for `source[starts[i]:ends[i]]`. Offsets are code points."""

    text: str = ""
    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()

    @staticmethod
    def plain(text: str, offset: int = 0) -> "Mapped":
        """Text that says itself, found at `offset`."""
        return Mapped(text, tuple(range(offset, offset + len(text))), tuple(range(offset + 1, offset + len(text) + 1)))

    def __add__(self, other: "Mapped") -> "Mapped":
        return Mapped(self.text + other.text, self.starts + other.starts, self.ends + other.ends)

    def __getitem__(self, part: slice) -> "Mapped":
        return Mapped(self.text[part], self.starts[part], self.ends[part])

    def said_as(self, text: str) -> "Mapped":
        """`text`, said for all of this."""
        if not self.text:
            return self
        return Mapped(text, (self.starts[0],) * len(text), (self.ends[-1],) * len(text))

    def sub(self, pattern: re.Pattern[str], say: Callable[[re.Match[str]], str | None]) -> "Mapped":
        """Say `say(match)` for every match; None leaves it as it is."""
        if not pattern.search(self.text):
            return self
        parts: list[Mapped] = []
        at = 0
        for match in pattern.finditer(self.text):
            said = say(match)
            if said is None or not match.group():
                continue
            parts += [self[at : match.start()], self[match.start() : match.end()].said_as(said)]
            at = match.end()
        return concat([*parts, self[at:]]) if parts else self

    def links(self) -> tuple[Link, ...]:
        """The mapping, joined where characters say themselves one after another."""
        breaks = [at for at in range(1, len(self.text)) if not self._continues(at)]
        cuts = [0, *breaks, len(self.text)] if self.text else []
        return tuple(Link(a, b, self.starts[a], self.ends[b - 1]) for a, b in pairwise(cuts))

    def _continues(self, at: int) -> bool:
        """Does the character at `at` belong to the link of the one before it."""
        one, before = self._range(at), self._range(at - 1)
        if one == before:
            return True
        if not (one[1] - one[0] == 1 == before[1] - before[0] and one[0] == before[1]):
            return False
        # Neighbours that say themselves, unless either is only a part of what is said for its character.
        return self._range(at + 1) != one and self._range(at - 2) != before

    def _range(self, at: int) -> tuple[int, int]:
        return (self.starts[at], self.ends[at]) if 0 <= at < len(self.text) else (-1, -1)


def concat(parts: list[Mapped]) -> Mapped:
    """All of them, one after another."""
    return Mapped(
        "".join(part.text for part in parts),
        tuple(start for part in parts for start in part.starts),
        tuple(end for part in parts for end in part.ends),
    )
