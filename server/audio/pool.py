"""Encoders at work, off the event loop: libopus and soxr release the GIL, and one loop alone can't encode for many."""

import logging
import queue
import threading
from collections.abc import Callable
from typing import Protocol
from weakref import WeakKeyDictionary, WeakSet

from server.audio.format import Encoder, Packet

_log = logging.getLogger(__name__)

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
    """Some threads. An encoder stays with the thread that had the fewest of them when it came."""

    def __init__(self, threads: int) -> None:
        self._threads = [_EncoderThread() for _ in range(threads)]
        self._homes: WeakKeyDictionary[Encoder, _EncoderThread] = WeakKeyDictionary()
        """Weak: the encoder of a cancelled context is never finished."""

    def submit(self, encoder: Encoder, pcm: bytes | None, done: Done) -> None:
        """Returns at once."""
        home = self._homes.get(encoder) or self._settle(encoder)
        home.submit(encoder, pcm, done)
        if pcm is None:
            self._release(encoder)

    def close(self) -> None:
        """Waits for the threads."""
        for thread in self._threads:
            thread.close()

    def _settle(self, encoder: Encoder) -> "_EncoderThread":
        home = min(self._threads, key=lambda thread: len(thread.encoders))
        home.encoders.add(encoder)
        self._homes[encoder] = home
        return home

    def _release(self, encoder: Encoder) -> None:
        self._homes.pop(encoder).encoders.discard(encoder)


class _EncoderThread:
    """One thread and its queue."""

    def __init__(self) -> None:
        self.encoders: WeakSet[Encoder] = WeakSet()
        self._calls: queue.SimpleQueue[tuple[Encoder, bytes | None, Done] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="encoder", daemon=True)
        self._thread.start()

    def submit(self, encoder: Encoder, pcm: bytes | None, done: Done) -> None:
        self._calls.put((encoder, pcm, done))

    def close(self) -> None:
        self._calls.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            _make(*call)
            del call  # or the last encoder would live until the next call


def _make(encoder: Encoder, pcm: bytes | None, done: Done) -> None:
    result = _call(encoder, pcm)
    try:
        done(result)
    except Exception:  # noqa: BLE001  # a listener's fault is not the other encoders'
        _log.exception("nobody heard what an encoder gave")


def _call(encoder: Encoder, pcm: bytes | None) -> list[Packet] | Exception:
    try:
        return encoder.finish() if pcm is None else encoder.encode(pcm)
    except Exception as error:  # noqa: BLE001  # a broken encoder ends its context, not the thread
        return error
