"""The one element of SSML that is more than markup to be silent about: `<break>` (SSML 1.1, section 3.2.3)."""

import re

from streaming.text.segment import MOST_PAUSE_S

_ATTRIBUTE = re.compile(r"(?:^|\s)(time|strength)\s*=\s*[\"']?([^\"'\s]+)")
_TIME = re.compile(r"\+?(\d{0,6}(?:\.\d{1,6})?)(ms|s)")
_STRENGTHS_S = {"none": 0.0, "x-weak": 0.1, "weak": 0.2, "medium": 0.4, "strong": 0.7, "x-strong": 1.2}


def break_s(attributes: str) -> float:
    """The silence that a break asks for, in seconds, at most `MOST_PAUSE_S`; a time outranks a strength."""
    given = dict(_ATTRIBUTE.findall(attributes))
    time = _TIME.fullmatch(given.get("time", ""))
    if time and time[1] not in ("", "."):
        return min(float(time[1]) / (1000 if time[2] == "ms" else 1), MOST_PAUSE_S)
    return _STRENGTHS_S.get(given.get("strength", ""), _STRENGTHS_S["medium"])
