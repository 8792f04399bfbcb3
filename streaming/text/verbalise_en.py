"""English: numbers and what belongs to them become words."""

import re

from streaming.text import calendar_en, roman
from streaming.text import numbers_en as say
from streaming.text.roman import ROMAN
from streaming.text.rules import DIGITS, NUMBER, SIGNED, Rule, alternatives, digits_in_groups, letters, rule
from streaming.text.tables_en import (
    BEFORE_NUMBER,
    BEFORE_YEAR,
    CODES,
    CURRENCY,
    IRREGULAR,
    MAGNITUDE,
    MAGNITUDE_WORD,
    MONTH,
    NUMBERED,
    RULERS,
    SYSTEMS,
    UNIT,
    UNITS,
    WEEKDAY,
)

_YEAR = r"(?:1\d\d\d|20\d\d)"
_SIGN = r"(?<![A-Za-z])(?:US|AU|A|CA|C|NZ|HK|S)\$|[$€£¥₹₩]"
_CALLED = (
    r"(?:[Dd]ial|[Cc]all|[Tt]ext|[Pp]hone|[Tt]el|[Ff]ax|[Ee]xt|[Ee]xtension|[Nn]umber is|[Zz]ip|ZIP|[Pp]in|PIN|[Cc]ode"
    r"|[Pp]assword|[Pp]asscode|OTP)"
)


def _plural(unit: str, number: str) -> str:
    if number == "1":
        return unit
    head, per, tail = unit.partition(" per ")
    first, _, rest = head.partition(" ")
    if first in ("square", "cubic"):
        return f"{first} {IRREGULAR.get(rest, f'{rest}s')}"
    named = IRREGULAR.get(first, first if first.endswith("s") else f"{first}s") + (f" {rest}" if rest else "")
    return named + per + tail


def _plain_sign(sign: str) -> str:
    return {"AU$": "A$", "CA$": "C$"}.get(sign, sign)


def _money(match: re.Match[str]) -> str:
    one, many, small = CURRENCY[_plain_sign(match["sign"])]
    number, magnitude = match["number"].replace(",", ""), match["magnitude"]
    minus = "minus " if match["minus"] else ""
    if magnitude:
        return f"{minus}{say.decimal(number)} {MAGNITUDE.get(magnitude, magnitude)} {many}"
    whole, _, cents = number.partition(".")
    if len(cents) not in (0, 2):
        return f"{minus}{say.decimal(number)} {many}"
    unit = one if whole == "1" else many
    if not cents.strip("0"):
        return f"{minus}{say.cardinal(whole)} {unit}"
    said = say.cardinal(str(int(cents)))
    if whole == "0":
        return f"{minus}{said} {small}"
    return f"{minus}{say.cardinal(whole)} {unit} {said if cents[0] != '0' else f'and {said} {small}'}"


def _measure(match: re.Match[str]) -> str:
    number = match["number"].replace(",", "")
    unit = _plural(UNITS[match["unit"]], number)
    low = f"{say.decimal(match['low'])} to " if match["low"] else ""
    return f"{low}{say.decimal(match['number'])} {unit}{_per(match['per'])}"


def _per(text: str | None) -> str:
    if not text:
        return ""
    found = re.match(rf"/\s?(\d*)\s?({UNIT})", text)
    assert found is not None
    count, unit = found.groups()
    return f" per {say.cardinal(count)} {_plural(UNITS[unit], count)}" if count else f" per {UNITS[unit]}"


def _version(match: re.Match[str]) -> str:
    name = "version " if match["name"].lower() == "v" else match["name"] + match["gap"]
    return name + _dotted(match["number"])


def _dotted(number: str) -> str:
    return " point ".join(say.cardinal(part) for part in number.split("."))


def _fraction(match: re.Match[str]) -> str | None:
    whole, top, bottom = match["whole"], match["top"], match["bottom"]
    if (top, bottom) in (("24", "7"), ("9", "11")):
        return f"{say.cardinal(top)} {say.cardinal(bottom)}"
    if not int(bottom):
        return f"{say.cardinal(top)} over zero"
    if top == bottom:
        return f"{say.cardinal(top)}-{say.cardinal(bottom)}"
    said = _simple_fraction(top, bottom)
    return f"{say.cardinal(whole)} and {said}" if whole else said


def _simple_fraction(top: str, bottom: str) -> str:
    names = {"2": ("half", "halves"), "4": ("quarter", "quarters")}
    if len(bottom) > 2 or len(top) > 2 or int(top) > int(bottom):
        return f"{say.cardinal(top)} over {say.cardinal(bottom)}"
    one, many = names.get(bottom, (say.ordinal(bottom), f"{say.ordinal(bottom)}s"))
    return f"{say.cardinal(top)} {one if top == '1' else many}"


def _roman_ordinal(match: re.Match[str]) -> str | None:
    number = roman.value(match[1])
    return say.ordinal(number) if number else None


def _regnal(match: re.Match[str]) -> str | None:
    """`Louis XIV`; a single `I` after a name may be who speaks next."""
    number = roman.value(match[2])
    if number is None or (number == "1" and re.match(r"\s+[a-z]", match.string[match.end() :])):
        return None
    return f"{match[1]}the {say.ordinal(number)}"


def _roman_cardinal(match: re.Match[str]) -> str | None:
    number = roman.value(match[2])
    return match[1] + say.cardinal(number) if number else None


def _years(match: re.Match[str]) -> str:
    return f"{match[1]}{say.year(match[2])}"


def _range(match: re.Match[str]) -> str:
    return f"{say.decimal(match[1])} to {say.decimal(match[2])}"


def _inches(match: re.Match[str]) -> str:
    return f"{say.cardinal(match[1])} {'inch' if match[1] == '1' else 'inches'}"


_BEARINGS = {"N": "north", "S": "south", "E": "east", "W": "west"}


def _inch_mark(match: re.Match[str]) -> str | None:
    """`27"`, unless the mark closes a quotation."""
    before = match.string[: match.start()]
    if before.count('"') % 2 or "“" in before:
        return None
    return f"{say.decimal(match[1])} {'inch' if match[1] == '1' else 'inches'}"


def _money_range(match: re.Match[str]) -> str:
    return f"{say.decimal(match[2])} to {say.decimal(match[3])} {CURRENCY[match[1]][1]}"


def _scientific(match: re.Match[str]) -> str:
    return f"{say.decimal(match[1])} times ten to the power {say.decimal(match[2])}"


def _phone(match: re.Match[str]) -> str:
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(say.spell(group) for group in re.findall(r"\d+", match.group()))


def _short_phone(match: re.Match[str]) -> str | None:
    """`555-0123`; what could be a range rises."""
    rises = match[2][0] != "0" and int(match[1]) < int(match[2])
    called = re.search(
        r"(?:[Cc]all|[Tt]ext|[Dd]ial|[Pp]hone|[Tt]el|[Ff]ax|[Nn]umber|us at)\W*(?:is )?\Z",
        match.string[: match.start()],
    )
    return f"{say.spell(match[1])}, {say.spell(match[2])}" if called or not rises else None


def _number(match: re.Match[str]) -> str:
    text = match.group()
    digits = text.lstrip("+-−")
    if digits.isdigit() and len(digits) >= 10:
        return digits_in_groups(digits, say.spell, ", ")
    return say.decimal(text)


NUMBERS: tuple[Rule, ...] = (
    rule(
        "version",
        rf"\b(?P<name>{SYSTEMS}|[vV])(?P<gap>\s?)(?P<number>\d+(?:\.\d+)+|(?<=\b[vV])\d+)(?![\d.]*\d)",
        _version,
        DIGITS,
        re.IGNORECASE,
    ),
    rule(
        "called number",
        rf"\b({_CALLED}(?:\.|\s[Cc]ode)?(?:\sis|\swas)?[:\s]\s?)(\d{{3,8}}(?:(?:,| or| and) \d{{3,8}})*)(?![\d,.-]*\d)"
        r"(?=\s*(?:[.,;!?]|$|(?:in|for|now|if|at|from|to|then|instead|right|immediately)\b))",
        lambda m: m[1] + re.sub(r"\d+", lambda digits: say.spell(digits[0]), m[2]),
        DIGITS,
    ),
    rule(
        "international phone",
        r"(?<!\w)\+\d{1,3}(?:[ .-]\(?\d{1,4}\)?){2,5}(?![\d-])",
        lambda m: "plus " + ", ".join(map(say.spell, re.findall(r"\d+", m[0]))),
        "+",
    ),
    rule("short phone", r"(?<![\w.,$)-])(?<!\) )(\d{3})-(\d{4})(?![\d-])", _short_phone, "-"),
    rule(
        "height",
        r"(?<![\w.])(\d)'\s?(\d{1,2})(?:\"|”|\b)",
        lambda m: f"{say.cardinal(m[1])} foot {say.cardinal(m[2])}",
        "'",
    ),
    rule("power of ten", r"(?<![\w.])(\d+(?:\.\d+)?)[eE]\+?(-?\d{1,4})\b", _scientific, "eE"),
    rule("date and time", r"(?<=\d{4}-\d\d-\d\d)T(?=\d\d:)", " ", "T"),
    rule("row", r"(?<![\w.-])\d+(?:-\d+){2,}(?![\w-])(?<!\d{4}-\d\d-\d\d)", _phone, "-"),
    rule("by", r"(\d\s?(?:m|cm|mm|km|ft)?)\s?[x×]\s?(?=[\d.]+\s?(?:m|cm|mm|km|ft)\b)", lambda m: f"{m[1]} by ", "x×"),
    rule("inches", r"(?<![\w.])(\d+)\s?in\b\.?(?=\s*(?:$|[,;.)]|tall|wide|long|deep|high))", _inches, "i"),
    rule("inch marks", r"(?<![\w.])(\d+(?:\.\d+)?)\s?[\"″”](?!\w)", _inch_mark, '"″”'),
    rule(
        "hyphened measure",
        rf"(?<![\w.,])({NUMBER})-({UNIT})(?![A-Za-z²³/])",
        lambda m: f"{say.decimal(m[1])}-{UNITS[m[2]]}",
        "-",
    ),
    rule(
        "amps",
        rf"({NUMBER})\s?A(?=\s(?:at|fuse|charger|current|circuit|breaker|supply|of current)\b)",
        lambda m: f"{say.decimal(m[1])} {_plural('amp', m[1])}",
        "A",
    ),
    rule(
        "bearing",
        rf"({NUMBER})\s?°\s?([NSEW])\b",
        lambda m: f"{say.decimal(m[1])} degrees {_BEARINGS[m[2]]}",
        "°",
    ),
    rule(
        "fraction of a unit",
        rf"(?<![\d/.])(\d{{1,2}})/(\d{{1,2}})\s?({UNIT})(?![\w²³/])",
        lambda m: f"{_simple_fraction(m[1], m[2])} {UNITS[m[3]]}",
        "/",
    ),
    rule(
        "blood pressure",
        r"(\d{2,3})/(\d{2,3})(?=\s?mmHg)",
        lambda m: f"{say.cardinal(m[1])} over {m[2]}",
        "/",
    ),
    rule("out of", r"(\d+\.\d+)/(\d+)(?![\d/])", lambda m: f"{say.decimal(m[1])} out of {say.cardinal(m[2])}", "/"),
    rule("cents", rf"({NUMBER})\s?¢", lambda m: f"{say.decimal(m[1])} {'cent' if m[1] == '1' else 'cents'}", "¢"),
    rule("about", r"(?<!\w)[~≈]\s?(?=\d)", "about ", "~≈"),
    rule(
        "short form",
        rf"(?<![\w.])({alternatives(BEFORE_NUMBER)})\.\s?(?=\d)",
        lambda m: BEFORE_NUMBER[m[1]],
        ".",
    ),
    rule("quarter", r"\b(Q[1-4]) ((?:19|20)\d\d)\b", lambda m: f"{m[1]} {say.year(m[2])}", "Q"),
    rule("dotted time", r"(?<![\d.])(\d{1,2})\.(?=[0-5]\d\s?[aApP]\.?[mM]\b)", lambda m: f"{m[1]}:", "."),
    rule("hour range", r"(?<=[apAP][mM])\s?[-–]\s?(?=\d)", " to ", "mM"),
    rule("money range", rf"([$€£¥])({NUMBER})\s?[-–]\s?[$€£¥]?({NUMBER})(?!\w)", _money_range, "-–"),
    rule("time range", r"(?<=:\d\d)\s?[-–]\s?(?=\d{1,2}:\d\d)", " to ", ":"),
    rule("telephone", r"(?<![\w.,-])0\d{2,4}(?:[ -]\d{3,4}){2}(?![\w-])", _phone, "0"),
    rule("iso date", r"(?<!\d)(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?!\d)", calendar_en.iso_date, "-"),
    rule(
        "weekday date",
        rf"\b({WEEKDAY}(?:[a-z]*day)?)\.?,?\s(\d{{1,2}})/(\d{{1,2}})(?![\d/])",
        calendar_en.weekday_date,
        "/",
    ),
    rule(
        "weekday range",
        rf"\b({WEEKDAY})\.?\s?[-–]\s?({WEEKDAY})\b\.?(?!\w)",
        lambda m: f"{calendar_en.weekday(m[1])} to {calendar_en.weekday(m[2])}",
        "-–",
    ),
    rule("day range", rf"\b({MONTH})\.?\s(\d{{1,2}})\s?[-–]\s?(\d{{1,2}})(?![\d:/-])", calendar_en.day_range, "-–"),
    rule("slash date", r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})(?![\d/])", calendar_en.slash_date, "/"),
    rule(
        "month day",
        rf"\b(?P<month>{MONTH})\.?\s(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s(?P<y>\d{{4}}))?(?![\d:])",
        calendar_en.month_day,
        DIGITS,
    ),
    rule(
        "day month",
        rf"(?<!\d)(?P<d>\d{{1,2}})\s(?P<month>{MONTH})\b\.?(?:\s(?P<y>\d{{4}}))?",
        calendar_en.day_month,
        DIGITS,
    ),
    rule("month year", rf"\b({MONTH}\s)(\d{{4}})\b", _years, DIGITS),
    rule(
        "time",
        r"(?<![\d:])(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2}))?(?P<half>\s?[aApP]\.?[mM]\b\.?)?(?![\d:])",
        calendar_en.time,
        ":",
    ),
    rule("hour", r"(?<![\d.:])(\d{1,2})(\s?[aApP]\.?[mM]\b\.?)", calendar_en.hour, "mM"),
    rule("score", r"(?<![\d:])(\d+):(\d+)(?![\d:])", lambda m: f"{say.cardinal(m[1])} to {say.cardinal(m[2])}", ":"),
    rule(
        "address number",
        r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)",
        lambda m: " dot ".join(map(say.cardinal, m[0].split("."))),
        ".",
    ),
    rule("dotted", r"(?<![\d.])\d+(?:\.\d+){2,}(?!\.?\d)", lambda m: _dotted(m[0]), "."),
    rule(
        "phone",
        r"(?<![\w.,-])(?:\+\d{1,3}[ -]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\d-])|\+\d{8,14}\b",
        _phone,
        DIGITS,
    ),
    rule(
        "money",
        rf"(?P<minus>[-−])?(?P<sign>{_SIGN})\s?(?P<number>{NUMBER})(?:\s?(?P<magnitude>{MAGNITUDE_WORD}|bn\b|[kKmMbB]\b))?",
        _money,
        "$€£¥₹₩",
    ),
    rule(
        "money code",
        rf"({SIGNED})\s?({alternatives(CODES)})\b",
        lambda m: f"{say.decimal(m[1])} {CODES[m[2]]}",
        "DRPYFKNL",
    ),
    rule(
        "code money",
        rf"\b({alternatives(CODES)})\s?({NUMBER})(?:\s({MAGNITUDE_WORD})\b)?",
        lambda m: " ".join(filter(None, (say.decimal(m[2]), m[3], CODES[m[1]]))),
        "DRPYFKNL",
    ),
    rule(
        "percent range",
        rf"({NUMBER})\s?%?\s?[-–~]\s?({NUMBER})\s?%",
        lambda m: f"{say.decimal(m[1])} to {say.decimal(m[2])} percent",
        "%",
    ),
    rule("percent", rf"({SIGNED})\s?%", lambda m: f"{say.decimal(m[1])} percent", "%"),
    rule("percent sign", r"\s?%", " percent", "%"),
    rule("decade", r"(?<!\d)'?(\d0|\d{3}0)'?s\b", calendar_en.decade, "s"),
    rule(
        "measure",
        rf"(?<![A-Za-z])(?:(?P<low>{SIGNED})\s?[-–]\s?)?(?P<number>{SIGNED})\s?(?P<unit>{UNIT})(?P<per>/\s?\d*\s?(?:{UNIT}))?(?![\w²³])",
        _measure,
        DIGITS,
    ),
    rule("thousands", rf"({NUMBER})K(?![A-Za-z0-9])", lambda m: f"{say.decimal(m[1])} K", "K"),
    rule(
        "magnitude",
        rf"({SIGNED})(k|M|bn)(?![A-Za-z0-9])",
        lambda m: f"{say.decimal(m[1])} {MAGNITUDE[m[2]]}",
        "kMb",
    ),
    rule("ordinal", r"(?<![\d.,])(\d{1,15})(?:st|nd|rd|th)\b", lambda m: say.ordinal(m[1]), "snrt"),
    rule(
        "fraction",
        r"(?<![\d/.])(?:(?P<whole>\d+)\s)?(?P<top>\d{1,4})[/⁄](?P<bottom>\d{1,4})(?![\d/.]*\d)",
        _fraction,
        "/⁄",
    ),
    rule(
        "year range",
        r"(?<![\d.,$])(1[0-9]\d\d|20\d\d)[-–](1[0-9]\d\d|20\d\d|\d\d)(?![\d.]*\d)",
        calendar_en.year_range,
        "-–",
    ),
    rule("range", rf"(?<![\d.,\w-])({NUMBER})\s?[-–]\s?({NUMBER})(?![\w-])(?!\s?[=+])", _range, "-–"),
    rule(
        "year",
        rf"(?<![\w$])({BEFORE_YEAR} )({_YEAR}(?:(?:,| and| or| to) {_YEAR})*)\b(?![.,%]?\d)",
        lambda m: m[1] + re.sub(_YEAR, lambda year: say.year(year[0]), m[2]),
        DIGITS,
    ),
    rule("the year", r"(?<=\b[Tt]he )(1[4-8]\d\d)(?<!00)(?= [a-z])", lambda m: say.year(m[1]), DIGITS),
    rule("fiscal year", r"\bFY\s?'?(\d{2}|20\d\d)\b", lambda m: f"F-Y {say.year(m[1])}", "F"),
    rule("era before", r"\b(AD)\s(\d{1,4})\b", lambda m: f"{letters(m[1])} {say.year(m[2])}", "A"),
    rule(
        "era",
        r"(?<![\d,.])(\d{1,4}|\d{1,3},\d{3})\s?(BC|AD|BCE|CE)\b",
        lambda m: f"{say.year(m[1].replace(',', ''))} {letters(m[2])}",
        "BAC",
    ),
    rule("numbered", r"(?:\b[Nn][Oo]\.\s?|#)(?=\d)", "number ", "#Nn"),
    rule("century", rf"\b({ROMAN})(?=\s[Cc]entur(?:y|ies)\b)", _roman_ordinal, "IVX"),
    rule("regnal", rf"\b((?:{RULERS}) )({ROMAN})\b", _regnal, "IVX"),
    rule("roman", rf"\b((?:{NUMBERED}) )({ROMAN})\b", _roman_cardinal, "IVX"),
    rule("divided", r"(?<=\d)\s/\s(?=\d)", " divided by ", "/"),
    rule("minus", r"(?<=\d)\s-\s(?=\d)|(?<=\d)\s?-\s?(?=[\d.]+\s?=)", " minus ", "-"),
    rule("plus", r"(?<=\d)\s?\+\s?(?=\d)", " plus ", "+"),
    rule("times", r"(?<=\d)\s?[*×x]\s?(?=\d)", " times ", "*x×"),
    rule("letter and digits", r"(?<=[A-Za-z])-?(\d{1,4})(?![\d.]*\d)", lambda m: f" {say.cardinal(m[1])}", DIGITS),
    rule("digits and letter", r"(?<![A-Za-z])(\d+)(?=[A-Za-z])", lambda m: f"{_number(m)} ", DIGITS),
    rule("bare year", r"(?<![\w$€£¥.,#+-])((?:19|20)\d\d)(?![\w%-]|[.,]\d)", lambda m: say.year(m[1]), DIGITS),
    rule("number", rf"{SIGNED}|\.\d+", _number, DIGITS),
)
