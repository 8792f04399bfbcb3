"""Numbers as Chinese words."""

_DIGITS = "零一二三四五六七八九"
_PLACES = ("", "十", "百", "千")
_SCALES = ("", "万", "亿", "万亿")
_LARGEST = 16
"""Digits of the longest number that is read as one; longer ones are read digit by digit."""


def cardinal(digits: str) -> str:
    """`1005` -> 一千零五. Longer than 16 digits, or with a leading zero: one by one."""
    if len(digits) > _LARGEST or (len(digits) > 1 and digits[0] == "0"):
        return spell(digits)
    said = ""
    groups = [int(digits[max(0, end - 4) : end]) for end in range(len(digits), 0, -4)]
    for scale in reversed(range(len(groups))):
        said = _join(said, groups[scale], _SCALES[scale])
    return said.rstrip("零") or "零"


def _join(said: str, group: int, scale: str) -> str:
    if not group:
        return said if not said or said.endswith("零") else said + "零"
    gap = "零" if said and group < 1000 and not said.endswith("零") else ""
    return said + gap + _below_myriad(group, first=not said) + scale


def _below_myriad(number: int, *, first: bool) -> str:
    said, gap = "", False
    for place in (3, 2, 1, 0):
        digit = number // 10**place % 10
        if digit:
            said += ("零" if gap and said else "") + _DIGITS[digit] + _PLACES[place]
            gap = False
        else:
            gap = True
    return said[1:] if first and said.startswith("一十") else said


def decimal(text: str) -> str:
    """`-3.14` -> 负三点一四; grouping commas are allowed."""
    sign = "负" if text[:1] in ("-", "−") else "正" if text[:1] == "+" else ""
    whole, _, fraction = text.lstrip("+-−").replace(",", "").partition(".")
    return sign + cardinal(whole or "0") + (f"点{spell(fraction)}" if fraction else "")


def counted(text: str) -> str:
    """A number before a measure word: `2` -> 两, `200` -> 两百."""
    said = decimal(text)
    if said == "二":
        return "两"
    return "两" + said[1:] if said[:2] in ("二百", "二千", "二万", "二亿") else said


def spell(digits: str, *, one: str = "一") -> str:
    """`2008` -> 二零零八. In telephone numbers `one` is 幺."""
    return "".join(one if digit == "1" else _DIGITS[int(digit)] for digit in digits)
