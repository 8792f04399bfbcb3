"""Encoder calls on threads: in order, spread, and none lost."""

import gc
import threading
import weakref
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from server.audio.format import AudioFormat, Packet
from server.audio.opus import OpusEncoder
from server.audio.pool import EncoderPool, Encoders, InlineEncoders
from tests.server.audio.signals import encoded, speech


@dataclass(eq=False)
class Recorder:
    """An encoder that gives back what it was given, and remembers who called."""

    threads: set[int] = field(default_factory=set)
    format = AudioFormat("recorder", 24_000)
    pre_skip = 0
    frame_samples = 1
    samples = 0

    def encode(self, pcm: bytes) -> list[Packet]:
        self.threads.add(threading.get_ident())
        if pcm == b"bad":
            raise ZeroDivisionError("a bug")
        return [Packet(pcm, 0, 1)]

    def finish(self) -> list[Packet]:
        return self.encode(b"end")


@pytest.fixture(params=[0, 1, 3], ids=["inline", "one thread", "three threads"])
def encoders(request: pytest.FixtureRequest) -> Encoders:
    return EncoderPool(request.param, at_once) if request.param else InlineEncoders()


def at_once(run: Callable[[], None]) -> None:
    run()


def test_the_packets_are_those_of_the_encoder(encoders: Encoders) -> None:
    signal, packets = speech(10_000), list[Packet]()
    encoder = OpusEncoder()
    for at in range(0, 10_000, 777):
        encoders.submit(encoder, signal[at : at + 777].tobytes(), lambda given: packets.extend(_packets(given)))
    encoders.submit(encoder, None, lambda given: packets.extend(_packets(given)))
    encoders.close()
    assert packets == encoded(OpusEncoder(), signal)


def test_calls_of_one_encoder_keep_their_order_among_many(encoders: Encoders) -> None:
    heard: dict[int, list[list[Packet] | Exception]] = defaultdict(list)
    several = [Recorder() for _ in range(20)]
    for call in range(50):
        for number, recorder in enumerate(several):
            encoders.submit(recorder, b"%d" % call if call < 49 else None, heard[number].append)
    encoders.close()
    wanted = [*(b"%d" % call for call in range(49)), b"end"]
    assert all([_packets(given)[0].data for given in heard[number]] == wanted for number in range(20))
    assert all(len(recorder.threads) == 1 for recorder in several)


def test_a_fault_is_told_and_ends_nothing_else(encoders: Encoders) -> None:
    heard: list[list[Packet] | Exception] = []
    recorder = Recorder()
    for pcm in (b"a", b"bad", b"b"):
        encoders.submit(recorder, pcm, heard.append)
    encoders.close()
    assert [type(given) for given in heard] == [list, ZeroDivisionError, list]


def test_encoders_that_wait_are_spread_evenly() -> None:
    pool, several = EncoderPool(3, at_once), [Recorder() for _ in range(30)]
    for recorder in several:
        _call(pool, recorder, b"a")
    pool.close()
    assert sorted(Counter(min(recorder.threads) for recorder in several).values()) == [10, 10, 10]


@pytest.mark.parametrize("finished", [True, False])
def test_the_place_of_one_that_is_gone_is_free(finished: bool) -> None:
    pool = EncoderPool(2, at_once)
    stays = Recorder()
    _call(pool, stays, b"a")
    for _ in range(4):
        passing = Recorder()
        _call(pool, passing, None if finished else b"a")
        assert passing.threads.isdisjoint(stays.threads)
        gone = weakref.ref(passing)
        del passing
        _call(pool, stays, b"b")
        gc.collect()
        assert gone() is None
    pool.close()


def test_a_listener_that_breaks_costs_no_thread(caplog: pytest.LogCaptureFixture) -> None:
    pool, recorder = EncoderPool(1, at_once), Recorder()

    def broken(_given: list[Packet] | Exception) -> None:
        raise RuntimeError("the loop is closed")

    pool.submit(recorder, b"a", broken)
    _call(pool, recorder, b"b")
    pool.close()
    assert "nobody heard" in caplog.text


def test_closing_makes_what_was_submitted() -> None:
    pool, heard = EncoderPool(2, at_once), list[object]()
    for _ in range(100):
        pool.submit(Recorder(), b"a", heard.append)
    pool.close()
    assert len(heard) == 100


def _call(pool: EncoderPool, recorder: Recorder, pcm: bytes | None) -> None:
    """And wait for it."""
    done = threading.Event()
    pool.submit(recorder, pcm, lambda _given: done.set())
    assert done.wait(10)


def _packets(given: list[Packet] | Exception) -> list[Packet]:
    assert not isinstance(given, Exception)
    return given
