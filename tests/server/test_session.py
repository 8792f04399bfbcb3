"""The session core, driven with literal values: no socket, no engine, time moved by hand."""

import itertools
from collections.abc import Callable

import pytest

from firstword.protocol import EndReason, ErrorCode
from server.audio.format import AudioFormat
from server.audio.pool import InlineEncoders
from server.events import Audio, Ended, Event, Flushed, Opened, Refused, SegmentStarted, SegmentTimed
from server.host import ContextOptions, Host, SessionLimits
from server.session import Session
from server.voices import VoiceRegistry
from streaming.engine import Pace, SegmentRequest
from streaming.text.lexicon import Lexicon
from tests.doubles import INFO, RATE, Clock, FakeSpeech

PCM = ContextOptions(format=AudioFormat("pcm_s16le", RATE))


class Bench:
    """A session and everything around it."""

    def __init__(
        self,
        limits: SessionLimits = SessionLimits(),
        defaults: ContextOptions = PCM,
        lexicon: Callable[[], Lexicon] = Lexicon,
    ) -> None:
        self.clock = Clock()
        self.speech = FakeSpeech()
        self.wakes = 0
        host = Host(
            clock=self.clock,
            encoders=InlineEncoders(),
            speech=self.speech,
            voices=VoiceRegistry(lambda: INFO),
            limits=limits,
            lexicon=lexicon,
        )
        self.session = Session(host, self._woken, defaults)

    def _woken(self) -> None:
        self.wakes += 1

    def events(self) -> list[Event]:
        """Everything that may be sent now."""
        return list(iter(self.session.take, None))

    def told(self, *kinds: type[Event]) -> list[Event]:
        """Of what may be sent now, these kinds."""
        return [event for event in self.events() if isinstance(event, kinds)]


def audio(events: list[Event]) -> bytes:
    return b"".join(event.data for event in events if isinstance(event, Audio))


def ended(events: list[Event]) -> Ended:
    (event,) = [event for event in events if isinstance(event, Ended)]
    assert events[-1] is event
    return event


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_one_reply_from_first_word_to_end(bench: Bench) -> None:
    bench.session.text("a", "Hello there. ")
    bench.session.end("a")
    bench.speech.speak_all()
    events = bench.events()
    kinds = [type(event) for event in events if not isinstance(event, Audio)]
    assert kinds == [Opened, SegmentStarted, SegmentTimed, Ended]
    opened, started = events[0], events[1]
    assert opened == Opened("a", 0, INFO.voices[0], PCM.format, 480, 0)
    assert started == SegmentStarted("a", 0, "Hello there.", 0, 12, 0)
    (request,) = bench.speech.submitted
    assert (request.text, request.index, request.voice) == ("Hello there.", 0, "alto")
    samples = 12 * 480 + round(request.pause_s * RATE)
    assert ended(events) == Ended("a", EndReason.COMPLETED, samples, "Hello there. ", 0.0)
    assert len(audio(events)) == 2 * samples


def test_packets_are_numbered_and_marked(bench: Bench) -> None:
    bench.session.text("a", "Hello there.")
    bench.session.end("a")
    bench.speech.speak_all()
    packets = [event for event in bench.events() if isinstance(event, Audio)]
    assert [p.sequence for p in packets] == list(range(len(packets)))
    assert [p.first for p in packets] == [True] + [False] * (len(packets) - 1)
    assert [p.last for p in packets] == [False] * (len(packets) - 1) + [True]
    assert all(a.first_sample + a.samples == b.first_sample for a, b in itertools.pairwise(packets))


def test_segments_are_played_in_order_whatever_order_they_are_made_in(bench: Bench) -> None:
    bench.session.text("a", "One is here. Two is here too. Three is the last.")
    bench.session.end("a")
    first, *later = [r.request_id for r in bench.speech.live]
    for request_id in reversed(later):
        bench.speech.speak(request_id)
    assert bench.told(Audio, SegmentStarted) == []
    bench.speech.speak(first)
    bench.speech.speak_all()
    started = bench.told(SegmentStarted)
    assert [e.index for e in started if isinstance(e, SegmentStarted)] == list(range(len(started)))


def test_deltas_may_be_cut_anywhere(bench: Bench) -> None:
    text = "Good morning, it is nice to be here. It costs $3.50 😀 today. Bye!"
    bench.session.text("whole", text)
    bench.session.end("whole")
    bench.speech.speak_all()
    whole = bench.events()
    for character in text.encode("utf-16-le", "surrogatepass").decode("utf-16-le"):
        bench.session.text("cut", character)
    bench.session.end("cut")
    bench.speech.speak_all()
    assert audio(bench.events()) == audio(whole)


def test_half_a_character_is_joined_with_its_other_half(bench: Bench) -> None:
    for delta in ("Nice \ud83d", "\ude00 day. "):
        bench.session.text("a", delta)
    bench.session.end("a")
    bench.speech.speak_all()
    events = bench.events()
    assert ended(events).spoken == "Nice 😀 day. "
    assert [(e.start, e.end) for e in events if isinstance(e, SegmentStarted)] == [(0, 11)]


def test_flush_speaks_what_is_there_and_is_acknowledged_after_it(bench: Bench) -> None:
    bench.session.text("a", "one two three")
    assert bench.speech.live == []
    bench.session.flush("a")
    bench.speech.speak_all()
    events = bench.events()
    assert [type(e) for e in events if not isinstance(e, Audio)] == [Opened, SegmentStarted, SegmentTimed, Flushed]
    flushed = events[-1]
    assert isinstance(flushed, Flushed)
    assert 0 <= flushed.samples - len(audio(events)) // 2 <= 480, "only silence may wait for its packet to fill"
    bench.session.text("a", " four")
    bench.session.end("a")
    bench.speech.speak_all()
    assert ended(bench.events()).spoken == "one two three four"


def test_flush_twice_speaks_once_and_answers_twice(bench: Bench) -> None:
    bench.session.text("a", "One two.")
    bench.session.flush("a")
    bench.session.flush("a")
    bench.speech.speak_all()
    assert [type(e) for e in bench.told(SegmentStarted, Flushed)] == [SegmentStarted, Flushed, Flushed]


def test_a_flood_of_flushes_does_not_pile_up(bench: Bench) -> None:
    bench.session.text("a", "One two.")
    for _ in range(5000):
        bench.session.flush("a")
        bench.session.text("a", "")
    bench.speech.speak_all()
    assert len(bench.told(Flushed)) == 1000
    bench.session.flush("a")
    assert len(bench.told(Flushed)) == 1


def test_end_twice_ends_once(bench: Bench) -> None:
    bench.session.text("a", "One two.")
    bench.session.end("a")
    bench.session.end("a")
    bench.speech.speak_all()
    assert ended(bench.events()).reason is EndReason.COMPLETED
    bench.session.end("a")
    assert bench.events() == []


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "  \n ", "……。！？", ", . ; :"])
def test_nothing_to_say_is_no_audio_and_a_normal_end(bench: Bench, blank: str) -> None:
    bench.session.text("a", blank)
    bench.session.flush("a")
    bench.session.end("a")
    events = bench.events()
    assert [type(e) for e in events] == [Opened, Flushed, Ended]
    assert ended(events) == Ended("a", EndReason.COMPLETED, 0, blank, None)
    assert bench.speech.submitted == []


def test_text_and_end_in_the_same_tick_lose_nothing(bench: Bench) -> None:
    for n in range(50):
        bench.session.text(f"c{n}", "Have a nice day!")
        bench.session.flush(f"c{n}")
        bench.session.end(f"c{n}")
        bench.speech.speak_all()
        assert ended(bench.events()).samples > 0


def test_contexts_are_made_by_text_and_open_only(bench: Bench) -> None:
    bench.session.flush("a")
    bench.session.end("a")
    bench.session.cancel("a")
    bench.session.credit("a", 1.0)
    assert bench.events() == []
    assert bench.session.contexts == 0


def test_a_name_is_free_again_after_the_end(bench: Bench) -> None:
    for number in (0, 1):
        bench.session.text("a", "Hi you there.")
        bench.session.end("a")
        bench.speech.speak_all()
        events = bench.events()
        assert isinstance(events[0], Opened) and events[0].number == number
        assert ended(events).reason is EndReason.COMPLETED


def test_text_after_end_is_refused_not_dropped(bench: Bench) -> None:
    bench.session.text("a", "One two.")
    bench.session.end("a")
    bench.session.text("a", "Three.")
    (refused,) = bench.told(Refused)
    assert isinstance(refused, Refused) and refused.code is ErrorCode.CONTEXT_ENDING


def test_opening_twice_is_refused_and_changes_nothing(bench: Bench) -> None:
    bench.session.open("a", PCM)
    bench.session.open("a", ContextOptions(voice="bass"))
    events = bench.events()
    assert [type(e) for e in events] == [Opened, Refused]
    assert isinstance(events[0], Opened) and events[0].voice.name == "alto"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (ContextOptions(voice="../etc/passwd"), ErrorCode.UNKNOWN_VOICE),
        (ContextOptions(format=AudioFormat("mp9", 24_000)), ErrorCode.UNSUPPORTED_FORMAT),
        (ContextOptions(format=AudioFormat("pcm_s16le", 12_345)), ErrorCode.UNSUPPORTED_FORMAT),
    ],
)
def test_what_can_not_be_had_is_refused_and_the_name_stays_shut(
    bench: Bench, options: ContextOptions, code: ErrorCode
) -> None:
    bench.session.open("a", options)
    bench.session.text("a", "Not in the wrong voice, please.")
    refused = [e for e in bench.events() if isinstance(e, Refused)]
    assert [e.code for e in refused] == [code, ErrorCode.CONTEXT_FAILED]
    assert bench.speech.submitted == []
    bench.session.open("a", PCM)
    assert len(bench.told(Opened)) == 1


def test_too_many_contexts() -> None:
    bench = Bench(SessionLimits(contexts=2))
    for name in "abc":
        bench.session.text(name, "Hello there.")
    (refused,) = bench.told(Refused)
    assert isinstance(refused, Refused)
    assert (refused.code, refused.context) == (ErrorCode.TOO_MANY_CONTEXTS, "c")


def test_too_much_text_is_refused_and_the_context_goes_on() -> None:
    bench = Bench(SessionLimits(context_chars=20))
    bench.session.text("a", "Hello there. ")
    bench.session.text("a", "x" * 8)
    bench.session.text("a", "Bye.")
    bench.session.end("a")
    bench.speech.speak_all()
    events = bench.events()
    assert ended(events).spoken == "Hello there. Bye."
    (refused,) = [e for e in events if isinstance(e, Refused)]
    assert (refused.code, refused.context) == (ErrorCode.TEXT_TOO_LONG, "a")
    assert "8 more" in refused.message


# Cancel.


def test_nothing_follows_a_cancel_but_its_ended(bench: Bench) -> None:
    bench.session.text("a", "A long first sentence is here. And another one follows. And a third one.")
    bench.speech.speak(pieces=3)
    bench.session.cancel("a")
    opened, event = bench.events()
    assert isinstance(opened, Opened)
    assert isinstance(event, Ended) and event.reason is EndReason.CANCELLED and event.samples == 0
    assert event.spoken == ""
    assert bench.speech.live == []
    assert bench.events() == []


def test_cancel_tells_what_was_heard(bench: Bench) -> None:
    bench.session.text("a", "One two three four. ")
    bench.session.flush("a")
    bench.speech.speak_all()
    sent = bench.told(Audio)
    samples = sum(e.samples for e in sent if isinstance(e, Audio))
    half = 19 * 480 / 2 / RATE
    bench.session.cancel("a", played_s=half)
    event = ended(bench.events())
    assert (event.reason, event.samples, event.spoken) == (EndReason.CANCELLED, samples, "One two three")


def test_cancel_without_a_position_goes_by_the_clock(bench: Bench) -> None:
    bench.session.text("a", "One two three four. ")
    bench.session.flush("a")
    bench.speech.speak_all()
    bench.events()
    bench.clock.now += 19 * 480 / 2 / RATE
    bench.session.cancel("a")
    assert ended(bench.events()).spoken == "One two three"


def test_cancel_with_a_silly_position_is_clamped(bench: Bench) -> None:
    bench.session.text("a", "One two three four. ")
    bench.session.flush("a")
    bench.speech.speak_all()
    bench.events()
    bench.session.cancel("a", played_s=1e6)
    assert ended(bench.events()).spoken == "One two three four."


def test_cancel_in_the_middle_of_a_segment(bench: Bench) -> None:
    bench.session.text("a", "One two three four. ")
    bench.session.flush("a")
    (request,) = bench.speech.live
    bench.speech.emit(request.request_id, 4800)
    bench.events()
    bench.session.cancel("a", played_s=0.1)
    assert bench.speech.cancelled == [request.request_id]
    assert ended(bench.events()).spoken.startswith("One")


def test_the_name_may_be_used_at_once_after_a_cancel(bench: Bench) -> None:
    bench.session.text("a", "The first reply is long. ")
    bench.events()
    bench.session.cancel("a")
    bench.session.text("a", "The second one. ")
    bench.session.end("a")
    bench.speech.speak_all()
    events = bench.events()
    assert [type(e) for e in events if not isinstance(e, Audio)] == [Ended, Opened, SegmentStarted, SegmentTimed, Ended]
    assert [e.number for e in events if isinstance(e, Audio | Opened)] == [1] * (len(events) - 4)


def test_two_contexts_take_turns(bench: Bench) -> None:
    for name in "ab":
        bench.session.text(name, "Hello there. ")
        bench.session.flush(name)
    bench.speech.speak_all()
    order = [e.context for e in bench.events() if isinstance(e, Audio)]
    assert order[:6] in (list("ababab"), list("bababa"))


# Pace.


def test_a_paced_context_is_sent_as_far_ahead_as_the_limit() -> None:
    bench = Bench(SessionLimits(max_lead_s=1.0))
    bench.session.text("a", "x" * 150 + ". ")
    bench.session.flush("a")
    bench.speech.speak_all()
    first = sum(e.samples for e in bench.told(Audio) if isinstance(e, Audio)) / RATE
    assert 1.0 <= first <= 1.04
    due_at = bench.session.due_at()
    assert due_at is not None and 0 < due_at - bench.clock.now < 0.2
    bench.clock.now += 0.5
    more = sum(e.samples for e in bench.told(Audio) if isinstance(e, Audio)) / RATE
    assert more == pytest.approx(0.5, abs=0.04)


def test_ended_waits_for_the_last_paced_packet() -> None:
    bench = Bench(SessionLimits(max_lead_s=1.0))
    bench.session.text("a", "x" * 150 + ". ")
    bench.session.end("a")
    bench.speech.speak_all()
    for _ in range(3):
        assert bench.told(Ended) == []
        bench.clock.now += 1
    assert len(bench.told(Ended)) == 1


def test_a_fast_context_is_not_paced() -> None:
    bench = Bench(SessionLimits(max_lead_s=0.1), ContextOptions(format=PCM.format, pace=Pace.FAST))
    bench.session.text("a", "Hello there, you. ")
    bench.session.end("a")
    bench.speech.speak_all()
    assert ended(bench.events()).samples > RATE * 0.3


def test_credit_corrects_the_lead() -> None:
    bench = Bench(SessionLimits(max_lead_s=1.0))
    bench.session.text("a", "x" * 150 + ". ")
    bench.session.flush("a")
    bench.speech.speak_all()
    bench.events()
    bench.clock.now += 0.5
    bench.session.credit("a", 1.2)
    assert bench.told(Audio) == []
    bench.session.credit("a", 0.2)
    assert len(bench.told(Audio)) > 30


def test_text_far_ahead_waits_for_the_listener() -> None:
    bench = Bench(SessionLimits(max_lead_s=1.0, ahead_s=2.0, window=2))
    bench.session.text("a", "This sentence is one of very many that were sent. " * 20)
    bench.session.end("a")
    while bench.speech.live:
        bench.speech.speak()
    assert len(bench.speech.submitted) < 6
    total: list[Event] = []
    for _ in range(1000):
        bench.session.settle()
        total += bench.events()
        bench.clock.now += 0.1
        if bench.speech.live:
            bench.speech.speak()
    assert ended(total).reason is EndReason.COMPLETED
    assert len(bench.speech.submitted) >= 20


def test_an_underrun_is_audio_that_was_due_and_late(bench: Bench) -> None:
    bench.session.text("a", "One two three. ")
    bench.session.flush("a")
    (request,) = bench.speech.live
    bench.speech.emit(request.request_id, 4800)
    bench.events()
    bench.clock.now += 1.0
    bench.speech.emit(request.request_id, 4800)
    bench.events()
    assert bench.session._contexts["a"]._track.playback.underruns == 1


def test_waiting_for_text_is_no_underrun(bench: Bench) -> None:
    bench.session.text("a", "One two three. ")
    bench.session.flush("a")
    bench.speech.speak_all()
    bench.events()
    bench.clock.now += 60
    bench.session.text("a", "Four five six. ")
    bench.session.flush("a")
    bench.speech.speak_all()
    bench.events()
    assert bench.session._contexts["a"]._track.playback.underruns == 0


# Held-back text.


def test_a_finished_sentence_is_spoken_when_text_stops_coming(bench: Bench) -> None:
    bench.session.text("a", "It costs $3.14.")
    assert bench.speech.live == []
    due_at = bench.session.due_at()
    bench.events()
    due_at = bench.session.due_at()
    assert due_at == pytest.approx(bench.clock.now + 0.3)
    bench.clock.now += 0.31
    bench.session.settle()
    assert [r.text for r in bench.speech.live] == ["It costs three dollars fourteen."]


def test_half_a_sentence_waits(bench: Bench) -> None:
    bench.session.text("a", "I will call you ")
    bench.clock.now += 5
    bench.session.settle()
    assert bench.speech.submitted == []
    bench.session.text("a", "tomorrow.")
    bench.session.end("a")
    assert [r.text for r in bench.speech.live] == ["I will call you tomorrow."]


# Failures.


def test_a_segment_without_speech_is_told_and_passed_over(bench: Bench) -> None:
    bench.session.text("a", "Hello there. ")
    bench.session.flush("a")
    bench.session.text("a", "And bye now.")
    bench.session.end("a")
    bench.speech.fail("nothing_to_say")
    bench.speech.speak_all()
    events = bench.events()
    (refused,) = [e for e in events if isinstance(e, Refused)]
    assert refused.code is ErrorCode.NOTHING_TO_SAY and refused.context == "a"
    assert ended(events).reason is EndReason.COMPLETED


def test_a_failed_engine_ends_the_context_after_what_was_said(bench: Bench) -> None:
    bench.session.text("a", "Hello there. ")
    bench.session.flush("a")
    bench.session.text("a", "And bye now.")
    bench.session.flush("a")
    first, second = [r.request_id for r in bench.speech.live]
    bench.speech.fail("engine_restarted", second)
    bench.speech.speak(first)
    events = bench.events()
    assert [type(e) for e in events][-2:] == [Refused, Ended] or Audio in [type(e) for e in events[-3:]]
    last = ended(events)
    assert (last.reason, last.spoken) == (EndReason.FAILED, "Hello there.")
    assert last.samples == len(audio(events)) // 2
    bench.session.text("a", "More of it.")
    (refused,) = bench.told(Refused)
    assert isinstance(refused, Refused) and refused.code is ErrorCode.CONTEXT_FAILED
    bench.session.end("a")
    bench.session.text("a", "A new one.")
    assert len(bench.told(Opened)) == 1


def test_an_unknown_failure_is_an_engine_failure(bench: Bench) -> None:
    bench.session.text("a", "Hello there. ")
    bench.session.flush("a")
    bench.speech.fail("flux_capacitor")
    (refused,) = bench.told(Refused)
    assert isinstance(refused, Refused)
    assert (refused.code, refused.retryable) == (ErrorCode.ENGINE_FAILED, True)


def test_overload_is_told_with_a_time_to_come_back(bench: Bench) -> None:
    bench.speech.full = True
    bench.session.text("a", "Hello there. And more. And more of it.")
    bench.session.end("a")
    events = bench.events()
    assert [type(e) for e in events] == [Opened, Refused, Ended]
    assert isinstance(events[1], Refused)
    assert (events[1].code, events[1].retryable, events[1].retry_after_s) == (ErrorCode.OVERLOADED, True, 1.0)
    assert ended(events).reason is EndReason.FAILED


# Silence around, draining, closing.


def test_lead_in_and_tail_are_counted_samples() -> None:
    bench = Bench(defaults=ContextOptions(format=PCM.format, lead_in_s=0.5, tail_s=0.25))
    bench.session.text("a", "Hello there.")
    bench.session.end("a")
    bench.speech.speak_all()
    events = bench.events()
    (started,) = [e for e in events if isinstance(e, SegmentStarted)]
    assert started.first_sample == RATE // 2
    pcm = audio(events)
    assert pcm[:RATE] == bytes(RATE)
    assert pcm[-RATE // 2 :] == bytes(RATE // 2)


def test_draining_speaks_what_is_there_and_takes_nothing_new(bench: Bench) -> None:
    bench.session.text("a", "This has no full stop yet")
    bench.session.drain()
    bench.session.text("b", "Too late.")
    bench.session.text("a", " too late.")
    bench.speech.speak_all()
    events = bench.events()
    codes = {e.context: e.code for e in events if isinstance(e, Refused)}
    assert codes == {"b": ErrorCode.SHUTTING_DOWN, "a": ErrorCode.CONTEXT_ENDING}
    assert ended(events).spoken == "This has no full stop yet"
    assert bench.session.contexts == 0


def test_shutting_down_ends_every_context(bench: Bench) -> None:
    for name in "abc":
        bench.session.text(name, "Hello there. ")
    bench.session.shut_down()
    events = bench.events()
    assert [e.reason for e in events if isinstance(e, Ended)] == [EndReason.SHUTDOWN] * 3


def test_a_client_that_is_gone_costs_nothing_more(bench: Bench) -> None:
    bench.session.text("a", "Hello there, you. And so on and on.")
    bench.session.flush("a")
    live = {r.request_id for r in bench.speech.live}
    bench.session.close()
    assert set(bench.speech.cancelled) == live
    assert bench.events() == []


def test_requests_carry_what_the_context_asked_for() -> None:
    bench = Bench()
    bench.session.open("a", ContextOptions(voice="bass", language="zh", format=PCM.format, pace=Pace.FAST))
    bench.session.text("a", "7")
    bench.session.end("a")
    (request,) = bench.speech.submitted
    assert isinstance(request, SegmentRequest)
    assert (request.voice, request.language, request.pace) == ("bass", "zh", Pace.FAST)


def test_numbers_are_spoken_in_words_and_told_as_they_were_written(bench: Bench) -> None:
    bench.session.text("a", "It costs $100 after 9:30PM.")
    bench.session.end("a")
    assert [r.text for r in bench.speech.live] == ["It costs one hundred dollars after nine thirty P-M."]
    bench.speech.speak_all()
    events = bench.events()
    (started,) = [e for e in events if isinstance(e, SegmentStarted)]
    assert (started.text, started.start, started.end) == ("It costs $100 after 9:30PM.", 0, 27)
    (timed,) = [e for e in events if isinstance(e, SegmentTimed)]
    assert [word.text for word in timed.words] == ["It", "costs", "$100", "after", "9:30PM."]


def test_what_can_not_be_read_is_told_and_the_rest_is_spoken(bench: Bench) -> None:
    bench.session.text("a", "مرحبا بالعالم.\nHello there.")
    bench.session.end("a")
    bench.speech.speak_all()
    events = bench.events()
    assert [e.code for e in events if isinstance(e, Refused)] == [ErrorCode.NOTHING_TO_SAY]
    assert ended(events).reason is EndReason.COMPLETED
    assert ended(events).samples > 0
