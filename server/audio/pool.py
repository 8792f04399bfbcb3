"""Encoders at work, off the event loop: libopus and soxr release the GIL, and one loop alone can't encode for many."""

import queue
import threading
from collections.abc import Callable
from typing import Protocol
from weakref import WeakKeyDictionary

from server.audio.format import Encoder, Packet

Done = Callable[[list[Packet] | Exception], None]
"""Hears what a call gave, in the thread that made it."""


class Encoders(Protocol):
    """Whoever runs encoder calls."""

    def submit(self, encoder: Encoder, pcm: bytes | None, done: Done) -> None:
        """Encode `pcm`, or finish when it is None. Calls for one encoder are made one after another, in order."""

    def close(self) -> None:
        """No call follows; those that were submitted are made."""


class InlineEncoders:
    """At once, in the caller."""

    def submit(self, encoder: Encoder, pcm: bytes | None, done: Done) -> None:
        """Returns after `done`."""
        done(_call(encoder, pcm))

    def close(self) -> None:
        """Nothing to do."""


class EncoderPool:
    """Some threads. An encoder stays with the thread that had least to do when it came."""

    def __init__(self, threads: int) -> None:
        self._threads = [_EncoderThread() for _ in range(threads)]
        self._homes: WeakKeyDictionary[Encoder, _EncoderThread] = WeakKeyDictionary()

    def submit(self, encoder: Encoder, pcm: bytes | None, done: Done) -> None:
        """Returns at once."""
        home = self._homes.get(encoder)
        if home is None:
            home = self._homes[encoder] = min(self._threads, key=lambda thread: thread.waiting)
        home.submit(encoder, pcm, done)

    def close(self) -> None:
        """Waits for the threads."""
        for thread in self._threads:
            thread.close()


class _EncoderThread:
    """One thread and its queue."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Encoder, bytes | None, Done] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="encoder", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return self._calls.qsize()

    def submit(self, encoder: Encoder, pcm: bytes | None, done: Done) -> None:
        self._calls.put((encoder, pcm, done))

    def close(self) -> None:
        self._calls.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            encoder, pcm, done = call
            done(_call(encoder, pcm))


def _call(encoder: Encoder, pcm: bytes | None) -> list[Packet] | Exception:
    try:
        return encoder.finish() if pcm is None else encoder.encode(pcm)
    except Exception as error:  # noqa: BLE001  # a broken encoder ends its context, not the thread
        return error
