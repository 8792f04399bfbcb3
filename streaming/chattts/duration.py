"""How long a text can take to speak, at most."""

import math
import unicodedata

from streaming.chattts.layout import SAMPLE_RATE, TOKEN_SAMPLES

TOKENS_PER_S = SAMPLE_RATE / TOKEN_SAMPLES

BASE_S = 1.5
"""For the silence around the words, and for pauses."""
IDEOGRAPH_S = 0.45
"""Mandarin is read at 4 to 6 characters a second; this is half as fast."""
LETTER_S = 0.13
"""English is read at 14 to 17 letters a second; this is half as fast."""


def longest_tokens(text: str, speed: float = 1.0) -> int:
    """Codec tokens after which a model that is still going has lost its way."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    seconds = BASE_S + (wide * IDEOGRAPH_S + (len(text) - wide) * LETTER_S) / min(speed, 1.0)
    return math.ceil(seconds * TOKENS_PER_S)
