"""Many listeners at once, and what goes wrong among them, over a real socket."""

import asyncio
import os
import random
import signal

import httpx
import pytest

from firstword.client import Context, ContextEvent, connect
from firstword.protocol import AudioPacket, Ended, Error, ErrorCode
from tests.conftest import Serve, Served

LONG = "One reply of many words that goes on for quite some time and has no end in sight for now. " * 4


async def hear(context: Context, text: str) -> list[ContextEvent]:
    await context.send(text)
    await context.end()
    return [event async for event in context]


async def outcome(server: Served, text: str) -> Error | Ended:
    """The only error if there was one, else the end."""
    async with connect(server.url) as tts:
        events = await hear(tts.context(codec="pcm_s16le"), text)
    (ended,) = (event for event in events if isinstance(event, Ended))
    return next((event for event in events if isinstance(event, Error)), ended)


async def nothing_left(server: Served) -> None:
    while server.edge.pool.streams or server.edge.pool.waiting:
        await asyncio.sleep(0)


async def test_no_more_are_let_in_than_can_be_served(serve: Serve) -> None:
    """Four rows make at most 0.8 s of sound in 0.11 s, less where a segment ends: at most six listeners fit 85 %."""
    server = await serve(engine={"step_s": 0.11}, max_wait_s=0.2)
    outcomes = await asyncio.gather(*(outcome(server, LONG) for _ in range(10)))
    refused = [each for each in outcomes if isinstance(each, Error)]
    served = [each for each in outcomes if isinstance(each, Ended)]
    assert 4 <= len(served) <= 6 and len(refused) == 10 - len(served)
    assert {each.reason for each in served} == {"completed"}
    assert {(each.code, each.retryable) for each in refused} == {(ErrorCode.OVERLOADED, True)}
    async with httpx.AsyncClient() as http:
        ready = (await http.get(f"{server.http}/readyz")).json()
        assert 1 < ready["capacity"] <= 6 and ready["waiting"] == 0
        assert f"firstword_capacity {ready['capacity']}.0" in (await http.get(f"{server.http}/metrics")).text
    await nothing_left(server)


async def test_who_waits_is_let_in_when_another_ends(serve: Serve) -> None:
    server = await serve(engine={"step_s": 0.16}, max_wait_s=60)
    outcomes = await asyncio.gather(*(outcome(server, "A short reply.") for _ in range(7)))
    assert [each.reason for each in outcomes if isinstance(each, Ended)] == ["completed"] * 7


async def test_who_waits_and_cancels_waits_no_more(serve: Serve) -> None:
    server = await serve(engine={"step_s": 0.16}, max_wait_s=60)
    async with connect(server.url) as tts:
        contexts = [tts.context() for _ in range(6)]
        for context in contexts:
            await context.send(LONG)
        while server.edge.pool.waiting < 2:
            await asyncio.sleep(0)
        for context in contexts:
            await context.cancel()
        for context in contexts:
            assert [e.reason async for e in context if isinstance(e, Ended)] == ["cancelled"]
        await nothing_left(server)


async def test_a_failed_step_costs_only_the_request_at_fault(serve: Serve, capfd: pytest.CaptureFixture[str]) -> None:
    server = await serve()
    bad, *good = await asyncio.gather(
        outcome(server, "Please break in a step of yours."), *(outcome(server, LONG) for _ in range(3))
    )
    assert isinstance(bad, Error) and bad.code == ErrorCode.ENGINE_FAILED
    assert [each.spoken for each in good if isinstance(each, Ended)] == [LONG] * 3
    assert "ZeroDivisionError" in capfd.readouterr().err


async def test_out_of_memory_refuses_a_request_and_keeps_the_slots(
    serve: Serve, capfd: pytest.CaptureFixture[str]
) -> None:
    server = await serve()
    for _ in range(20):  # more than there are slots
        refused = await outcome(server, "This one is too big.")
        assert isinstance(refused, Error) and "MemoryError" in refused.message
    assert isinstance(await outcome(server, "A small one."), Ended)
    assert server.edge.pool.state()[0]["restarts"] == 0
    capfd.readouterr()


async def test_a_long_step_is_no_hang(serve: Serve) -> None:
    server = await serve(worker_stall_s=2.0)
    assert isinstance(await outcome(server, "Do work long and hard."), Ended)
    assert server.edge.pool.state()[0]["restarts"] == 0


async def test_a_worker_killed_while_idle_is_replaced(serve: Serve) -> None:
    server = await serve()
    before = server.edge.pool.state()[0]["pid"]
    assert isinstance(before, int)
    os.kill(before, signal.SIGKILL)
    assert isinstance(await outcome(server, "Still there."), Ended)
    while server.edge.pool.state()[0]["pid"] in (None, before):
        await asyncio.sleep(0)


async def test_several_workers_share_the_listeners_and_one_death_is_not_heard(serve: Serve) -> None:
    server = await serve(engine={"step_s": 0.02}, workers=2)
    while not all(worker["ready"] for worker in server.edge.pool.state()):
        await asyncio.sleep(0)
    undisturbed = await asyncio.gather(*(outcome(server, LONG) for _ in range(4)))
    speaking = asyncio.gather(*(outcome(server, LONG) for _ in range(4)))
    while {worker["listeners"] for worker in server.edge.pool.state()} != {2}:
        await asyncio.sleep(0)
    victim = server.edge.pool.state()[0]["pid"]
    assert isinstance(victim, int)
    os.kill(victim, signal.SIGKILL)
    disturbed = await speaking
    assert [each.samples for each in disturbed if isinstance(each, Ended)] == [
        each.samples for each in undisturbed if isinstance(each, Ended)
    ]


async def test_a_thousand_random_cancels_leave_nothing_behind(serve: Serve) -> None:
    server = await serve(max_wait_s=60)
    chance = random.Random(6)
    ended: list[str] = []

    async def interrupted(contexts: int) -> None:
        async with connect(server.url) as tts:
            for _ in range(contexts):
                context = tts.context(codec="pcm_s16le")
                await context.send(LONG)
                patience = chance.choice((0, 0, 1, 3))
                reasons = []
                async for event in context:
                    if isinstance(event, AudioPacket):
                        patience -= 1
                    if patience <= 0:
                        await context.cancel()
                    if isinstance(event, Ended):
                        reasons.append(event.reason)
                assert len(reasons) == 1
                ended.extend(reasons)

    await asyncio.gather(*(interrupted(100) for _ in range(10)))
    assert ended == ["cancelled"] * 1000
    await nothing_left(server)
    while server.edge.pool.state()[0]["listeners"]:
        await asyncio.sleep(0)
    state = server.edge.pool.state()[0]
    assert (state["requests"], state["restarts"]) == (0, 0)
