"""The whole front end: what is said for every reported failure, however the text is cut."""

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.text.alphabet import CHATTTS, ENGLISH, Skip
from streaming.text.explain import Run, clean, explain
from streaming.text.front import TextFront
from streaming.text.lexicon import Lexicon, LexiconError
from streaming.text.mapped import Link
from streaming.text.segment import Segment
from streaming.text.speak import TextOptions
from tests.streaming.text.cases import CASES, Case

PIECES = [case.deltas[0] for case in CASES] + [
    "**",
    "*",
    "`",
    "```",
    "<b>",
    "</b>",
    "<think>",
    "</think>",
    "[a](b)",
    "[",
]
MIXED = st.lists(
    st.sampled_from([*PIECES, "]", "&amp;", "&", "\n", "- ", "# ", "|", " ", "\ud83d", "\ude00", "😀"]), max_size=12
)

HOSTILE = (
    r"a|[|(|<|&|*|_a|`|<b>|**a|![|[a](|<!--|1|1,|1/|9:|$|-1|A|汉|😀|\frac{|a.|a@|http://|#|a_|<think>|％|x^|<b><i>|[[a](b)]("
    r"|1.1.|1-|IV |A&|$1-|a@a.|x²|call 123 or |2点|1~|<a b=|&#1;|'1|1 /|\sqrt{|Louis I|,"
)


def segments(*deltas: str, options: TextOptions | None = None) -> list[Segment]:
    front = TextFront(options)
    found = [segment for delta in deltas for segment in front.push(delta)]
    return found + front.flush()


def spoken(*deltas: str, options: TextOptions | None = None) -> list[str]:
    return [segment.spoken for segment in segments(*deltas, options=options)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.kind}")
def test_case(case: Case) -> None:
    assert [said for said in spoken(*case.deltas) if said] == list(case.spoken)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.kind}")
def test_every_single_cut_gives_the_same(case: Case) -> None:
    text = "".join(case.deltas)
    whole = segments(text)
    for cut in range(len(text) + 1):
        assert segments(text[:cut], text[cut:]) == whole
    assert segments(*text) == whole


@given(MIXED.map("".join), st.data())
def test_any_split_gives_the_same(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    deltas = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert segments(*deltas) == segments(text) == segments(*text)


OPTIONS = st.sampled_from(
    [
        TextOptions(emoji="name", urls="full"),
        TextOptions(languages=("zh", "en"), urls="word", controls=frozenset(["laugh", "lbreak"])),
        TextOptions(lexicon=Lexicon.parse(["hello there\they", "的\t得", "PAGE\tleaf\ten\texact", "1\tuno"])),
        TextOptions(languages=("en",), alphabet=ENGLISH),
        TextOptions(alphabet=CHATTTS, controls=frozenset(["uv_break"]), emoji="name"),
    ]
)
CONTROLLED = st.sampled_from(
    [*PIECES, "[laugh]", "[uv_break]", "[lbreak", "]", '<break time="', '1s"/>', "<break/>", "😀", "Hello there", "的"]
)


@given(st.lists(CONTROLLED, max_size=10).map("".join), OPTIONS, st.data())
def test_any_split_gives_the_same_with_every_option(text: str, options: TextOptions, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    deltas = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole, front = segments(text, options=options), TextFront(options)
    found = [segment for delta in deltas for segment in front.push(delta)] + front.flush()
    assert found == whole == segments(*text, options=options)
    assert front.text == text
    skipped = [*(skip for segment in found for skip in segment.skipped), *front.unreported()]
    assert all(0 <= skip.start < skip.end <= len(text) for skip in skipped)
    assert len(set(skipped)) == len(skipped)


@given(MIXED.map("".join))
def test_the_mapping_covers_what_is_spoken_and_stays_in_its_segment(text: str) -> None:
    end = 0
    for segment in segments(text):
        assert segment.start >= end
        end = segment.end
        assert [link.spoken_start for link in segment.mapping] == [
            0,
            *[link.spoken_end for link in segment.mapping[:-1]],
        ][: len(segment.mapping)]
        assert not segment.spoken or segment.mapping[-1].spoken_end == len(segment.spoken)
        assert all(segment.start <= link.start < link.end <= segment.end for link in segment.mapping)


def test_the_mapping_leads_from_words_to_their_source() -> None:
    [segment] = segments("It is **$5** now.")
    assert segment.spoken == "It is five dollars now."
    assert segment.mapping == (Link(0, 6, 0, 6), Link(6, 18, 8, 10), Link(18, 23, 12, 17))


def test_what_an_engine_cannot_read_is_reported() -> None:
    options = TextOptions(languages=("en",), alphabet=ENGLISH)
    [segment] = segments("I like 北京 a lot", options=options)
    assert (segment.spoken, segment.skipped) == ("I like a lot", (Skip("北京", 7, 9, "unsupported"),))
    [unreadable] = segments("مرحبا", options=options)
    assert (unreadable.spoken, unreadable.mapping, unreadable.skipped) == (
        "",
        (),
        (Skip("مرحبا", 0, 5, "unsupported"),),
    )


def test_english_engines_read_numbers_in_english_and_spell_with_dots() -> None:
    options = TextOptions(languages=("en",), alphabet=ENGLISH)
    assert spoken("Ask the FBI about AI at 9 a.m. sharp — “now”…", options=options) == [
        "Ask the F.B.I. about A.I. at nine A.M. sharp,",
        '"now"...',
    ]


def test_chattts_gets_the_few_marks_it_knows() -> None:
    options = TextOptions(alphabet=CHATTTS)
    assert spoken("I’m sure it’s fine; they don't, won't; can't! Ana's dog?", options=options) == [
        "I am sure it is fine,",
        "they do not, will not, cannot.",
        "Anas dog.",
    ]
    assert spoken("“真的吗？”他说：“5:02！”", options=options) == ["真的吗。", "他说，五点零二分。"]


def test_hidden_blocks_are_reported_with_the_segment_behind_them() -> None:
    first, second = segments("Well, hello there. <think>plan</think>And this is the answer.")
    assert first.skipped == ()
    assert second.skipped == (Skip("", 19, 38, "think"),)


def test_hidden_blocks_at_the_end_are_reported_after_the_flush() -> None:
    front = TextFront()
    front.push("Hello.\n```\nx = 1\n```")
    front.flush()
    assert front.unreported() == (Skip("", 7, 20, "code"),)
    assert front.unreported() == ()


def test_allowed_controls_go_through_and_others_do_not() -> None:
    options = TextOptions(controls=frozenset(["laugh", "uv_break"]))
    assert spoken("So funny [laugh] 5 [uv_break] and [lbreak] done [speed_9].", options=options) == [
        "So funny [laugh] five [uv_break] and done."
    ]
    assert spoken("So [laugh] funny") == ["So funny"]


def test_surrogate_halves_are_joined_and_count_once() -> None:
    front = TextFront()
    [first] = front.push("one \ud83d") + front.push("\ude00 two\n")
    assert (first.text, first.start, first.end, front.text) == ("one 😀 two", 0, 9, "one 😀 two\n")
    [second] = front.push("a\ude00b\ud83d") + front.flush()
    assert (second.text, second.start, second.end, front.text) == ("ab", 10, 13, "one 😀 two\na\ufffdb\ufffd")


@pytest.mark.parametrize(
    ("text", "pauses"),
    [
        ('Hello<break time="1500ms"/>there.', [(0.0, 1.5), (0.0, 0.45)]),
        ("Hello <break time='2s' />there.", [(0.0, 2.0), (0.0, 0.45)]),
        ('Hello <break strength="weak"/> <break/> there.', [(0.0, 0.2), (0.4, 0.45)]),
        ('<speak><break time="1s"/>Hello</speak>', [(1.0, 0.12)]),
        ('All is well. <break time="1s"/>Hello', [(0.0, 0.45), (0.55, 0.12)]),
        ('All is well. <break time="100ms"/>Hello', [(0.0, 0.45), (0.0, 0.12)]),
        ('A long <break strength="none"/>way', [(0.0, 0.12)]),
        ('Hello<break time="99999s"/>there', [(0.0, 10.0), (0.0, 0.12)]),
        ('<break time="9s"/>' * 5 + "Hello", [(10.0, 0.12)]),
        ('Hello<break time="soon"/>there', [(0.0, 0.4), (0.0, 0.12)]),
    ],
)
def test_breaks_are_silences(text: str, pauses: list[tuple[float, float]]) -> None:
    found = segments(text)
    assert [(round(segment.lead_s, 3), segment.pause_s) for segment in found] == pauses
    assert segments(*text) == found


def test_a_break_behind_the_last_word_is_owed() -> None:
    front = TextFront()
    [segment] = front.push('All is well. <break time="2s"/>') + front.flush()
    assert (segment.pause_s, round(front.owed_s, 3)) == (0.45, 1.55)


def test_emoji_can_be_said() -> None:
    assert spoken("Good 👍🏽 morning", options=TextOptions(emoji="name")) == ["Good thumbs up medium skin tone morning"]
    assert spoken("很好👍", options=TextOptions(emoji="name"))[0].startswith("很好")


def test_links_can_be_said_in_full_or_as_a_word() -> None:
    text = "See https://example.com/docs now"
    assert spoken(text, options=TextOptions(urls="full")) == ["See example dot com slash docs now"]
    assert spoken(text, options=TextOptions(urls="word")) == ["See link now"]


def test_a_lexicon_decides_how_words_are_said() -> None:
    lexicon = Lexicon.parse(["# comment", "SQL\tsequel", "lead\tled\ten\texact", "重庆\t崇庆\tzh"])
    options = TextOptions(lexicon=lexicon)
    assert spoken("Sql and lead and Lead, MySQL", options=options) == ["sequel and led and Lead,", "My S-Q-L"]
    assert spoken("我在重庆住", options=options) == ["我在崇庆住"]
    assert spoken("SQL", options=TextOptions(lexicon=lexicon + Lexicon.parse(["SQL\tsquirrel"]))) == ["squirrel"]


@pytest.mark.parametrize("line", ["word", "word\t", "a\tb\tfr", "a\tb\ten\tloose"])
def test_a_bad_lexicon_line_is_named(line: str) -> None:
    with pytest.raises(LexiconError, match="line 1: "):
        Lexicon.parse([line])


@pytest.mark.parametrize("options", [{"languages": ("fr",)}, {"languages": ()}, {"emoji": "loud"}, {"urls": "no"}])
def test_options_are_checked(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="|".join(options)):
        TextOptions(**options)  # type: ignore[arg-type]


def test_settling_and_flushing() -> None:
    front = TextFront()
    assert front.push("It costs $3.14.") == []
    assert front.waiting
    assert [segment.spoken for segment in front.settle()] == ["It costs three dollars fourteen."]
    assert front.push(" I will call you ") == front.settle() == []
    assert [segment.spoken for segment in front.flush()] == ["I will call you"]
    assert front.flush() == []
    assert not front.waiting
    [last] = front.push("tomorrow at 5 p.m. sharp\n")
    assert (last.spoken, last.start) == ("tomorrow at five P-M sharp", 32)


@pytest.mark.parametrize(
    "text", ["Hello there!", "How are you?", "All is **well.**", "“Please stop!”", "真的吗！", "你好吗？"]
)
def test_a_sentence_at_the_end_is_said_when_text_stops(text: str) -> None:
    front = TextFront()
    assert front.push(text) == []
    assert [segment.text for segment in front.settle()] == [text.replace("*", "")]


def test_explaining_shows_the_stages() -> None:
    explained = explain("<think>x</think>**FBI** prof\u00adit 5\n```\ny\n```")
    [explanation] = explained.segments
    assert [(step.stage, step.text) for step in explanation.steps] == [
        ("source", "<think>x</think>**FBI** prof\u00adit 5"),
        ("sanitise", "<think>x</think>**FBI** profit 5"),
        ("markup", "FBI profit 5"),
        ("numbers", "FBI profit five"),
        ("names", "F-B-I profit five"),
    ]
    assert explanation.segment.skipped == (Skip("", 0, 16, "think"),)
    assert explained.skipped == (Skip("", 34, 43, "code"),)
    assert clean("<b>a</b> &amp; **b**") == "a & b"


def test_explaining_shows_the_languages_of_a_segment() -> None:
    [first, second] = explain("他说Let's go to the park at 5 pm，好吗").segments
    assert first.runs == (Run("zh", "他说"), Run("en", "Let's go to the park at 5 pm"), Run("zh", "，"))
    assert second.runs == (Run("zh", "好吗"),)


def cpu_s(text: str) -> float:
    start = time.process_time()
    segments(text)
    return time.process_time() - start


@pytest.mark.parametrize("unit", [*HOSTILE.split("|"), "|", "\n", "\ud83d", "e\u0301", "A ", "1年"])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    small, large = (unit * (size // len(unit)) for size in (1_000, 10_000))
    cpu_s(small)
    assert cpu_s(large) < 40 * max(cpu_s(small), 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["[" * 100_000, "(" * 50_000 + ")" * 50_000, "<b>" * 20_000 + "</b>" * 10_000])
def test_a_hundred_thousand_brackets_take_linear_time(text: str) -> None:
    assert cpu_s(text) < 40 * max(cpu_s(text[: len(text) // 10]), 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("char", ["a", "1", ",", "[", "汉", " "])
def test_a_million_characters_take_linear_time(char: str) -> None:
    small = cpu_s(char * 100_000)
    assert cpu_s(char * 1_000_000) < 40 * max(small, 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("char", ["a", "1", ",", "[", "汉", " "])
def test_of_long_text_little_more_than_itself_is_kept(char: str) -> None:
    front, text = TextFront(), char * 10_000
    tracemalloc.start()
    for _ in range(10):
        front.push(text)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 8 * 100_000, "the text itself, twice at most, and what the next segment needs"
