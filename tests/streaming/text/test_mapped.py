"""Text that knows its source."""

import re

from streaming.text.mapped import Link, Mapped, concat

FIVE = re.compile("5")


def test_plain_text_says_itself() -> None:
    assert Mapped.plain("abc", 4).links() == (Link(0, 3, 4, 7),)
    assert Mapped().links() == ()


def test_a_replacement_is_said_for_all_it_replaced() -> None:
    text = Mapped.plain("a 5 b").sub(FIVE, lambda _: "five")
    assert text.text == "a five b"
    assert text.links() == (Link(0, 2, 0, 2), Link(2, 6, 2, 3), Link(6, 8, 3, 5))


def test_none_leaves_a_match_and_nothing_removes_it() -> None:
    text = Mapped.plain("a5")
    assert text.sub(FIVE, lambda _: None) == text
    assert text.sub(FIVE, lambda _: "") == Mapped.plain("a")


def test_replacements_of_replacements_keep_the_source() -> None:
    text = Mapped.plain("x5").sub(FIVE, lambda _: "five").sub(re.compile("iv"), lambda _: "IV")
    assert (text.text, text.starts, text.ends) == ("xfIVe", (0, 1, 1, 1, 1), (1, 2, 2, 2, 2))


def test_parts_join() -> None:
    text = Mapped.plain("hello")
    assert concat([text[:2], text[2:]]) == text[:2] + text[2:] == text
