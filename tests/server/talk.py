"""A wire format over a session, without a socket: what a client says, and what it is told."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from firstword.protocol import MessageError
from server.audio.format import AudioFormat
from server.events import Refused, Reply
from server.host import ContextOptions, Refusal, SessionLimits
from server.protocols.connection import Wire
from server.session import Session
from tests.doubles import RATE
from tests.server.test_session import Bench

OPTIONS = ContextOptions(format=AudioFormat("pcm_s16le", RATE), floor_s=0.1, message_s=0.1)
SENTENCES = replace(OPTIONS, max_buffer_s=0.0)


class Talk:
    """One client's connection."""

    def __init__(self, create: Callable[[Session], Wire], limits: SessionLimits = SessionLimits()) -> None:
        bench = Bench(limits)
        self.speech, self.clock, self.session = bench.speech, bench.clock, bench.session
        self.wire = create(self.session)

    def say(self, frame: str | bytes | None = None, /, **message: Any) -> None:
        """As `Connection` hears it."""
        try:
            self.wire.receive(json.dumps(message) if frame is None else frame)
        except MessageError as error:
            self.session.report(Refused(error.code, str(error)))
        except Refusal as refusal:
            self.session.report(refusal.told(None))

    def told(self) -> list[Any]:
        """Everything that may be sent now; text frames as what their JSON holds."""
        frames: list[Any] = []
        while (event := self.session.take()) is not None:
            frames += [event.frame] if isinstance(event, Reply) else self.wire.frames(event)
        return [frame if isinstance(frame, bytes) else json.loads(frame) for frame in frames]

    def spoken(self) -> list[Any]:
        """What is told once the engine has spoken everything."""
        self.session.settle()
        self.speech.speak_all()
        return self.told()
