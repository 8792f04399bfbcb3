"""The segmenter: what it gives for a text, and that no split into deltas changes it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.text.limits import SegmentLimits
from streaming.text.segment import Segment, Segmenter

SPEECH = (
    "I think so, yes. Dr. Smith came at 9:30 a.m. sharp, e.g. early. It costs $3.14. Thank you!",
    "今天我想给你讲一个故事，从前有座山。总计１，０００円，“真的？”他说。",
    "1. Milk. Cold one.\n2. Bread\n3. Eggs\n\nIs it first.last@example.com right? Part one.Part two",
    "用 ChatGPT, Claude 吧, 100% 好用……真的！ \U0001f600 ok… then — well - done",
    "He said “Stop!” Then (at 5 p.m. Monday) she left the U.S. Army. etc. and more, etc. Then we start.",
    "the quick brown fox jumps over the lazy dog and then it sleeps all day long in the sun because it is tired",
    "发现三个隐患点其中一个是电线老化另一个是楼道堆满杂物还有一个是消防通道被车占用总计１，０００円",
)

FRAGMENT_TABLE = (
    "Dr|. |Smith| |3|.|,|5 |a.m.|\n|你好|，|。|”|“|(|)|...|…|?|!|No|etc|The |and |$|-| - |—|:|：|１|x|今天天气不错"
    "|http://a.b/c?D|😀"
)
FRAGMENTS = st.sampled_from(FRAGMENT_TABLE.split("|"))


def segments(*deltas: str) -> list[Segment]:
    segmenter = Segmenter()
    found = [segment for delta in deltas for segment in segmenter.push(delta)]
    return found + segmenter.flush()


def texts(*deltas: str) -> list[str]:
    return [segment.text for segment in segments(*deltas)]


@pytest.mark.parametrize("text", SPEECH)
def test_every_single_cut_gives_the_same_segments(text: str) -> None:
    whole = segments(text)
    assert segments(*text) == whole
    for cut in range(len(text) + 1):
        assert segments(text[:cut], text[cut:]) == whole


@given(st.lists(FRAGMENTS, max_size=60).map("".join), st.data())
def test_any_split_gives_the_same_segments(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    deltas = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert segments(*deltas) == segments(text) == segments(*text)


@given(st.lists(FRAGMENTS, max_size=60).map("".join))
def test_nothing_speakable_is_lost(text: str) -> None:
    at = 0
    for segment in segments(text):
        assert segment.text == text[segment.start : segment.end]
        assert segment.text == segment.text.strip()
        assert not any(char.isalnum() for char in text[at : segment.start])
        at = segment.end
    assert not any(char.isalnum() for char in text[at:])


@given(st.lists(FRAGMENTS, max_size=30), st.integers(0, 30))
def test_settling_loses_nothing(fragments: list[str], when: int) -> None:
    segmenter = Segmenter()
    found: list[Segment] = []
    for number, fragment in enumerate(fragments):
        found += segmenter.push(fragment)
        found += segmenter.settle() if number == when else []
    found += segmenter.flush()
    source = "".join(fragments)
    assert [source[segment.start : segment.end] for segment in found] == [segment.text for segment in found]
    spoken = "".join(char for segment in found for char in segment.text if char.isalnum())
    assert spoken == "".join(filter(str.isalnum, source))


@pytest.mark.parametrize(
    ("case", "deltas", "expected"),
    [
        ("B01", ("The tea is $3", ".50 for a small one. "), ["The tea is $3.50 for a small one."]),
        ("B02", ("It costs $3.14.", " Thank you!"), ["It costs $3.14.", "Thank you!"]),
        ("B04", ("Is it first.", "last@example.com", " right?"), ["Is it first.last@example.com right?"]),
        ("B04", ("Write to (first.", "last@example.com) now."), ["Write to (first.last@example.com) now."]),
        (
            "B06",
            ("Dr", ". Smith came at 9", ":30 a.m. sharp, e", ".g. early."),
            ["Dr. Smith came at 9:30 a.m. sharp,", "e.g. early."],
        ),
        ("B08", ("What is ", "the weather today?"), ["What is the weather today?"]),
        ("B10", ("th", "e ban", "k is ze", "ro"), ["the bank is zero"]),
        ("B11", ("Part one.Part two",), ["Part one.", "Part two"]),
        ("B11", ("here is one more.Do you like it?A lot.",), ["here is one more.", "Do you like it?A lot."]),
        ("B11", ("Go to example.com or Example.COM today",), ["Go to example.com or Example.COM today"]),
        ("B14", ("Have a nice day!",), ["Have a nice day!"]),
        ("B16", ("a b c d e",), ["a b c d e"]),
        ("B19", ("A real sentence.\n\n",), ["A real sentence."]),
        ("B20", ("", " "), []),
        ("B22", ("总计１，０００円，谢谢大家",), ["总计１，０００円，", "谢谢大家"]),
        ("B23", ("It was 22,1 °C outside",), ["It was 22,1 °C outside"]),
        ("B23", ("There are 1,000 users",), ["There are 1,000 users"]),
        ("B23", ("Das sind 3,5 Prozent",), ["Das sind 3,5 Prozent"]),
        ("B25", ("1. Milk. Cold one.\n2. Bread\n3. Eggs",), ["1. Milk.", "Cold one.", "2. Bread", "3. Eggs"]),
        ("B27", ("Hello", "friend"), ["Hellofriend"]),
        ("B31", ("I", " ", "think so, yes."), ["I think so,", "yes."]),
        ("B34", ("第一行\n\n\n第二行",), ["第一行", "第二行"]),
        ("B35", ("你好，我是，小明，今年，八岁。",), ["你好，我是，", "小明，今年，八岁。"]),
        ("A26", ("Bring pens, paper, etc. Then we start.",), ["Bring pens,", "paper, etc. Then we start."]),
        ("A56", ("Ready?",), ["Ready?"]),
        ("A56", ("Ready? Let's go.",), ["Ready?", "Let's go."]),
        ("A57", ("……。！？",), []),
        ("A57", (", . ; :",), []),
        ("A58", ("   ", "\n\n"), []),
        ("A59", ("，测试",), ["测试"]),
        ("A64", ("Hello.\nSecond line.\nThird.",), ["Hello.", "Second line.", "Third."]),
        ("A65", ("Red\nBlue\nGreen\nYellow",), ["Red", "Blue", "Green", "Yellow"]),
        ("A78", ("table;table;桌子\nriver;河流\nlamp;灯",), ["table;table;", "桌子", "river;河流", "lamp;灯"]),
    ],
)
def test_case(case: str, deltas: tuple[str, ...], expected: list[str]) -> None:
    assert texts(*deltas) == expected


def test_b02_a_decimal_at_the_end_is_said_when_text_stops() -> None:
    segmenter = Segmenter()
    assert segmenter.push("It costs $3.14.") == []
    assert [segment.text for segment in segmenter.settle()] == ["It costs $3.14."]
    assert segmenter.push(" Thank you!") == []
    assert [segment.text for segment in segmenter.flush()] == ["Thank you!"]


def test_b06_a_title_is_never_said_alone() -> None:
    segmenter = Segmenter()
    assert segmenter.push("Dr.") == segmenter.settle() == []
    assert segmenter.waiting


def test_b17_flush_is_idempotent_and_text_goes_on() -> None:
    segmenter = Segmenter()
    assert segmenter.push("One two.") == []
    assert segmenter.flush() == [Segment("One two.", 0, 8, 0.45)]
    assert segmenter.flush() == []
    assert segmenter.push(" More\n") == [Segment("More", 9, 13, 0.6)]


def test_b24_a_growing_sentence_is_left_alone() -> None:
    segmenter = Segmenter()
    assert segmenter.push("I will call you ") == segmenter.settle() == []
    assert segmenter.push("tomorrow.") == []
    assert [segment.text for segment in segmenter.settle()] == ["I will call you tomorrow."]


def test_b24_settling_ends_at_the_last_clause() -> None:
    segmenter = Segmenter()
    segmenter.push("Good morning, everyone. Yes. This was a long but quiet night, and I will")
    assert [segment.text for segment in segmenter.settle()] == ["everyone. Yes. This was a long but quiet night,"]
    assert [segment.text for segment in segmenter.flush()] == ["and I will"]


def test_waiting_is_about_words() -> None:
    segmenter = Segmenter()
    assert not segmenter.waiting
    segmenter.push(" ... ")
    assert not segmenter.waiting
    segmenter.push("so")
    assert segmenter.waiting
    segmenter.flush()
    assert not segmenter.waiting


def test_a_sentence_leaves_with_the_space_behind_it() -> None:
    segmenter = Segmenter()
    assert [segment.text for segment in segmenter.push("All is well. ")] == ["All is well."]
    assert [segment.text for segment in segmenter.push("你在做什么？我")] == ["你在做什么？"]


def test_pauses_that_were_asked_for() -> None:
    segmenter = Segmenter()
    segmenter.ask_pause(5, 1.5)
    segmenter.ask_pause(6, 0.5)
    segmenter.ask_pause(21, 3.0)
    found = segmenter.push("Hello\n\nAnd a sentence.\n") + segmenter.flush()
    assert [(segment.text, segment.lead_s, segment.pause_s) for segment in found] == [
        ("Hello", 0.0, 1.5),
        ("And a sentence.", 0.5, 0.6),
    ]
    segmenter.ask_pause(23, 2.0)
    assert [(segment.lead_s, segment.pause_s) for segment in segmenter.push("\n\nBye\n")] == [(1.4, 0.6)]


def test_a60_long_run_ons_are_cut_between_words() -> None:
    words = [f"word{number}" for number in range(400)]
    found = texts(" ".join(words))
    assert " ".join(found).split() == words
    assert max(map(len, found)) <= 260
    han = "我们今天在公园里看见很多小朋友" * 40
    pieces = texts(han)
    assert "".join(pieces) == han
    assert len(pieces[0]) <= 8
    assert max(map(len, pieces)) <= 60


def test_a_run_on_is_never_cut_inside_a_number() -> None:
    text = "一二三四五六七１２３４５６７８９" * 10
    assert all(piece[0] == "一" or not piece[0].isdigit() for piece in texts(text))
    assert not any(piece[-1].isdigit() for piece in texts(text)[:-1])


def test_a_token_without_end_is_cut_in_the_end() -> None:
    assert "".join(texts("a" * 5000)) == "a" * 5000
    assert max(map(len, texts("a" * 5000))) <= 1000


def test_closing_quotes_belong_to_their_sentence() -> None:
    assert texts("He said “Please stop!” Then he left.") == ["He said “Please stop!”", "Then he left."]
    assert texts("他说：“你在做什么？”然后走了。") == ["他说：“你在做什么？”", "然后走了。"]


def test_pauses_follow_the_mark() -> None:
    found = segments("Well then, my friends; this is what it is: a long day\nNow it ends. Bye")
    assert [(segment.text, segment.pause_s) for segment in found] == [
        ("Well then,", 0.18),
        ("my friends; this is what it is: a long day", 0.6),
        ("Now it ends. Bye", 0.12),
    ]


@pytest.mark.parametrize("unit", ["a", "(", "[", ".", " ", "a. ", "1 ", "汉", "Dr. ", ",", "a ", "-"])
def test_time_is_linear(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        segmenter = Segmenter()
        start = time.process_time()
        for char in text:
            segmenter.push(char)
        return time.process_time() - start

    seconds(2_000)
    assert seconds(20_000) < 40 * max(seconds(2_000), 0.01)


def test_limits_must_rise() -> None:
    with pytest.raises(ValueError, match="must rise"):
        SegmentLimits(first_min=9, first_max=8)
    with pytest.raises(ValueError, match="must rise"):
        SegmentLimits(cjk_min=9, cjk_clause=8)
