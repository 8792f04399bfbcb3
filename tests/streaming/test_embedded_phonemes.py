import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.embedded.phonemes import gap_s, pieces, sounds


def test_a_short_string_is_one_piece() -> None:
    assert pieces("həlˈO. ", 10, 20) == ["həlˈO."]


def test_nothing_is_no_piece() -> None:
    assert pieces(" ", 10, 20) == []


def test_cuts_at_the_clause_nearest_the_middle() -> None:
    assert pieces("aaaa, bbbb cccc, dddd eeee", 20, 40) == ["aaaa, bbbb cccc,", "dddd eeee"]


def test_a_clause_at_the_edge_is_no_place_to_cut() -> None:
    assert pieces("a, bbbb cccc dddd eeee ffff", 20, 40) == ["a, bbbb cccc dddd eeee ffff"]


def test_without_a_clause_it_cuts_at_a_word_once_it_must() -> None:
    assert pieces("aaaa bbbb cccc dddd", 5, 10) == ["aaaa bbbb", "cccc dddd"]


@given(st.text("ab ,.”", max_size=200), st.integers(5, 30), st.integers(30, 60))
def test_no_phoneme_is_lost_and_no_piece_is_too_long(phonemes: str, soft: int, hard: int) -> None:
    cut = pieces(phonemes, soft, hard)
    assert "".join("".join(cut).split()) == "".join(phonemes.split())
    assert all(piece and len(piece) <= hard for piece in cut)


@pytest.mark.parametrize(
    ("phonemes", "seconds"), [("a.", 0.35), ("a?”", 0.35), ("a, ", 0.15), ("a", 0.0), ("", 0.0), ("a;", 0.25)]
)
def test_the_last_mark_sets_the_gap(phonemes: str, seconds: float) -> None:
    assert gap_s(phonemes) == seconds


@pytest.mark.parametrize(("phonemes", "speakable"), [("həlˈO.", True), ("(—…)", False), ("", False), ("↗ ,", False)])
def test_marks_alone_are_no_sound(phonemes: str, speakable: bool) -> None:
    assert sounds(phonemes) is speakable
