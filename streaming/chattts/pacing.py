"""How much of an utterance is vocoded when, and how sure its last samples are. Plain integers."""

from collections.abc import Iterator
from dataclasses import dataclass

from streaming.chattts.layout import EXACT

STEADY = 64
"""Tokens spoken before the look-ahead grows: until then all that is made early is for the listener's buffer."""
GROWTH = 6
"""Tokens spoken after that for one token more of look-ahead: what is a sixth faster than real time never runs dry."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Vocode when this many tokens are known; the last `lookahead` of them are not heard yet."""

    tokens: int
    lookahead: int


@dataclass(frozen=True, slots=True)
class Pacing:
    """Small pieces first, for an early start; then larger ones, which cost less.

    Waiting until samples are final would cost half a second, so the first ones are heard with a look-ahead that
    leaves them a little wrong, and it grows until they are exact. All of it depends on the utterance's own tokens
    alone: spoken again, it is cut in the same places. Half of what the first sound needs is taken in ahead of it, while
    the other half is made.
    """

    pieces: tuple[int, ...]
    """Tokens each; the last one again and again."""
    lookahead: int
    """At first; `EXACT` from the start makes every sample final."""

    def __post_init__(self) -> None:
        if not self.pieces or min(self.pieces) < 1 or not 1 <= self.lookahead <= EXACT:
            raise ValueError(f"pieces have a token at least, and a look-ahead is from 1 to {EXACT} tokens")

    def __iter__(self) -> Iterator[Piece]:
        """Without end."""
        tokens = self.lookahead + self.pieces[0]
        number = 0
        yield Piece(tokens // 2, EXACT)
        while True:
            yield Piece(tokens, min(EXACT, self.lookahead + max(0, tokens - STEADY) // GROWTH))
            number += 1
            tokens += self.pieces[min(number, len(self.pieces) - 1)]


ON_CPU = (4, 4, 6, 8, 10, 12, 14, 16, 20, 24)
"""Each is there before the one before it was heard, at 14 ms a token and 0.1 s a call."""
ON_CARD = (1,)
"""A card vocodes each token as it comes."""
AT_LEISURE = (48,)
"""Where nobody waits for the first sound."""
