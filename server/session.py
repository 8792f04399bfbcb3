"""Text in, ordered audio out, cancel: what every wire protocol is translated to. Knows no wire format, no sockets.

A `Session` is one client's contexts. Its verbs take what the client says; `take` gives what the client is to be
told, one event at a time, and nothing leaves any other way: what a cancel threw away can't be sent any more.
Everything runs on one thread; the engine and the encoders answer on it too.
"""

import itertools
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from firstword.protocol import EndReason, ErrorCode
from server.context import Context
from server.events import Ended, Event, Refused
from server.host import ContextOptions, Host, Refusal

NUMBERS = 2**16
"""A context's number is 16 bits on the wire."""

_REMEMBERED_FAILURES = 256


class Session:
    """One client's contexts, by name. Owns them; owned by the protocol adapter of one connection."""

    def __init__(self, host: Host, wake: Callable[[], None], defaults: ContextOptions) -> None:
        self._host = host
        self._wake = wake
        self._defaults = defaults
        self._contexts: OrderedDict[str, Context] = OrderedDict()
        self._failed: OrderedDict[str, None] = OrderedDict()
        self._news: deque[Event] = deque()
        self._numbers = itertools.count()
        self._turns = itertools.count()
        self._draining = False

    @property
    def contexts(self) -> int:
        """Contexts that have not ended."""
        return len(self._contexts)

    @property
    def backlog(self) -> int:
        """Answers that wait to be taken."""
        return len(self._news)

    # Verbs. What can't be done is told by a `Refused` event and changes nothing.

    def open(self, name: str, options: ContextOptions) -> None:
        """Make a context."""
        with self._refusing(name):
            if name in self._contexts:
                raise Refusal(ErrorCode.CONTEXT_EXISTS, f"Context {name!r} is already open.")
            self._create(name, options)

    def text(self, name: str, delta: str) -> None:
        """Append text to a context, which is made if there is none of that name."""
        with self._refusing(name):
            context = self._contexts.get(name)
            if context is not None and context.ending:
                raise Refusal(
                    ErrorCode.CONTEXT_ENDING,
                    f"Context {name!r} was ended and is still being spoken. Use another name, or wait for its `ended`.",
                )
            if context is None and name in self._failed:
                raise Refusal(
                    ErrorCode.CONTEXT_FAILED,
                    f"Context {name!r} failed. Open it to use its name again.",
                )
            (context or self._create(name, self._defaults)).text(delta)

    def flush(self, name: str) -> None:
        """Speak all text of a context now."""
        if (context := self._contexts.get(name)) and not context.ending:
            context.flush()

    def end(self, name: str) -> None:
        """No more text for this context."""
        self._failed.pop(name, None)
        if context := self._contexts.get(name):
            context.end()

    def cancel(self, name: str, played_s: float | None = None) -> None:
        """Stop a context at once."""
        self._failed.pop(name, None)
        self._stop(name, EndReason.CANCELLED, played_s)

    def credit(self, name: str, buffered_s: float) -> None:
        """The client holds this much unplayed audio of a context."""
        if context := self._contexts.get(name):
            context.credit(buffered_s)

    def report(self, refused: Refused) -> None:
        """Tell the client of something that the adapter refused."""
        self._news.append(refused)
        self._wake()

    def drain(self) -> None:
        """No new contexts, and no more text for those there are: they are spoken to their end."""
        self._draining = True
        for context in self._contexts.values():
            context.end()

    def shut_down(self) -> None:
        """End every context now, with its `Ended`."""
        self._draining = True
        for name in list(self._contexts):
            self._stop(name, EndReason.SHUTDOWN, None)

    def close(self) -> None:
        """The client is gone."""
        self.shut_down()
        self._news.clear()

    # What the client is to be told.

    def take(self) -> Event | None:
        """The next event that may be sent now. Contexts take turns."""
        if self._news:
            return self._news.popleft()
        for name, context in list(self._contexts.items()):
            event = context.take()
            if event is None:
                continue
            self._contexts.move_to_end(name)
            if isinstance(event, Ended):
                self._remove(name, event)
            return event
        return None

    def due_at(self) -> float | None:
        """When to call `settle` and `take` again though nobody said anything; None: no need."""
        times = [at for context in self._contexts.values() if (at := context.due_at()) is not None]
        return min(times, default=None)

    def settle(self) -> None:
        """Let one context read on, in turn, and those whose text has stopped coming decide what they held back."""
        reading = [context for context in self._contexts.values() if context.reading]
        if reading:
            reading[next(self._turns) % len(reading)].read()
        for context in list(self._contexts.values()):
            context.settle()

    # Inside.

    def _create(self, name: str, options: ContextOptions) -> Context:
        try:
            self._check_room()
            context = Context(name, self._free_number(), options, self._host, self._wake)
        except Refusal:
            self._remember_failure(name)
            raise
        self._failed.pop(name, None)
        self._contexts[name] = context
        self._news.append(context.opened)
        self._wake()
        return context

    def _check_room(self) -> None:
        if self._draining:
            raise Refusal(ErrorCode.SHUTTING_DOWN, "The server is going away. Connect again.", retry_after_s=1.0)
        limit = self._host.limits.contexts
        if len(self._contexts) >= limit:
            raise Refusal(
                ErrorCode.TOO_MANY_CONTEXTS, f"{limit} contexts are open on this connection; end or cancel one first."
            )

    def _free_number(self) -> int:
        taken = {context.number for context in self._contexts.values()}
        return next(number for n in self._numbers if (number := n % NUMBERS) not in taken)

    def _stop(self, name: str, reason: EndReason, played_s: float | None) -> None:
        context = self._contexts.pop(name, None)
        if context is not None:
            self._news.append(context.stop(reason, played_s))
            self._wake()

    def _remove(self, name: str, ended: Ended) -> None:
        del self._contexts[name]
        if ended.reason is EndReason.FAILED:
            self._remember_failure(name)

    def _remember_failure(self, name: str) -> None:
        """Text still on its way to a context that failed must not open a new one in the middle of a sentence."""
        self._failed[name] = None
        if len(self._failed) > _REMEMBERED_FAILURES:
            self._failed.popitem(last=False)

    @contextmanager
    def _refusing(self, name: str) -> Iterator[None]:
        try:
            yield
        except Refusal as refusal:
            self.report(refusal.told(name))
