import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.engine import Pace, SegmentRequest
from streaming.scheduler import Plan, Scheduler

RATE = 24_000


def request(request_id: int, stream: int, index: int = 0, pace: Pace = Pace.REALTIME) -> SegmentRequest:
    return SegmentRequest(request_id=request_id, stream_id=stream, index=index, text="x", voice="v", pace=pace)


def scheduler(slots: int = 4, batch: int = 1) -> Scheduler:
    return Scheduler(slots=slots, batch=batch, sample_rate=RATE)


def test_nothing_to_do() -> None:
    s = scheduler()
    assert s.idle
    assert s.plan(0.0) == Plan((), ())


def test_first_come_first_served_among_new_streams() -> None:
    s = scheduler()
    a, b = request(1, stream=1), request(2, stream=2)
    s.add(a, 0.0)
    s.add(b, 0.1)
    assert s.plan(0.2) == Plan((a, b), (1,))


def test_a_new_stream_goes_before_one_whose_listener_has_audio() -> None:
    s = scheduler()
    s.add(request(1, stream=1), 0.0)
    s.plan(0.0)
    s.produced(1, RATE, 0.1)
    s.add(request(2, stream=2), 0.2)
    assert s.plan(0.2).run == (2,)


def test_a_listener_about_to_run_dry_goes_before_one_with_more_audio() -> None:
    s = scheduler(batch=2)
    for i in (1, 2):
        s.add(request(i, stream=i), 0.0)
    s.plan(0.0)
    s.produced(1, 2 * RATE, 0.0)
    s.produced(2, RATE, 0.0)
    assert s.plan(0.5).run == (2, 1)


def test_later_segments_wait_for_first_audio_of_others() -> None:
    s = scheduler(slots=2)
    s.add(request(1, stream=1, index=0), 0.0)
    s.add(request(2, stream=1, index=1), 0.0)
    s.add(request(3, stream=2, index=0), 0.1)
    assert [r.request_id for r in s.plan(0.2).start] == [1, 3]


def test_nothing_is_made_ahead_while_somebody_waits_for_his_first_sound() -> None:
    s = scheduler(batch=4)
    for number, stream, index in ((1, 1, 0), (2, 1, 1), (3, 2, 0), (4, 2, 1)):
        s.add(request(number, stream, index), 0.0)
    assert s.plan(0.0).run == (1, 3)
    s.produced(1, 2 * RATE, 0.1)
    assert s.plan(0.1).run == (3, 1)
    s.produced(3, RATE // 2, 0.2)
    assert set(s.plan(0.2).run) == {1, 2, 3}, "a slot is kept for who comes next"
    s.add(request(5, stream=3), 0.3)
    assert [r.request_id for r in s.plan(0.3).start] == [5]
    assert s.plan(0.3).run == (5, 3, 1)


def test_a_stream_that_is_far_ahead_pauses_and_goes_on_in_time() -> None:
    s = scheduler(batch=4)
    s.add(request(1, stream=1), 0.0)
    s.add(request(2, stream=2), 0.0)
    s.plan(0.0)
    s.produced(1, 11 * RATE, 0.0)
    s.produced(2, 3 * RATE, 0.0)
    assert s.plan(0.0) == Plan((), (2,))
    s.remove(2)
    assert s.plan(0.5) == Plan((), (), resume_at=1.5)
    assert s.plan(1.4).resume_at == pytest.approx(1.5)
    assert s.plan(1.51) == Plan((), (1,))
    s.produced(1, RATE // 4, 1.51)
    assert s.plan(1.52) == Plan((), (1,)), "it paused at ten seconds and is on until it has them again"


def test_a_fast_request_never_pauses() -> None:
    s = scheduler()
    s.add(request(1, stream=1, pace=Pace.FAST), 0.0)
    s.plan(0.0)
    s.produced(1, 100 * RATE, 0.0)
    assert s.plan(0.0).run == (1,)


def test_fast_requests_go_last() -> None:
    s = scheduler(slots=1)
    s.add(request(1, stream=1, pace=Pace.FAST), 0.0)
    s.add(request(2, stream=2), 5.0)
    assert [r.request_id for r in s.plan(5.0).start] == [2]


def test_a_stream_far_ahead_pauses_keeps_its_slot_and_resumes() -> None:
    s = scheduler(slots=1)
    s.add(request(1, stream=1), 0.0)
    s.plan(0.0)
    s.produced(1, 12 * RATE, 0.0)
    assert s.plan(0.5) == Plan((), (), 2.5)
    s.add(request(2, stream=2), 0.5)
    assert s.plan(0.5).start == ()
    assert s.plan(2.5).run == (1,)


def test_a_pause_ends_before_two_steps_would_be_too_late() -> None:
    s = Scheduler(slots=1, batch=1, sample_rate=RATE, max_lead_s=0.1)
    s.add(request(1, stream=1), 0.0)
    s.plan(0.0)
    s.produced(1, RATE, 0.0)
    assert s.plan(0.0, guard_s=0.3).resume_at == pytest.approx(0.4)


def test_a_listener_who_would_run_dry_in_this_step_goes_before_a_new_stream() -> None:
    s = scheduler()
    s.add(request(1, stream=1), 0.0)
    s.plan(0.0)
    s.produced(1, RATE // 10, 0.0)
    s.add(request(2, stream=2), 0.0)
    assert s.plan(0.0, guard_s=0.2).run == (1,)


def test_audio_made_ahead_is_no_lead_until_its_turn() -> None:
    s = scheduler(slots=8, batch=8)
    s.add(request(1, stream=1, index=0), 0.0)
    s.add(request(2, stream=1, index=1), 0.0)
    s.add(request(3, stream=2), 0.0)
    s.plan(0.0)
    s.produced(1, RATE // 10, 0.0)
    s.produced(2, 5 * RATE, 0.0)
    s.produced(3, RATE, 0.0)
    assert s.plan(0.0).run == (1, 3, 2)
    s.remove(1, 0.0)
    assert s.plan(0.0).run == (3, 2)


def test_spare_work_leaves_slots_for_those_who_come() -> None:
    s = scheduler(slots=4, batch=4)
    for i in range(6):
        s.add(request(i, stream=i, pace=Pace.FAST), 0.0)
    assert len(s.plan(0.0).start) == 3
    s.add(request(9, stream=9), 0.1)
    assert s.plan(0.1) == Plan((request(9, stream=9),), (9,))


def test_fast_requests_are_not_starved() -> None:
    s = scheduler(slots=4)
    s.add(request(1, stream=1, pace=Pace.FAST), 0.0)
    s.add(request(2, stream=2), 0.0)
    s.plan(0.0)
    ran = []
    for step in range(200):
        now = step / 20
        (chosen,) = s.plan(now, guard_s=0.05).run
        ran.append(chosen)
        s.produced(chosen, RATE // 20, now)  # exactly real time: stream 2 is never at ease
    assert 5 <= ran.count(1) <= 15


@given(st.integers(1, 6), st.integers(1, 4), st.floats(0.002, 0.05), st.data())
def test_no_listener_runs_dry_while_the_load_is_admissible(
    streams: int, batch: int, step_s: float, data: st.DataObject
) -> None:
    """Steps cost `step_s` and give 0.5 s of audio a row. Listeners arrive at any time and begin when they hear."""
    chunk_s = 0.5
    s = scheduler(slots=12, batch=batch)
    arrivals = sorted((data.draw(st.floats(0, 2)), i) for i in range(streams))
    s_ahead = data.draw(st.lists(st.integers(0, streams - 1), max_size=3))
    dry_at: dict[int, float] = {}
    made: dict[int, float] = dict.fromkeys(range(streams), 0.0)
    now = 0.0
    while now < 6:
        while arrivals and arrivals[0][0] <= now:
            _, i = arrivals.pop(0)
            s.add(request(i, stream=i), now)
            for extra in range(s_ahead.count(i)):
                s.add(request(100 * (extra + 1) + i, stream=i, index=extra + 1), now)
        plan = s.plan(now, step_s)
        now += step_s
        for i in plan.run:
            s.produced(i, round(chunk_s * RATE), now)
            if i < 100:
                assert now <= dry_at.get(i, now) + 1e-9, "ran dry"
                dry_at[i] = max(dry_at.get(i, now), now) + chunk_s
                made[i] += chunk_s
    assert all(made.values()), "starved"


def test_a_cancel_frees_its_slot_for_the_next_plan() -> None:
    s = scheduler(slots=1)
    s.add(request(1, stream=1), 0.0)
    s.plan(0.0)
    s.add(request(2, stream=2), 0.0)
    assert s.plan(0.1).start == ()
    s.remove(1, 0.1)
    assert s.plan(0.1) == Plan((request(2, stream=2),), (2,))


def test_removing_tells_whether_a_slot_was_held() -> None:
    s = scheduler(slots=1)
    s.add(request(1, stream=1), 0.0)
    s.add(request(2, stream=2), 0.0)
    s.plan(0.0)
    assert s.remove(1) is True
    assert s.remove(1) is False
    assert s.remove(2) is False
    assert s.idle


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["add", "step", "cancel"]), st.integers(0, 30)), max_size=60),
    st.integers(1, 4),
    st.integers(1, 3),
)
def test_slots_and_batch_are_never_exceeded_and_everything_gets_done(
    actions: list[tuple[int, str, int]], slots: int, batch: int
) -> None:
    s = scheduler(slots, batch)
    live: set[int] = set()
    started: set[int] = set()
    now = 0.0
    indexes = [0] * 5

    def step() -> None:
        plan = s.plan(now)
        started.update(r.request_id for r in plan.start)
        assert len(started) <= slots
        assert len(plan.run) <= min(batch, len(started))
        assert plan.run or s.idle
        assert set(plan.run) <= started
        for request_id in plan.run:
            s.produced(request_id, 480, now)
            s.remove(request_id)
            live.discard(request_id)
            started.discard(request_id)

    for n, (stream, action, target) in enumerate(actions):
        now += 0.01
        if action == "add":
            s.add(request(n, stream, indexes[stream]), now)
            indexes[stream] += 1
            live.add(n)
        elif action == "step":
            step()
        else:
            assert s.remove(target) == (target in started)
            live.discard(target)
            started.discard(target)
    for _ in range(len(live)):
        step()
    assert s.idle
