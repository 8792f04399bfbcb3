"""How a context's text is read: options, controls, silences, what is left out, long text, and `/v1/explain`."""

from pathlib import Path

import httpx
import pytest

from firstword.client import connect
from firstword.protocol import (
    EndReason,
    ErrorCode,
    LexiconEntry,
    MessageError,
    Open,
    ParamValue,
    parse_client,
    serialize,
)
from server.events import Audio, Ended, Event, Opened, Refused, SegmentStarted, Skipped
from server.host import ContextOptions
from server.lexicon_file import LexiconFile
from server.protocols.native import options_of
from streaming.engine import SpeechParams
from streaming.parameter import Parameter
from streaming.text.lexicon import LexiconError
from tests.conftest import Serve
from tests.doubles import RATE
from tests.server.test_session import PCM, Bench, audio, ended


def said(bench: Bench, opening: Open, *deltas: str) -> list[str]:
    """What the engine is given for a context that is opened like this."""
    bench.session.open("a", options_of(opening))
    for delta in deltas:
        bench.session.text("a", delta)
    bench.session.end("a")
    return [request.text for request in bench.speech.submitted]


@pytest.mark.parametrize(
    ("opening", "text", "spoken"),
    [
        (Open(context="a"), "Good 👍 at https://a.com/b", "Good at a dot com"),
        (Open(context="a", emoji="name"), "Good 👍", "Good thumbs up"),
        (Open(context="a", urls="full"), "See a.com/b", "See a dot com slash b"),
        (Open(context="a", urls="word"), "See a.com/b", "See link"),
        (Open(context="a", lexicon=(LexiconEntry(word="SQL", say="sequel"),)), "My sql", "My sequel"),
        (Open(context="a", lexicon=(LexiconEntry(word="SQL", say="sequel", exact=True),)), "My sql", "My sql"),
        (Open(context="a", lexicon=(LexiconEntry(word="重庆", say="崇庆", language="zh"),)), "在重庆", "在崇庆"),
        (Open(context="a", voice="bass"), "7", "seven"),
        (Open(context="a", voice="bass", language="zh-CN"), "7", "七"),
    ],
)
def test_a_context_is_read_as_it_asks(opening: Open, text: str, spoken: str) -> None:
    bench = Bench()
    assert said(bench, opening, text) == said(bench := Bench(), opening, *text) == [spoken]


def test_an_engine_gets_the_controls_it_knows() -> None:
    bench = Bench()
    assert said(bench, Open(context="a"), "So [laugh] funny") == ["So funny"]
    bench = Bench()
    bench.speech.controls = frozenset({"laugh"})
    assert said(bench, Open(context="a"), "So [laugh] funny [lbreak] [Ebreak]") == ["So [laugh] funny"]


def test_a_lexicon_in_open_is_checked() -> None:
    with pytest.raises(MessageError, match="at most 200 items"):
        parse_client('{"type":"open","context":"a","lexicon":[' + ",".join(['{"word":"a","say":"b"}'] * 201) + "]}")
    with pytest.raises(MessageError, match=r"lexicon\[0\]\.say.* is missing"):
        parse_client('{"type":"open","context":"a","lexicon":[{"word":"a"}]}')
    with pytest.raises(MessageError, match="at most 64 characters"):
        parse_client('{"type":"open","context":"a","lexicon":[{"word":"' + "a" * 65 + '","say":"b"}]}')
    with pytest.raises(MessageError, match="the language of 'a' is en, zh or any"):
        options_of(Open(context="a", lexicon=(LexiconEntry(word="a", say="b", language="fr"),)))


def test_the_servers_lexicon_is_read_again_for_new_contexts_only(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text("SQL\tsequel\nGIF\tjif\n")
    file = LexiconFile(path)
    bench = Bench(lexicon=lambda: file.lexicon)
    bench.session.text("running", "This is one SQL. ")
    path.write_text("SQL\tsquirrel\n")
    file.reload()
    bench.session.text("running", "And this is another SQL. ")
    bench.session.open("new", ContextOptions(format=PCM.format))
    bench.session.text("new", "This is a SQL and a GIF. ")
    path.write_text("SQL\n")
    file.reload()
    own = options_of(Open(context="own", lexicon=(LexiconEntry(word="SQL", say="database"),)))
    bench.session.open("own", own)
    bench.session.text("own", "This is a SQL. ")
    for name in ("running", "new", "own"):
        bench.session.end(name)
    assert sorted(request.text for request in bench.speech.submitted) == [
        "And this is another sequel.",
        "This is a database.",
        "This is a squirrel and a gif.",
        "This is one sequel.",
    ]
    with pytest.raises(LexiconError, match="line 1: write a word"):
        LexiconFile(path)


def test_a_break_is_silence_of_its_length() -> None:
    bench = Bench(defaults=PCM)
    text = '<break time="500ms"/>One<break time="2s"/>two of all of them. <break time="1s"/>'
    bench.session.text("a", text)
    bench.session.end("a")
    bench.speech.speak_all()
    events = bench.events()
    first, second = [event.first_sample for event in events if isinstance(event, SegmentStarted)]
    pauses = [request.pause_s for request in bench.speech.submitted]
    assert (first, pauses) == (RATE // 2, [2.0, 0.45])
    assert second == first + 3 * 480 + 2 * RATE
    samples = second + 19 * 480 + round(0.45 * RATE) + round(0.55 * RATE)
    assert ended(events) == Ended("a", EndReason.COMPLETED, samples, text, 0.0)
    assert len(audio(events)) == 2 * samples


def test_everything_left_out_is_told_once() -> None:
    bench = Bench()
    text = "<think>a</think>Hello ไทย there.\nไทย.\nBye now.\nไทย\n<think>b</think>"
    bench.session.text("a", text)
    bench.session.end("a")
    bench.speech.speak_all()
    events = bench.events()
    told = [event.skipped for event in events if isinstance(event, SegmentStarted)]
    assert told == [
        (Skipped(0, 16, "think"), Skipped(22, 25, "unsupported")),
        (Skipped(33, 36, "unsupported"),),
    ]
    assert ended(events).skipped == (Skipped(47, 50, "unsupported"), Skipped(51, 67, "think"))


def test_what_was_left_out_is_told_when_nothing_is_said() -> None:
    bench = Bench()
    bench.session.text("a", "<think>never ends")
    bench.session.end("a")
    assert ended(bench.events()).skipped == (Skipped(0, 17, "think"),)


def test_long_text_is_read_between_other_work() -> None:
    bench = Bench(defaults=PCM)
    text = "This is a sentence like many others. " * 200
    bench.session.text("long", text)
    bench.session.flush("long")
    bench.session.text("long", "And this is the end.")
    bench.session.end("long")
    bench.session.text("short", "Hello there. ")
    assert [request.text for request in bench.speech.submitted][-1] == "Hello there."
    events: list[Event] = []
    while bench.session.contexts:
        assert bench.session.due_at() == bench.clock() or bench.speech.live
        bench.session.end("short")
        bench.speech.speak_all()
        bench.session.settle()
        bench.clock.now += 100.0
        events += bench.events()
    spoken = {event.context: event.spoken for event in events if isinstance(event, Ended)}
    assert spoken == {"long": text + "And this is the end.", "short": "Hello there. "}
    starts = [event.text for event in events if isinstance(event, SegmentStarted) and event.context == "long"]
    assert starts == ["This is a sentence like many others."] * 200 + ["And this is the end."]


def test_a_long_text_can_be_cancelled_while_it_is_read() -> None:
    bench = Bench(defaults=PCM)
    bench.session.text("a", "This is a sentence like many others. " * 200)
    bench.session.end("a")
    bench.session.cancel("a")
    assert bench.session.due_at() is None
    assert [type(event) for event in bench.events() if not isinstance(event, Audio)] == [Opened, Ended]


async def test_left_out_text_goes_over_the_wire(serve: Serve) -> None:
    server = await serve()
    async with connect(server.url) as tts:
        context = tts.context(codec="pcm_s16le", lexicon=(LexiconEntry(word="there", say="you"),), emoji="name")
        await context.send("Hello there. <think>x")
        await context.end()
        events = [event async for event in context]
    last = events[-1]
    assert [(skip.start, skip.end, skip.reason) for skip in last.skipped] == [(13, 21, "think")]  # type: ignore[union-attr]


async def test_explain_shows_what_would_be_spoken(serve: Serve) -> None:
    server = await serve(keys=("a-key-of-many-letters",))
    async with httpx.AsyncClient(base_url=server.http, headers={"x-api-key": "a-key-of-many-letters"}) as http:
        answer = (await http.post("/v1/explain", json={"text": "**It** is $5.ไทย", "urls": "word"})).json()
        assert answer == {
            "voice": "alto",
            "alphabet": "chinese-and-english",
            "segments": [
                {
                    "start": 2,
                    "end": 16,
                    "runs": [{"language": "en", "text": "It is $5.ไทย"}],
                    "stages": [
                        {"stage": "source", "text": "**It** is $5.ไทย"},
                        {"stage": "markup", "text": "It is $5.ไทย"},
                        {"stage": "numbers", "text": "It is five dollars.ไทย"},
                        {"stage": "alphabet", "text": "It is five dollars."},
                    ],
                    "spoken": "It is five dollars.",
                    "lead_ms": 0,
                    "pause_ms": 120,
                    "skipped": [{"start": 13, "end": 16, "text": "ไทย", "reason": "unsupported"}],
                }
            ],
            "skipped": [],
        }
        for body, status, sentence in (
            ({"text": "hi", "voice": "nobody"}, 400, "There is no voice 'nobody'"),
            ({"text": "hi", "emoji": "loud"}, 400, "must be one of silent, name"),
            ({"words": "hi"}, 400, "with a `text`"),
            ({"text": "a" * 10_001}, 413, "At most 10000 characters"),
            ({"text": "a" * 70_000}, 413, "at most 65536 bytes"),
        ):
            refused = await http.post("/v1/explain", json=body)
            assert (refused.status_code, sentence in refused.json()["error"]) == (status, True)
        assert (await http.post("/v1/explain", content=b"{")).status_code == 400
        assert (await http.post("/v1/explain", json={}, headers={"x-api-key": "wrong"})).status_code == 401


def test_codes_of_refusals_are_ours() -> None:
    with pytest.raises(MessageError) as caught:
        options_of(Open(context="a", lexicon=(LexiconEntry(word=" ", say="b"),)))
    assert caught.value.code is ErrorCode.BAD_MESSAGE


HEAT = Parameter("temperature", 0.3, 0.01, 2.0, "How freely.", parts=4)


@pytest.mark.parametrize(
    ("params", "reaches"),
    [
        (None, ()),
        ({"temperature": 1}, (("temperature", 1.0),)),
        ({"temperature": (0.1, 0.2, 0.3, 0.4)}, (("temperature", (0.1, 0.2, 0.3, 0.4)),)),
    ],
)
def test_parameters_reach_the_engine(params: dict[str, ParamValue] | None, reaches: object) -> None:
    bench = Bench()
    bench.speech.parameters = (HEAT,)
    said(bench, Open(context="a", params=params, seed=4), "Hello.")
    assert [request.params for request in bench.speech.submitted] == [SpeechParams(seed=4, options=reaches)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("there", "params", "says"),
    [
        ((HEAT,), {"heat": 1.0}, "`open.params`: the engine has no parameter 'heat'; it has temperature."),
        ((HEAT,), {"temperature": 9.0}, "`open.params`: temperature must be from 0.01 to 2, not 9.0."),
        ((), {"temperature": 0.5}, "`open.params`: the engine has no parameter 'temperature'; it has none."),
    ],
)
def test_parameters_that_the_engine_lacks_are_refused(
    there: tuple[Parameter, ...], params: dict[str, ParamValue], says: str
) -> None:
    bench = Bench()
    bench.speech.parameters = there
    said(bench, Open(context="a", params=params), "Hello.")
    refused = bench.session.take()
    assert isinstance(refused, Refused)
    assert (refused.code, refused.message, refused.context) == (ErrorCode.INVALID_PARAMS, says, "a")
    assert not bench.speech.submitted


def test_parameters_are_numbers_on_the_wire() -> None:
    opening = parse_client('{"type":"open","context":"a","params":{"top_k":5,"temperature":[0.5,1]}}')
    assert opening == Open(context="a", params={"top_k": 5, "temperature": (0.5, 1)})
    assert parse_client(serialize(opening)) == opening
    for wrong in ('{"top_k":"5"}', '{"top_k":true}', '{"top_k":null}', '{"top_k":[[1]]}', "[1]", '"x"'):
        with pytest.raises(MessageError, match=r"`open\.params"):
            parse_client(f'{{"type":"open","context":"a","params":{wrong}}}')
    many = ",".join(f'"p{number}":1' for number in range(33))
    with pytest.raises(MessageError, match=r"`open\.params` must be at most 32 items"):
        parse_client(f'{{"type":"open","context":"a","params":{{{many}}}}}')
