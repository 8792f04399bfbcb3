"""The lexicon of the server's owner: read at the start, and again when it is asked to."""

import logging
from pathlib import Path

from streaming.text.lexicon import Lexicon, LexiconError

_log = logging.getLogger(__name__)


def read_lexicon(path: Path) -> Lexicon:
    """The lexicon in a file. Raises `LexiconError` with a sentence that names the file and the line."""
    try:
        return Lexicon.parse(path.read_text(encoding="utf-8-sig").splitlines())
    except (OSError, UnicodeDecodeError, LexiconError) as error:
        raise LexiconError(f"{path}: {error}") from None


class LexiconFile:
    """Owns what was read last. Contexts take the value when they open, so reading again disturbs none of them."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lexicon = read_lexicon(path) if path else Lexicon()

    @property
    def lexicon(self) -> Lexicon:
        """What was read last."""
        return self._lexicon

    def reload(self) -> None:
        """Read the file again; if it can't be read, what was read before stays, and the log says why."""
        if self._path is None:
            return
        try:
            self._lexicon = read_lexicon(self._path)
        except LexiconError as error:
            _log.error("lexicon not reloaded", extra={"problem": str(error)})
        else:
            _log.info("lexicon reloaded", extra={"entries": self._lexicon.size})
