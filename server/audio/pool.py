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
"""Hears what a call gave, on the thread that submitted it."""

CallSoon = Callable[[Callable[[], None]], object]
"""Runs something on the thread that submits calls; may be called from any thread."""


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
    """Some threads. An encoder stays with the thread that had the fewest of them when it came.

    What piled up for a thread is made in one go and handed back in one go: each hand-over between threads can cost a
    wait for the interpreter's lock.
    """

    def __init__(self, threads: int, call_soon: CallSoon) -> None:
        self._threads = [_EncoderThread(call_soon) for _ in range(threads)]
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


_BATCH = 8
"""Calls made before any of them is heard of: enough to save hand-overs, too few to be waited for."""

_Call = tuple[Encoder, bytes | None, Done]
_Result = tuple[Done, list[Packet] | Exception]


class _EncoderThread:
    """One thread and its queue."""

    def __init__(self, call_soon: CallSoon) -> None:
        self.encoders: WeakSet[Encoder] = WeakSet()
        self._call_soon = call_soon
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="encoder", daemon=True)
        self._thread.start()

    def submit(self, encoder: Encoder, pcm: bytes | None, done: Done) -> None:
        self._calls.put((encoder, pcm, done))

    def close(self) -> None:
        self._calls.put(None)
        self._thread.join()

    def _run(self) -> None:
        while calls := self._gathered():
            self._hand_back([(done, _call(encoder, pcm)) for encoder, pcm, done in calls])
            del calls  # or the last encoders would live until the next call

    def _gathered(self) -> list[_Call]:
        """What waits, at least one call; none when it is over."""
        calls: list[_Call] = []
        while not calls or (len(calls) < _BATCH and not self._calls.empty()):
            call = self._calls.get()
            if call is None:
                if calls:
                    self._calls.put(None)
                return calls
            calls.append(call)
        return calls

    def _hand_back(self, results: list[_Result]) -> None:
        self._call_soon(lambda: _tell(results))


def _tell(results: list[_Result]) -> None:
    for done, result in results:
        try:
            done(result)
        except Exception:  # noqa: BLE001  # a listener's fault is not the other encoders'
            _log.exception("nobody heard what an encoder gave")


def _call(encoder: Encoder, pcm: bytes | None) -> list[Packet] | Exception:
    try:
        return encoder.finish() if pcm is None else encoder.encode(pcm)
    except Exception as error:  # noqa: BLE001  # a broken encoder ends its context, not the thread
        return error
