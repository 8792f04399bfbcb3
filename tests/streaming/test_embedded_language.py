from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.embedded.language import runs


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Hello, world.", "en", [("en", "Hello, world.")]),
        ("你好，世界。", "en", [("zh", "你好，世界。")]),
        ("我用 Python 写代码。", "zh", [("zh", "我用 "), ("en", "Python "), ("zh", "写代码。")]),
        ("2024年", "en", [("zh", "2024年")]),
        ("room 101", "zh", [("en", "room 101")]),
        ("iPhone 15很好", "en", [("en", "iPhone 15"), ("zh", "很好")]),
        ("iPhone 15很好", "zh", [("en", "iPhone"), ("zh", " 15很好")]),
        ("iPhone 15很好", "fr", [("en", "iPhone"), ("zh", " 15很好")]),
        ("3.14", "zh", [("zh", "3.14")]),
        ("3.14", "en", [("en", "3.14")]),
        ("", "en", []),
    ],
)
def test_each_run_is_read_in_the_language_of_its_script(
    text: str, language: str, expected: list[tuple[str, str]]
) -> None:
    assert runs(text, language) == expected


@given(st.text("ab 你好1，."), st.sampled_from(["en", "zh"]))
def test_runs_alternate_and_lose_nothing(text: str, language: str) -> None:
    found = runs(text, language)
    assert "".join(run for _, run in found) == text
    assert all(one[0] != other[0] for one, other in pairwise(found))
