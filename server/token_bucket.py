"""How much may happen: a rate, and a second's worth of it at once."""


class TokenBucket:
    """Fills at `rate` a second, up to one second's worth."""

    def __init__(self, rate: float, now: float) -> None:
        self._rate = rate
        self._tokens = rate
        self._filled_at = now

    def take(self, now: float) -> bool:
        """One more thing happened. False when there were too many."""
        self._tokens = min(self._rate, self._tokens + (now - self._filled_at) * self._rate) - 1
        self._filled_at = now
        return self._tokens >= 0
