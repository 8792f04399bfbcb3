"""Numbers as English words."""

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety"
_SCALES = " thousand million billion trillion quadrillion"
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_LARGEST = 18
"""Digits of the longest number that is read as one; longer ones are read digit by digit."""


def cardinal(digits: str) -> str:
    """`1234` -> one thousand two hundred thirty-four. Longer than 18 digits, or with a leading zero: one by one."""
    if len(digits) > _LARGEST or (len(digits) > 1 and digits[0] == "0"):
        return spell(digits)
    groups = []
    number, scale = int(digits), 0
    while number:
        number, group = divmod(number, 1000)
        if group:
            groups.append(f"{_below_thousand(group)} {_SCALES.split(' ')[scale]}".strip())
        scale += 1
    return " ".join(reversed(groups)) or "zero"


def _below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    parts = [f"{_ONES.split()[hundreds]} hundred"] if hundreds else []
    if rest:
        parts.append(_below_hundred(rest))
    return " ".join(parts)


def _below_hundred(number: int) -> str:
    if number < 20:
        return _ONES.split()[number]
    tens, ones = divmod(number, 10)
    return _TENS.split()[tens] + (f"-{_ONES.split()[ones]}" if ones else "")


def ordinal(digits: str) -> str:
    """`24` -> twenty-fourth."""
    words = cardinal(digits)
    cut = max(words.rfind(" "), words.rfind("-")) + 1
    head, last = words[:cut], words[cut:]
    if last in _ORDINALS:
        return head + _ORDINALS[last]
    return head + (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")


def decimal(text: str) -> str:
    """`-3.14` -> minus three point one four; grouping commas are allowed."""
    sign = "minus " if text[:1] in ("-", "−") else "plus " if text[:1] == "+" else ""
    whole, _, fraction = text.lstrip("+-−").replace(",", "").partition(".")
    said = cardinal(whole or "0")
    return sign + said + (f" point {spell(fraction)}" if fraction else "")


def spell(digits: str) -> str:
    """`007` -> zero zero seven."""
    return " ".join(_ONES.split()[int(digit)] for digit in digits)


def year(digits: str) -> str:
    """`1984` -> nineteen eighty-four, `2005` -> two thousand five, `1900` -> nineteen hundred."""
    if len(digits) != 4 or digits[0] == "0":
        return cardinal(digits)
    high, low = int(digits[:2]), int(digits[2:])
    if digits[1:3] == "00":
        return cardinal(digits)
    if not low:
        return f"{_below_hundred(high)} hundred"
    return f"{_below_hundred(high)} {_below_hundred(low) if low > 9 else f'oh {_ONES.split()[low]}'}"
