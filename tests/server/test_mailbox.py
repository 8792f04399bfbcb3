import asyncio
import threading
from collections.abc import Callable
from functools import partial

import pytest

from server.mailbox import Mailbox


async def test_calls_are_made_on_the_loop_in_the_order_of_each_thread() -> None:
    mailbox, made = Mailbox(asyncio.get_running_loop()), list[tuple[int, int, int]]()
    threads = [threading.Thread(target=_post, args=(mailbox, number, made)) for number in range(4)]
    done = asyncio.Event()
    for thread in threads:
        thread.start()
    while len(made) < 4 * 500:
        await asyncio.sleep(0)
    for thread in threads:
        thread.join()
    mailbox.post(done.set)
    await done.wait()
    mailbox.close()
    assert {where for where, _, _ in made} == {threading.get_ident()}
    for number in range(4):
        assert [index for _, thread, index in made if thread == number] == list(range(500))


def _post(mailbox: Mailbox, number: int, made: list[tuple[int, int, int]]) -> None:
    for index in range(500):
        mailbox.post(partial(_note, made, number, index))


def _note(made: list[tuple[int, int, int]], number: int, index: int) -> None:
    made.append((threading.get_ident(), number, index))


async def test_a_call_that_posts_another_is_not_forgotten() -> None:
    mailbox, done = Mailbox(asyncio.get_running_loop()), asyncio.Event()
    mailbox.post(lambda: mailbox.post(done.set))
    await done.wait()
    mailbox.close()


async def test_a_call_that_fails_costs_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    mailbox, done = Mailbox(asyncio.get_running_loop()), asyncio.Event()
    calls: tuple[Callable[[], object], ...] = (lambda: 1 / 0, done.set)
    for call in calls:
        mailbox.post(call)
    await done.wait()
    mailbox.close()
    assert "ZeroDivisionError" in caplog.text
