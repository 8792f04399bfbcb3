"""Characters and words told with their audio, whatever the engine's pace and the packets' size."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from server.alignment import Alignment, Piece, characters, words
from server.audio.format import AudioFormat
from server.events import Audio, SegmentStarted, SegmentTimed, WordTime
from server.host import ContextOptions
from streaming.engine import Pace
from tests.doubles import RATE
from tests.server.test_session import Bench

TEXT = st.text(alphabet="ab c,.!? \n\u4f60\U0001f600", max_size=80)


def test_characters_share_the_time_of_their_word_and_what_stands_behind_it() -> None:
    times = (WordTime("Hi,", 1, 4, 100, 40), WordTime("you", 6, 9, 140, 30))
    assert characters(" Hi,  you", 0, times) == [
        Piece(" ", 100, 0),
        Piece("H", 100, 8),
        Piece("i", 108, 8),
        Piece(",", 116, 8),
        Piece(" ", 124, 8),
        Piece(" ", 132, 8),
        Piece("y", 140, 10),
        Piece("o", 150, 10),
        Piece("u", 160, 10),
    ]


def test_times_are_estimated_until_the_length_is_known() -> None:
    alignment = Alignment(words, RATE)
    alignment.add("One two three four. ")
    alignment.started(SegmentStarted("a", 0, "One two three four.", 0, 19, 0))
    assert alignment.take(_audio(0, 2400)) == [Piece("One", 0, 6000)]
    times = [
        WordTime(w, n, n + len(w), 4000 * i, 4000)
        for i, (w, n) in enumerate((("One", 0), ("two", 4), ("three", 8), ("four.", 14)))
    ]
    alignment.timed(SegmentTimed("a", 0, tuple(times)))
    assert alignment.take(_audio(2400, 8000)) == [Piece("two", 4000, 4000), Piece("three", 8000, 4000)]
    assert alignment.take(_audio(10400, 5600, last=True)) == [Piece("four.", 12000, 4000)]


@given(
    deltas=st.lists(TEXT, max_size=6),
    pieces=st.integers(1, 30),
    message_s=st.sampled_from([0.0, 0.1]),
    per_char=st.sampled_from([100, 480, 3000]),
)
def test_every_character_is_told_once_in_order_with_its_audio(
    deltas: list[str], pieces: int, message_s: float, per_char: int
) -> None:
    bench = Bench()
    bench.speech.samples_per_char = per_char
    raw = AudioFormat("pcm_s16le", RATE)
    bench.session.open("a", ContextOptions(format=raw, message_s=message_s, floor_s=0.1, pace=Pace.FAST))
    alignment = Alignment(characters, RATE)
    for delta in deltas:
        bench.session.text("a", delta)
        alignment.add(delta)
    bench.session.end("a")
    while bench.speech.live:
        bench.speech.speak(pieces=pieces)
    told: list[Piece] = []
    heard = 0
    for event in bench.events():
        match event:
            case SegmentStarted():
                alignment.started(event)
            case SegmentTimed():
                alignment.timed(event)
            case Audio():
                taken = alignment.take(event)
                heard = event.first_sample + event.samples
                assert all(piece.first_sample <= heard for piece in taken)
                told += taken
    text = "".join(deltas)
    assert "".join(piece.text for piece in told) == (text if heard else "")
    assert all(a.first_sample <= b.first_sample for a, b in itertools.pairwise(told))


def _audio(first: int, samples: int, *, last: bool = False) -> Audio:
    return Audio("a", 0, 0, first, samples, b"", first=first == 0, last=last)
