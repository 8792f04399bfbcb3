"""What a client sent into a context, read a bounded piece at a time."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from streaming.text.front import TextFront
from streaming.text.segment import Segment

_SLICE = 512
"""Characters that are read at a time, some milliseconds' work: a long text must not hold up the others."""


@dataclass(frozen=True, slots=True)
class FlushMark:
    """Everything before it is spoken without waiting for more."""

    answered: bool = True


@dataclass(frozen=True, slots=True)
class EndMark:
    """Nothing follows."""


class Intake:
    """Text and marks in the order in which they came. Owned by a context, as is the front."""

    def __init__(self, front: TextFront) -> None:
        self._front = front
        self._unread: deque[str | FlushMark | EndMark] = deque()

    @property
    def behind(self) -> bool:
        """Is there something that is not read yet."""
        return bool(self._unread)

    def put(self, item: str | FlushMark | EndMark) -> None:
        """Behind everything else."""
        self._unread.append(item)

    def clear(self) -> None:
        """None of it is wanted any more."""
        self._unread.clear()

    def read(self) -> Iterator[list[Segment] | FlushMark | EndMark]:
        """Read on, one slice: the segments of text, and each mark behind those of the text before it."""
        room = _SLICE
        while self._unread and room > 0:
            item = self._unread.popleft()
            if isinstance(item, str):
                if len(item) > room:
                    self._unread.appendleft(item[room:])
                yield self._front.push(item[:room])
                room -= len(item)
            else:
                yield self._front.flush()
                yield item
