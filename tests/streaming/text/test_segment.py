import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.text.segment import Segment, Segmenter, SegmentLimits


def segments(*deltas: str, limits: SegmentLimits = SegmentLimits()) -> list[Segment]:
    segmenter = Segmenter(limits)
    made = [segment for delta in deltas for segment in segmenter.push(delta)]
    return made + segmenter.flush()


def texts(*deltas: str) -> list[str]:
    return [segment.text for segment in segments(*deltas)]


WHOLE = [
    ("Good morning, it is nice here. How are you?", ["Good morning,", "it is nice here.", "How are you?"]),
    ("Hi! Why? No", ["Hi!", "Why?", "No"]),
    ("今天天气很好，我们去公园吧。你说呢？好的！", ["今天天气很好，", "我们去公园吧。", "你说呢？", "好的！"]),
    # B01, B23: marks inside numbers
    ("The tea is $3.50 for a small one. ", ["The tea is $3.50 for a small one."]),
    ("It was 22,1 °C for 1,000 users outside, yes.", ["It was 22,1 °C for 1,000 users outside,", "yes."]),
    ("I run version 17.03.26 of it. Python 3.12 too.", ["I run version 17.03.26 of it.", "Python 3.12 too."]),
    # B04, A21: addresses
    ("Is it first.last@example.com right?", ["Is it first.last@example.com right?"]),
    ("Please open mail.example.com. Then wait.", ["Please open mail.example.com.", "Then wait."]),
    ("See https://example.com/a?b=C.d now. Ok.", ["See https://example.com/a?b=C.d now.", "Ok."]),
    # B06, A25, A26: abbreviations
    ("Dr. Smith came at 9:30 a.m. sharp. He left.", ["Dr. Smith came at 9:30 a.m. sharp.", "He left."]),
    ("It is late, e.g. for J. K. Rowling. Yes.", ["It is late,", "e.g. for J. K. Rowling.", "Yes."]),
    ("Bring pens, paper, etc. Then we start.", ["Bring pens,", "paper, etc.", "Then we start."]),
    ("Bring pens and paper etc. and more.", ["Bring pens and paper etc. and more."]),
    ("Is it late? No. I left early.", ["Is it late?", "No.", "I left early."]),
    ("Please see No. 5 there.", ["Please see No. 5 there."]),
    ("It takes approx. five minutes.", ["It takes approx. five minutes."]),
    # B11: no space between sentences
    ("Part one.Part two is here.", ["Part one.", "Part two is here."]),
    ("Here is one more.Do you like it?A lot.", ["Here is one more.", "Do you like it?", "A lot."]),
    # B19, B34, A64, A65: lines
    ("A real sentence.\n\n", ["A real sentence."]),
    ("第一行\n\n\n第二行", ["第一行", "第二行"]),
    ("Hello.\nSecond line.\nThird.", ["Hello.", "Second line.", "Third."]),
    ("Red\nBlue\nGreen", ["Red", "Blue", "Green"]),
    # B25: lists
    ("1. Milk. Cold one.\n2. Bread\n3. Eggs", ["1. Milk.", "Cold one.", "2. Bread", "3. Eggs"]),
    # B31: no tiny first clause
    ("I, too, think so, yes.", ["I, too, think so,", "yes."]),
    ("好，我们走。", ["好，我们走。"]),
    # ellipses and quotes
    ("Wait... what? Ok.", ["Wait... what?", "Ok."]),
    ("Wait... What is it? Ok.", ["Wait...", "What is it?", "Ok."]),
    ('"Really?" he said. "Yes." And left.', ['"Really?" he said.', '"Yes."', "And left."]),
    # A56, A59: lone and stacked
    ("Ready? Let's go.", ["Ready?", "Let's go."]),
    ("测试，，", ["测试，，"]),
    # B19, B20, A57, A58: nothing to say
    ("", []),
    ("  \n\n ", []),
    ("……。！？", []),
    (", . ; :", []),
]


@pytest.mark.parametrize(("text", "expected"), WHOLE)
def test_whole_text(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize("text", [text for text, _ in WHOLE])
def test_every_cut_in_two_and_letter_by_letter(text: str) -> None:
    whole = segments(text)
    assert segments(*text) == whole
    for at in range(len(text)):
        assert segments(text[:at], text[at:]) == whole


pieces = st.sampled_from(
    ["Dr. ", "etc. ", "3", ".", "14", ", ", "a", "Hello", " world", "\n", "。", "你好", "，", "?", "! ", '"', ")",
     "...", "x.com", "No. ", "e.g. ", "1. ", " ", "Part", "::", "；", "—", "１，０", "😀", "*"]
)  # fmt: skip


@given(st.lists(pieces, max_size=60), st.integers(1, 7), st.integers(12, 80))
def test_any_cut_gives_the_same_segments(parts: list[str], step: int, longest: int) -> None:
    limits = SegmentLimits(longest=longest, clause_from=longest // 2)
    text = "".join(parts)
    whole = segments(text, limits=limits)
    assert segments(*parts, limits=limits) == whole
    assert segments(*(text[at : at + step] for at in range(0, len(text), step)), limits=limits) == whole


@given(st.lists(pieces, max_size=60), st.integers(12, 80))
def test_nothing_speakable_is_lost(parts: list[str], longest: int) -> None:
    text = "".join(parts)
    made = segments(*parts, limits=SegmentLimits(longest=longest))
    at = 0
    for segment in made:
        assert not any(c.isalnum() for c in text[at : segment.start])
        assert text[segment.start : segment.end] == segment.text == segment.text.strip() != ""
        assert segment.end - segment.start <= longest + 32, "a run of marks belongs to what it ends"
        at = segment.end
    assert not any(c.isalnum() for c in text[at:])


def test_offsets_count_code_points() -> None:
    assert segments("Nice 😀 day here. And", " more.")[1] == Segment("And more.", 17, 26, 0.45)


def test_a_sentence_is_spoken_as_soon_as_the_next_word_begins() -> None:
    segmenter = Segmenter()
    assert segmenter.push("It is a nice day.") == []
    assert [s.text for s in segmenter.push(" ")] == ["It is a nice day."]


def test_a_run_on_is_cut_between_words() -> None:
    made = texts("word " * 400)
    assert "".join(made).replace(" ", "") == "word" * 400
    assert all(len(text) <= 300 and set(text.split()) == {"word"} for text in made)


def test_a_long_sentence_is_cut_at_a_clause() -> None:
    text = "This is a clause of some length, " * 12 + "and this is its end."
    made = texts(text)
    assert all(t.endswith((",", ".")) for t in made)
    assert max(map(len, made)) < 300


def test_han_without_marks_is_cut_between_characters_never_in_a_number() -> None:
    made = texts("发现三个隐患点总计是１，０００円和GPT4模型" * 30)
    assert "".join(made) == "发现三个隐患点总计是１，０００円和GPT4模型" * 30
    for left, right in itertools.pairwise(made):
        assert not (left[-1].isdigit() and right[0] in "，０")
        assert not (left[-1].isascii() and right[0].isascii())


def test_flush_twice_gives_nothing_and_text_goes_on() -> None:
    segmenter = Segmenter()
    segmenter.push("a b c d e")
    assert [s.text for s in segmenter.flush()] == ["a b c d e"]
    assert segmenter.flush() == []
    segmenter.push(" f")
    assert segmenter.flush() == [Segment("f", 10, 11, 0.12)]


@pytest.mark.parametrize("text", ["It costs $3.14.", "That is it!", "你好。", "Good morning,", "He said etc."])
def test_what_is_complete_is_spoken_when_text_stops_coming(text: str) -> None:
    segmenter = Segmenter()
    assert segmenter.push(text) == []
    assert segmenter.waiting
    assert [s.text for s in segmenter.settle()] == [text]
    assert not segmenter.waiting
    assert segmenter.settle() == []


@pytest.mark.parametrize("text", ["I will call you ", "Dr", "1.", "and, ", "3", ""])
def test_half_a_clause_is_not(text: str) -> None:
    segmenter = Segmenter()
    segmenter.push(text)
    assert segmenter.settle() == []
    assert "".join(s.text for s in segmenter.flush()) == text.strip()


@pytest.mark.parametrize(
    ("text", "pause_s"),
    [("Well then,", 0.18), ("This: ", 0.28), ("Yes.", 0.45), ('"Yes."', 0.45), ("Yes\n", 0.6), ("yes", 0.12)],
)
def test_pauses_go_by_the_mark(text: str, pause_s: float) -> None:
    (segment,) = segments(text)
    assert segment.pause_s == pause_s


@pytest.mark.parametrize("text", ["a" * 200_000, "。" * 200_000, ", " * 100_000, "." * 200_000, "e.g. " * 40_000])
def test_hostile_text_takes_linear_time(text: str) -> None:
    made = segments(text)
    assert sum(len(segment.text) for segment in made) <= len(text)
    assert segments(*(text[at : at + 64] for at in range(0, len(text), 64))) == made
