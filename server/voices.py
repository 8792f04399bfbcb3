"""The voices that can be asked for by name. Names are keys here, never paths."""

import hashlib
import logging
import re
from collections.abc import Callable, Mapping

from firstword.protocol import ErrorCode
from server.host import Refusal
from streaming.engine import EngineInfo, Voice

_log = logging.getLogger(__name__)

_SEEDED = re.compile(r"seed:\d{1,18}", re.ASCII)
"""A voice that is drawn, by an engine that lists one of these."""

_UNSAID = frozenset({"", "None", "default"})
"""What clients send that were told no voice."""

_MOST_LOGGED = 1000


class VoiceRegistry:
    """The engine's voices. Empty until a worker has said what its engine has.

    `aliases` are other names for them. `strict`: an id that is neither is refused; otherwise a voice speaks for it.
    """

    def __init__(
        self, info: Callable[[], EngineInfo | None], aliases: Mapping[str, str] | None = None, *, strict: bool = False
    ) -> None:
        self._info = info
        self._aliases = aliases or {}
        self._strict = strict
        self._logged: set[str] = set()

    @property
    def default(self) -> str:
        """The voice that speaks when none is named."""
        info = self._info()
        return info.default_voice if info else ""

    def all(self) -> tuple[Voice, ...]:
        """Every voice that has a name."""
        info = self._info()
        return info.voices if info else ()

    def resolve(self, name: str | None) -> Voice:
        """The voice of that name; None: the default. Raises `Refusal` with `unknown_voice`."""
        wanted = self.default if name is None else self._aliases.get(name, name)
        if voice := self._find(wanted):
            return voice
        known = ", ".join(voice.name for voice in self.all())
        raise Refusal(ErrorCode.UNKNOWN_VOICE, f"There is no voice {wanted[:100]!r}; there are: {known}.")

    def match(self, name: str | None) -> str:
        """The name of a voice for another service's id, the same one always. Raises `Refusal` where it is strict."""
        if name is None or name in _UNSAID:
            return self.default
        if self._strict or self._find(self._aliases.get(name, name)):
            return self.resolve(name).name
        voice = self._stand_in(name)
        if name not in self._logged and len(self._logged) < _MOST_LOGGED:
            self._logged.add(name)
            _log.warning("unknown voice", extra={"asked": name[:100], "spoken_by": voice})
        return voice

    def _find(self, name: str) -> Voice | None:
        for voice in self.all():
            if voice.name == name:
                return voice
        if self._drawn and _SEEDED.fullmatch(name):
            return Voice(name, self._drawn.languages, "", self._drawn.licence, self._drawn.description)
        return None

    @property
    def _drawn(self) -> Voice | None:
        """An example of the voices that the engine draws, if it does."""
        return next((voice for voice in self.all() if _SEEDED.fullmatch(voice.name)), None)

    def _stand_in(self, name: str) -> str:
        """The default voice, since another may be far slower; where voices are drawn, each id has its own."""
        if not self._drawn:
            return self.default
        number = int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:7])
        return f"seed:{number}"
