"""Text that remembers where each of its characters comes from: the one type between the stages."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
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
        links: list[Link] = []
        itself = False  # does the last link say itself, so far
        at = 0
        for (start, end), same in groupby(zip(self.starts, self.ends, strict=True)):
            length = sum(1 for _ in same)
            single = length == 1 == end - start
            if itself and single and links[-1].end == start:
                links[-1] = Link(links[-1].spoken_start, at + 1, links[-1].start, end)
            else:
                links.append(Link(at, at + length, start, end))
            itself = single
            at += length
        return tuple(links)


def concat(parts: list[Mapped]) -> Mapped:
    """All of them, one after another."""
    return Mapped(
        "".join(part.text for part in parts),
        tuple(start for part in parts for start in part.starts),
        tuple(end for part in parts for end in part.ends),
    )
