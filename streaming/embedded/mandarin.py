"""Chinese text to the phonemes Kokoro was trained on, by misaki."""

import logging
import re
import warnings
from typing import Any

_SPACES = re.compile(r"\s+")


class MandarinPhonemes:
    """Loads the dictionaries once; loud libraries are kept quiet."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            # jieba 0.42 imports pkg_resources and has unescaped patterns.
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", SyntaxWarning)
            warnings.simplefilter("ignore", UserWarning)
            import jieba  # noqa: PLC0415 - imported where its warnings can be told from others
            from misaki.zh import ZHG2P  # noqa: PLC0415
        jieba.setLogLevel(logging.WARNING)
        jieba.initialize()
        self._phonemize: Any = ZHG2P()

    def __call__(self, text: str) -> str:
        stripped = text.strip()
        if not stripped:
            return ""
        phonemes: str = self._phonemize(stripped)[0]
        return _SPACES.sub(" ", phonemes).strip()
