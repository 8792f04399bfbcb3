"""Which language each run of a text is read in, by its script."""

import re
from itertools import groupby

ENGLISH = "en"
CHINESE = "zh"

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff〇]")


def runs(text: str, language: str) -> list[tuple[str, str]]:
    """The text cut into (language, run); together the runs are the text.

    Digits and marks follow the letters around them. Between two languages they are read in `language`, or where
    that is neither, in Chinese: a sentence that mixes the two nearly always is a Chinese one with English words.
    """
    stretches = [(script, "".join(chars)) for script, chars in groupby(text, _script)]
    languages = [_language(stretches, i, language) for i in range(len(stretches))]
    pairs = zip(languages, (stretch for _, stretch in stretches), strict=True)
    return [(key, "".join(stretch for _, stretch in group)) for key, group in groupby(pairs, lambda pair: pair[0])]


def primary(tag: str) -> str:
    """`zh` of `zh-CN`."""
    return tag.partition("-")[0].lower()


def has_han(text: str) -> bool:
    return _HAN.search(text) is not None


def _script(char: str) -> str | None:
    if _HAN.match(char):
        return CHINESE
    return ENGLISH if char.isalpha() else None


def _language(stretches: list[tuple[str | None, str]], i: int, language: str) -> str:
    own = stretches[i][0]
    if own:
        return own
    around = {script for script, _ in (*stretches[max(0, i - 1) : i], *stretches[i + 1 : i + 2]) if script}
    if not around:
        return language
    if len(around) == 1:
        return around.pop()
    if not any(char.isalnum() for char in stretches[i][1]):
        return stretches[i - 1][0] or language
    return language if language in around else CHINESE
