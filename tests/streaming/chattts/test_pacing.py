from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from streaming.chattts.layout import EXACT
from streaming.chattts.pacing import AT_LEISURE, GROWTH, ON_CARD, ON_CPU, STEADY, Pacing, Piece


def test_small_pieces_come_first() -> None:
    assert list(islice(Pacing(ON_CPU, 12), 11)) == [
        Piece(8, EXACT),
        Piece(16, 12),
        Piece(20, 12),
        Piece(26, 12),
        Piece(34, 12),
        Piece(44, 12),
        Piece(56, 12),
        Piece(70, 13),
        Piece(86, 15),
        Piece(106, 19),
        Piece(130, 23),
    ]
    assert [piece.tokens for piece in islice(Pacing(ON_CARD, 12), 4)] == [6, 13, 14, 15]


def test_on_a_cpu_each_piece_is_there_before_the_one_before_it_was_heard() -> None:
    step_s, call_s, token_s = 0.014, 0.1, 512 / 24_000
    begun, heard_s = 0.0, 0.0
    for number, piece in enumerate(islice(Pacing(ON_CPU, 12), 1, 60)):
        there = piece.tokens * step_s + call_s
        begun = there if number == 0 else begun
        assert there <= begun + heard_s + 0.06 or number == 0, piece
        heard_s = (piece.tokens - piece.lookahead) * token_s


def test_exact_from_the_start() -> None:
    assert {piece.lookahead for piece in islice(Pacing(AT_LEISURE, EXACT), 20)} == {EXACT}


@given(pieces=st.lists(st.integers(1, 30), min_size=1, max_size=6), lookahead=st.integers(1, EXACT))
def test_what_is_heard_only_grows_until_it_is_exact(pieces: list[int], lookahead: int) -> None:
    ahead, *cut = islice(Pacing(tuple(pieces), lookahead), STEADY + GROWTH * EXACT + 10)
    assert ahead.tokens < cut[0].tokens
    for before, after in pairwise(cut):
        assert after.tokens > before.tokens
        assert after.lookahead >= before.lookahead
        assert after.tokens - after.lookahead >= before.tokens - before.lookahead
    assert cut[-1].lookahead == EXACT


@pytest.mark.parametrize(("pieces", "lookahead"), [((), 12), ((0,), 12), ((4,), 0), ((4,), EXACT + 1)])
def test_what_makes_no_sense_is_refused(pieces: tuple[int, ...], lookahead: int) -> None:
    with pytest.raises(ValueError, match="look-ahead"):
        Pacing(pieces, lookahead)
