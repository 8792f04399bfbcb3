"""Work in, samples out, in order; what is forgotten or fails costs nobody else."""

import threading
from typing import Any

import numpy as np
import pytest

from streaming.chattts import weights
from streaming.chattts.layout import EXACT, HOP, TINY
from streaming.chattts.vocoder import Decoded, Row, Vocoder
from streaming.chattts.vocoder_thread import Made, VocoderThread, Work
from tests.streaming.chattts.conftest import torch
from tests.streaming.chattts.offline import OfflineVocoder

CPU = torch.device("cpu")


class Gated(Vocoder):
    """Waits before each call until it may go on, and notes how many rows each one had."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.begun, self.go = threading.Semaphore(0), threading.Semaphore(0)
        self.calls: list[int] = []

    def decode(self, rows: Any) -> list[Decoded]:
        self.calls.append(len(rows))
        self.begun.release()
        self.go.acquire()
        if any(len(row.hidden) == 13 for row in rows):
            raise ZeroDivisionError("thirteen")
        return super().decode(rows)


@pytest.fixture
def gated(assets: weights.Assets) -> Gated:
    return Gated(assets.decoder, assets.vocos, CPU)


def hidden(tokens: int, seed: int = 0) -> Any:
    return torch.randn(tokens, TINY.gpt.hidden, generator=torch.Generator().manual_seed(seed))


def take(thread: VocoderThread, count: int) -> list[Made]:
    made: list[Made] = []
    while len(made) < count:
        made += thread.made(1.0)
    return made


def test_what_piled_up_is_one_call_with_a_piece_for_each(assets: weights.Assets, gated: Gated) -> None:
    thread, states = VocoderThread(gated, CPU), hidden(80)
    thread.submit(Work(1, states[:60], EXACT, last=False))
    gated.begun.acquire()
    thread.submit(Work(1, states[60:70], EXACT, last=False))
    thread.submit(Work(2, hidden(5, 1), EXACT, last=True))
    thread.submit(Work(1, states[70:], EXACT, last=True))
    gated.go.release(2)
    made = take(thread, 3)
    assert gated.calls == [1, 2]
    assert [(each.key, each.last) for each in made] == [(1, False), (1, True), (2, True)]
    whole = np.concatenate([each.pcm for each in made if each.key == 1])
    expected = OfflineVocoder(assets.decoder, assets.vocos, CPU).decode(states).numpy()
    np.testing.assert_allclose(whole, expected, rtol=0, atol=1e-5)
    assert thread.made() == []


def test_what_is_provisional_keeps_its_pieces(gated: Gated) -> None:
    thread, states = VocoderThread(gated, CPU), hidden(60)
    for begin, end, last in ((0, 16, False), (16, 20, False), (20, 28, False), (28, 60, True)):
        thread.submit(Work(1, states[begin:end], 12, last))
    thread.submit(Work(2, hidden(5, 1), EXACT, last=True))
    gated.go.release(5)
    made = [each for each in take(thread, 5) if each.key == 1]
    assert [len(each.pcm) // 256 for each in made] == [8, 8, 16, 119 - 32]


def test_an_exact_piece_never_overtakes_a_provisional_one(assets: weights.Assets, gated: Gated) -> None:
    thread, states = VocoderThread(gated, CPU), hidden(100)
    cuts = ((0, 8, EXACT, False), (8, 16, 12, False), (16, 90, EXACT, False), (90, 100, EXACT, True))
    thread.submit(Work(2, hidden(3), EXACT, last=True))
    gated.begun.acquire()
    for begin, end, lookahead, last in cuts:
        thread.submit(Work(1, states[begin:end], lookahead, last))
    gated.go.release(4)
    made = [each for each in take(thread, 4) if each.key == 1]
    whole = np.concatenate([each.pcm for each in made])
    expected = OfflineVocoder(assets.decoder, assets.vocos, CPU).decode(states).numpy()
    assert whole.shape == expected.shape
    np.testing.assert_allclose(whole[512 * 5 :], expected[512 * 5 :], rtol=0, atol=1e-5)


def test_forgotten_work_is_not_done(gated: Gated) -> None:
    thread = VocoderThread(gated, CPU)
    thread.submit(Work(1, hidden(60), EXACT, last=False))
    gated.begun.acquire()
    thread.submit(Work(1, hidden(4), EXACT, last=True))
    thread.submit(Work(2, hidden(3), EXACT, last=True))
    thread.forget(1)
    gated.go.release(2)
    assert [(each.key, len(each.pcm)) for each in take(thread, 2)] == [(1, 512 * 8), (2, 5 * HOP)]
    assert gated.calls == [1, 1]


def test_a_failure_is_told_and_the_thread_goes_on(gated: Gated) -> None:
    thread = VocoderThread(gated, CPU)
    gated.go.release(2)
    thread.submit(Work(1, hidden(13), EXACT, last=False))
    (failed,) = take(thread, 1)
    assert "thirteen" in failed.error
    thread.submit(Work(2, hidden(3), EXACT, last=True))
    assert take(thread, 1)[0].error == ""


def test_the_most_urgent_go_first(gated: Gated) -> None:
    thread = VocoderThread(gated, CPU)
    thread.submit(Work(1, hidden(3), EXACT, last=True))
    gated.begun.acquire()
    for key in (2, 3, 4, 5, 6):
        thread.submit(Work(key, hidden(3), EXACT, last=True))
    thread.rank([6, 4])
    gated.go.release(3)
    assert [each.key for each in take(thread, 6)] == [1, 2, 4, 6, 3, 5]
    assert gated.calls == [1, 3, 2]


def test_provisional_work_is_heard_before_it_is_final(gated: Gated) -> None:
    thread = VocoderThread(gated, CPU)
    gated.go.release()
    thread.submit(Work(1, hidden(16), 12, last=False))
    assert len(take(thread, 1)[0].pcm) == 512 * 4


def test_rows_are_values(gated: Gated) -> None:
    with pytest.raises(AttributeError):
        Row(gated.blank(), hidden(1), last=True).last = False  # type: ignore[misc]
