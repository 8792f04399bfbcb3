"""The voices that can be asked for by name. Names are keys here, never paths."""

from collections.abc import Callable

from firstword.protocol import ErrorCode
from server.host import Refusal
from streaming.engine import EngineInfo, Voice


class VoiceRegistry:
    """The engine's voices. Empty until a worker has said what its engine has."""

    def __init__(self, info: Callable[[], EngineInfo | None]) -> None:
        self._info = info

    @property
    def default(self) -> str:
        """The voice that speaks when none is named."""
        info = self._info()
        return info.default_voice if info else ""

    def all(self) -> tuple[Voice, ...]:
        """Every voice."""
        info = self._info()
        return info.voices if info else ()

    def resolve(self, name: str | None) -> Voice:
        """The voice of that name; None: the default. Raises `Refusal` with `unknown_voice`."""
        wanted = self.default if name is None else name
        for voice in self.all():
            if voice.name == wanted:
                return voice
        known = ", ".join(voice.name for voice in self.all())
        raise Refusal(ErrorCode.UNKNOWN_VOICE, f"There is no voice {wanted!r}; there are: {known}.")
