from hypothesis import given
from hypothesis import strategies as st

from server.timing import SpokenSegment, spoken_until, word_times


def test_words_share_the_time_by_length_and_leave_none_over() -> None:
    segment = SpokenSegment("Hi there,  you", start=10, first_sample=1000, samples=1700)
    hi, there, you = word_times(segment)
    assert (hi.text, hi.start, hi.end) == ("Hi", 10, 12)
    assert (there.text, there.start, there.end) == ("there,", 13, 19)
    assert (you.text, you.start, you.end) == ("you", 21, 24)
    assert (hi.first_sample, hi.samples) == (1000, 364)
    assert you.first_sample + you.samples == 2700


def test_every_chinese_character_is_a_word() -> None:
    assert [w.text for w in word_times(SpokenSegment("你好 OK吗", 0, 0, 100))] == ["你", "好", "OK", "吗"]


def test_no_words_no_times() -> None:
    assert word_times(SpokenSegment("  ", 0, 0, 100)) == ()


def test_spoken_until_counts_begun_words() -> None:
    segments = [SpokenSegment("one two", 0, 0, 80), SpokenSegment("three", 8, 100, 50)]
    assert [spoken_until(segments, s) for s in (0, 1, 40, 41, 80, 100, 101)] == [0, 3, 3, 7, 7, 7, 13]


@given(st.text(max_size=60), st.integers(0, 10**6), st.integers(0, 10**6))
def test_times_are_monotone_and_cover_exactly_the_segment(text: str, first: int, samples: int) -> None:
    words = word_times(SpokenSegment(text, 0, first, samples))
    at = first
    for word in words:
        assert text[word.start : word.end] == word.text
        assert word.first_sample == at
        at += word.samples
    assert not words or at == first + samples
