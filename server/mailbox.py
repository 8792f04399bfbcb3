"""Calls from other threads to the event loop."""

import asyncio
import logging
import os
from collections import deque
from collections.abc import Callable

_log = logging.getLogger(__name__)

_READ_BYTES = 4096


class Mailbox:
    """Calls that the loop makes in the order in which they were posted.

    `call_soon_threadsafe` wakes the loop while it holds the interpreter's lock, for which the loop then waits at once:
    half the time in which a busy edge held that lock went there. Here the lock is let go first, and a loop that
    has been woken is not woken again.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._calls: deque[Callable[[], object]] = deque()
        self._awake = False
        self._readable, self._writable = os.pipe()
        os.set_blocking(self._readable, False)
        loop.add_reader(self._readable, self._make)

    def post(self, call: Callable[[], object]) -> None:
        """From any thread, until `close`."""
        self._calls.append(call)
        if not self._awake:
            self._awake = True
            os.write(self._writable, b"!")

    def close(self) -> None:
        """What was posted and not made yet is forgotten."""
        self._loop.remove_reader(self._readable)
        os.close(self._readable)
        os.close(self._writable)

    def _make(self) -> None:
        os.read(self._readable, _READ_BYTES)
        self._awake = False  # before the calls are taken: one that is posted from now on wakes the loop again
        for _ in range(len(self._calls)):
            call = self._calls.popleft()
            try:
                call()
            except Exception:  # noqa: BLE001  # one caller's fault is not the next one's
                _log.exception("a call to the loop failed")
