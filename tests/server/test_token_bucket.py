from server.token_bucket import TokenBucket


def test_a_second_of_it_may_come_at_once() -> None:
    bucket = TokenBucket(3.0, 0.0)
    assert [bucket.take(0.0) for _ in range(4)] == [True, True, True, False]


def test_it_fills_again_but_never_beyond_a_second() -> None:
    bucket = TokenBucket(3.0, 0.0)
    for _ in range(3):
        bucket.take(0.0)
    assert bucket.take(0.4)
    assert not bucket.take(0.5)
    assert [bucket.take(100.0) for _ in range(4)] == [True, True, True, False]


def test_a_slow_client_never_waits() -> None:
    bucket = TokenBucket(2.0, 0.0)
    assert all(bucket.take(n * 0.6) for n in range(10_000))
