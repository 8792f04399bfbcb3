"""Numbers as words, in both languages."""

import pytest

from streaming.text import numbers_en, numbers_zh


@pytest.mark.parametrize(
    ("digits", "english", "chinese"),
    [
        ("0", "zero", "零"),
        ("10", "ten", "十"),
        ("21", "twenty-one", "二十一"),
        ("100", "one hundred", "一百"),
        ("101", "one hundred one", "一百零一"),
        ("110", "one hundred ten", "一百一十"),
        ("1005", "one thousand five", "一千零五"),
        ("10001", "ten thousand one", "一万零一"),
        ("100010", "one hundred thousand ten", "十万零一十"),
        ("100000000", "one hundred million", "一亿"),
        ("100000001", "one hundred million one", "一亿零一"),
        ("1000100000000", "one trillion one hundred million", "一万亿零一亿"),
        ("007", "zero zero seven", "零零七"),
    ],
)
def test_cardinals(digits: str, english: str, chinese: str) -> None:
    assert numbers_en.cardinal(digits) == english
    assert numbers_zh.cardinal(digits) == chinese


def test_a_number_too_long_to_follow_is_spelled() -> None:
    assert numbers_en.cardinal("1" * 19) == " ".join(["one"] * 19)
    assert numbers_zh.cardinal("1" * 17) == "一" * 17


@pytest.mark.parametrize(
    ("digits", "words"),
    [("1", "first"), ("12", "twelfth"), ("20", "twentieth"), ("23", "twenty-third"), ("100", "one hundredth")],
)
def test_ordinals(digits: str, words: str) -> None:
    assert numbers_en.ordinal(digits) == words


@pytest.mark.parametrize(
    ("text", "english", "chinese"),
    [
        ("-3.14", "minus three point one four", "负三点一四"),
        ("+5", "plus five", "正五"),
        ("1,234.5", "one thousand two hundred thirty-four point five", "一千二百三十四点五"),
        (".5", "zero point five", "零点五"),
    ],
)
def test_decimals(text: str, english: str, chinese: str) -> None:
    assert numbers_en.decimal(text) == english
    assert numbers_zh.decimal(text) == chinese


@pytest.mark.parametrize(
    ("digits", "words"),
    [
        ("1984", "nineteen eighty-four"),
        ("1900", "nineteen hundred"),
        ("1905", "nineteen oh five"),
        ("2000", "two thousand"),
        ("2005", "two thousand five"),
        ("2024", "twenty twenty-four"),
        ("476", "four hundred seventy-six"),
    ],
)
def test_years(digits: str, words: str) -> None:
    assert numbers_en.year(digits) == words


@pytest.mark.parametrize(
    ("text", "words"), [("2", "两"), ("200", "两百"), ("2000", "两千"), ("20", "二十"), ("12", "十二")]
)
def test_counting(text: str, words: str) -> None:
    assert numbers_zh.counted(text) == words


def test_telephone_one() -> None:
    assert numbers_zh.spell("110", one="幺") == "幺幺零"
