from hypothesis import given
from hypothesis import strategies as st

from streaming.text.surrogates import SurrogateJoiner

surrogate = st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF, categories=["Cs"])


def joined(*deltas: str) -> str:
    joiner = SurrogateJoiner()
    return "".join(joiner.push(delta) for delta in deltas) + joiner.finish()


def test_a_pair_in_two_deltas_is_one_character() -> None:
    assert joined("a\ud83d", "\ude00b") == "a😀b"


def test_a_half_alone_becomes_the_replacement_character() -> None:
    assert joined("a\ud83d", "b", "\ude00", "c\ud83d") == "a\ufffdb\ufffdc\ufffd"


@given(st.lists(st.text(st.characters() | surrogate, max_size=4), max_size=8))
def test_cuts_change_nothing(deltas: list[str]) -> None:
    whole = "".join(deltas)
    assert joined(*deltas) == joined(whole) == joined(*whole)
    joined(whole).encode()
