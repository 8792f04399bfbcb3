"""Roman numerals, where their neighbours say that they are some."""

import re

_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_WRITTEN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")

ROMAN = "[IVXLCDM]{1,12}"
"""What may be one; `value` tells."""


def value(text: str) -> str | None:
    """`XIV` -> 14 as digits; None if it is not written as one."""
    if not text or not _WRITTEN.fullmatch(text):
        return None
    values = [_VALUES[char] for char in text]
    return str(sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True)))
