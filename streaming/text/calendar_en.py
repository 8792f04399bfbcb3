"""Dates, years and times of day in English words."""

import re

from streaming.text import numbers_en as say
from streaming.text.tables_en import MONTHS, WEEKDAYS


def time(match: re.Match[str]) -> str | None:
    hour, minute, second, half = match["h"], match["m"], match["s"], match["half"]
    if int(hour) > 24 or int(minute) > 59:
        return None
    said = say.cardinal(str(int(hour)))
    if int(minute):
        said += f" {say.cardinal(minute) if minute[0] != '0' else f'oh {say.cardinal(minute[1])}'}"
    elif not half:
        said += " o'clock" if int(hour) <= 12 and not second else " hundred hours" if not second else ""
    if second:
        said += f" and {say.cardinal(str(int(second)))} seconds"
    return said + (half_day(half) if half else "")


def half_day(half: str) -> str:
    end = "." if half.endswith(".") and "." not in half[:-1] else ""
    return f" {half.strip()[0].upper()}-M{end}"


def hour(match: re.Match[str]) -> str:
    return say.cardinal(match[1]) + half_day(match[2])


def iso_date(match: re.Match[str]) -> str | None:
    return date(match["y"], match["m"], match["d"])


def date(year: str, month: str, day: str) -> str | None:
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    return f"{MONTHS.split()[int(month) - 1]} {say.ordinal(str(int(day)))}, {say.year(year)}"


def weekday(text: str) -> str:
    return WEEKDAYS[text[:3]]


def weekday_date(match: re.Match[str]) -> str | None:
    month, day = int(match[2]), int(match[3])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{weekday(match[1])} {MONTHS.split()[month - 1]} {say.ordinal(str(day))}"


def day_range(match: re.Match[str]) -> str:
    first, last = (say.ordinal(str(int(day))) for day in match.group(2, 3))
    return f"{month_name(match[1])} {first} to {last}"


def slash_date(match: re.Match[str]) -> str | None:
    """Month first, as English newspapers of America write it, unless only day first is a date."""
    first, second, year = match.groups()
    return date(year, first, second) or date(year, second, first)


def month_day(match: re.Match[str]) -> str:
    year = f", {say.year(match['y'])}" if match["y"] else ""
    return f"{month_name(match['month'])} {say.ordinal(str(int(match['d'])))}{year}"


def day_month(match: re.Match[str]) -> str:
    year = f" {say.year(match['y'])}" if match["y"] else ""
    the = "" if match.string[: match.start()].rstrip().lower().endswith("the") else "the "
    return f"{the}{say.ordinal(str(int(match['d'])))} of {month_name(match['month'])}{year}"


def month_name(text: str) -> str:
    return next(name for name in MONTHS.split() if name.startswith(text.rstrip(".")[:3]))


def decade(match: re.Match[str]) -> str:
    digits = match[1]
    said = say.year(digits) if len(digits) == 4 else say.cardinal(digits)
    return said[:-1] + "ies" if said.endswith("y") else f"{said}s"


def year_range(match: re.Match[str]) -> str:
    second = match[2] if len(match[2]) == 4 else match[1][:2] + match[2]
    return f"{say.year(match[1])} to {say.year(second)}"
