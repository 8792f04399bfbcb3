"""English: everything that is not a word becomes words."""

import re

from streaming.text import numbers_en as say
from streaming.text.rules import DIGITS, NUMBER, SIGNED, Rule, alternatives, digits_in_groups, letters, rule

_MONTHS = "January February March April May June July August September October November December"
_MONTH = rf"(?:{'|'.join(_MONTHS.split())}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)"
_CURRENCY = {
    "$": ("dollar", "dollars", "cents"),
    "€": ("euro", "euros", "cents"),
    "£": ("pound", "pounds", "pence"),
    "¥": ("yen", "yen", "sen"),
    "₹": ("rupee", "rupees", "paise"),
    "₩": ("won", "won", ""),
    "US$": ("U-S dollar", "U-S dollars", "cents"),
}
MONEY_NAMES = {sign: f" {names[1]} " for sign, names in _CURRENCY.items()}
_CODES = {"USD": "U-S dollars", "EUR": "euros", "GBP": "pounds", "CNY": "yuan", "RMB": "yuan", "JPY": "yen"}
_MAGNITUDE = {
    "k": "thousand",
    "K": "thousand",
    "m": "million",
    "M": "million",
    "bn": "billion",
    "B": "billion",
    "b": "billion",
}
_MAGNITUDE_WORD = r"thousand|million|billion|trillion|hundred"
_UNITS = {
    "km": "kilometer", "m": "meter", "cm": "centimeter", "mm": "millimeter", "mi": "mile", "ft": "foot",
    "kg": "kilogram", "g": "gram", "mg": "milligram", "lb": "pound", "lbs": "pound", "oz": "ounce", "L": "liter",
    "l": "liter", "ml": "milliliter", "mL": "milliliter", "s": "second", "ms": "millisecond", "min": "minute",
    "h": "hour", "hr": "hour", "hrs": "hour", "GB": "gigabyte", "MB": "megabyte", "KB": "kilobyte",
    "kB": "kilobyte", "TB": "terabyte", "GHz": "gigahertz", "MHz": "megahertz", "kHz": "kilohertz", "Hz": "hertz",
    "W": "watt", "kW": "kilowatt", "V": "volt", "kWh": "kilowatt-hour", "mAh": "milliamp hour",
    "mph": "mile per hour", "°C": "degree Celsius", "°F": "degree Fahrenheit", "°": "degree",
    "m²": "square meter", "km²": "square kilometer", "m³": "cubic meter", "Mbps": "megabit per second",
    "Gbps": "gigabit per second", "fps": "frame per second", "μm": "micrometer", "μg": "microgram",
    "μs": "microsecond", "dB": "decibel", "px": "pixel", "kcal": "kilocalorie", "cal": "calorie", "yd": "yard",
    "ha": "hectare", "Pa": "pascal", "kPa": "kilopascal",
}  # fmt: skip
_IRREGULAR = {
    "foot": "feet", "inch": "inches", "hertz": "hertz", "gigahertz": "gigahertz", "megahertz": "megahertz",
    "kilohertz": "kilohertz",
}  # fmt: skip
_UNIT = alternatives(_UNITS)
_VULGAR = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5", "⅘": "4/5",
    "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8",
}  # fmt: skip
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_NUMBERED = (
    "War|Chapter|Part|Volume|Vol\\.|Act|Scene|Section|Phase|Type|Class|Book|Level|Article|Appendix|Title|Bowl|Rocky|Stage"
    "|Grade|Mark|Figure|Table|Fantasy|Unit|Step|Schedule|Group|Tier"
)
_RULERS = (
    "Henry|Louis|Elizabeth|Charles|George|Edward|James|Richard|William|Napoleon|Philip|Catherine|Paul|Benedict|Pius|Leo"
    "|Nicholas|Alexander|Frederick|Peter|Ramses|Ramesses|Francis|Felipe|Juan Carlos|Innocent|Gregory|Ivan|Mary"
)
_TITLES = {
    "Dr": "Doctor", "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Prof": "Professor", "St": "Saint",
    "Mt": "Mount", "Gen": "General", "Sen": "Senator", "Rep": "Representative", "Gov": "Governor",
    "Capt": "Captain", "Lt": "Lieutenant", "Col": "Colonel", "Sgt": "Sergeant", "Rev": "Reverend", "Ft": "Fort",
}  # fmt: skip
_ABBREVIATIONS = {
    "e.g.": "for example", "i.e.": "that is", "vs.": "versus", "vs": "versus", "approx.": "approximately",
    "dept.": "department", "est.": "established", "Inc.": "Incorporated", "Ltd.": "Limited",
    "Corp.": "Corporation", "Jr.": "Junior", "Sr.": "Senior", "Ave.": "Avenue", "Blvd.": "Boulevard",
    "w/o": "without", "w/": "with ", "etc.": "et cetera", "a.k.a.": "also known as", "Ph.D.": "P-H-D",
    "cf.": "compare",
}  # fmt: skip
_MATH = {
    "≠": "is not equal to", "≥": "is at least", "≤": "is less than or equal to", ">=": "is at least",
    "<=": "is less than or equal to", "!=": "is not equal to", "==": "equals", "=": "equals", "≈": "is about",
    "±": "plus or minus", "×": "times", "÷": "divided by", "<": "is less than", ">": "is greater than",
    "∞": "infinity", "√": "the square root of", "∑": "the sum of", "∈": "is in", "→": "to", "⇒": "implies",
    "+": "plus", "−": "minus", "·": "times", "^": "to the power",
}  # fmt: skip
_LATEX = {
    "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠", "times": "×", "cdot": "×", "div": "÷",
    "pm": "±", "approx": "≈", "infty": "∞", "sum": "∑", "to": "→", "rightarrow": "→", "alpha": "α", "beta": "β",
    "gamma": "γ", "delta": "δ", "pi": "π", "theta": "θ", "lambda": "λ", "mu": "μ", "sigma": "σ", "omega": "ω",
    "in": "∈",
}  # fmt: skip
_BEFORE_YEAR = "(?:[Ii]n|[Ss]ince|[Bb]y|[Ff]rom|[Uu]ntil|[Bb]efore|[Aa]fter|[Yy]ear|[Dd]uring|[Oo]f)"
_PAGES = {"p": "page ", "pp": "pages ", "vol": "volume ", "Vol": "Volume "}
_PER = {
    "month": "month", "mo": "month", "year": "year", "yr": "year", "week": "week", "wk": "week", "day": "day",
    "hour": "hour", "hr": "hour", "minute": "minute", "min": "minute", "sec": "second", "person": "person",
    "user": "user", "night": "night", "kg": "kilogram", "lb": "pound", "sqft": "square foot",
}  # fmt: skip
_WEEKDAYS = {"Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Fri": "Friday"}
_SYSTEMS = (
    "version|ver\\.?|release|build|Python|Node(?:\\.js)?|Java|Ubuntu|iOS|iPadOS|macOS|Android|Windows|Chrome|Firefox|Rust|Go"
    "|Ruby|PHP|Django|Linux|kernel|CUDA|PyTorch|TypeScript|Debian|Fedora|Postgres(?:QL)?|MySQL|Swift|Kotlin|React|Vue|update"
)


def _plural(unit: str, number: str) -> str:
    if number == "1":
        return unit
    head, per, tail = unit.partition(" per ")
    first, _, rest = head.partition(" ")
    if first in ("square", "cubic"):
        return f"{first} {rest}s"
    named = _IRREGULAR.get(first, first if first.endswith("s") else f"{first}s") + (f" {rest}" if rest else "")
    return named + per + tail


def _money(match: re.Match[str]) -> str:
    one, many, small = _CURRENCY[match["sign"]]
    number, magnitude = match["number"].replace(",", ""), match["magnitude"]
    minus = "minus " if match["minus"] else ""
    if magnitude:
        return f"{minus}{say.decimal(number)} {_MAGNITUDE.get(magnitude, magnitude)} {many}"
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
    unit = _plural(_UNITS[match["unit"]], number)
    low = f"{say.decimal(match['low'])} to " if match["low"] else ""
    return f"{low}{say.decimal(match['number'])} {unit}{_per(match['per'])}"


def _per(text: str | None) -> str:
    if not text:
        return ""
    found = re.match(rf"/\s?(\d*)\s?({_UNIT})", text)
    assert found is not None
    count, unit = found.groups()
    return f" per {say.cardinal(count)} {_plural(_UNITS[unit], count)}" if count else f" per {_UNITS[unit]}"


def _time(match: re.Match[str]) -> str | None:
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
    return said + (_half(half) if half else "")


def _half(half: str) -> str:
    end = "." if half.endswith(".") and "." not in half[:-1] else ""
    return f" {half.strip()[0].upper()}-M{end}"


def _hour(match: re.Match[str]) -> str:
    return say.cardinal(match[1]) + _half(match[2])


def _iso_date(match: re.Match[str]) -> str | None:
    return _date(match["y"], match["m"], match["d"])


def _date(year: str, month: str, day: str) -> str | None:
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    return f"{_MONTHS.split()[int(month) - 1]} {say.ordinal(str(int(day)))}, {say.year(year)}"


def _slash_date(match: re.Match[str]) -> str | None:
    """Month first, as English newspapers of America write it, unless only day first is a date."""
    first, second, year = match.groups()
    return _date(year, first, second) or _date(year, second, first)


def _month_day(match: re.Match[str]) -> str:
    year = f", {say.year(match['y'])}" if match["y"] else ""
    return f"{_month_name(match['month'])} {say.ordinal(str(int(match['d'])))}{year}"


def _day_month(match: re.Match[str]) -> str:
    year = f" {say.year(match['y'])}" if match["y"] else ""
    the = "" if match.string[: match.start()].rstrip().lower().endswith("the") else "the "
    return f"{the}{say.ordinal(str(int(match['d'])))} of {_month_name(match['month'])}{year}"


def _month_name(text: str) -> str:
    return next(name for name in _MONTHS.split() if name.startswith(text.rstrip(".")[:3]))


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


def _roman(text: str) -> str:
    values = [_ROMAN[char] for char in text]
    signed = zip(values, [*values[1:], 0], strict=True)
    return str(sum(-value if value < following else value for value, following in signed))


def _decade(match: re.Match[str]) -> str:
    digits = match[1]
    said = say.year(digits) if len(digits) == 4 else say.cardinal(digits)
    return said[:-1] + "ies" if said.endswith("y") else f"{said}s"


def _years(match: re.Match[str]) -> str:
    return f"{match[1]}{say.year(match[2])}"


def _year_range(match: re.Match[str]) -> str:
    second = match[2] if len(match[2]) == 4 else match[1][:2] + match[2]
    return f"{say.year(match[1])} to {say.year(second)}"


def _range(match: re.Match[str]) -> str:
    return f"{say.decimal(match[1])} to {say.decimal(match[2])}"


_VERBS = {"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would"}


def _inches(match: re.Match[str]) -> str:
    return f"{say.cardinal(match[1])} {'inch' if match[1] == '1' else 'inches'}"


def _money_range(match: re.Match[str]) -> str:
    return f"{say.decimal(match[2])} to {say.decimal(match[3])} {_CURRENCY[match[1]][1]}"


def _scientific(match: re.Match[str]) -> str:
    return f"{say.decimal(match[1])} times ten to the power {say.decimal(match[2])}"


def _phone(match: re.Match[str]) -> str:
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(say.spell(group) for group in re.findall(r"\d+", match.group()))


def _number(match: re.Match[str]) -> str:
    text = match.group()
    digits = text.lstrip("+-−")
    if digits.isdigit() and len(digits) >= 10:
        return digits_in_groups(digits, say.spell, ", ")
    return say.decimal(text)


def _around(words: str) -> str:
    return f" {words} "


def _hashtag(match: re.Match[str]) -> str:
    return "hashtag " + re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", match[1])


def _etc(match: re.Match[str]) -> str:
    return f"{match[1] or ''}et cetera" + ("." if re.match(r"\s+[A-Z]|\s*$", match.string[match.end() :]) else "")


EARLY: tuple[Rule, ...] = (
    rule("wide comma", r"(?<=\d)，(?=\d{3}(?!\d))", ",", "，"),
    rule("decimal comma", r"(?<![\d,.])(\d+),(\d{1,2})(?![\d,])", lambda m: f"{m[1]}.{m[2]}", ","),
    rule("apostrophe", r"(?<=\w)[’‘ʼ＇](?=\w)", "'", "’‘ʼ＇"),
    rule("latex fraction", r"\\[dt]?frac\s?\{([^{}]*)\}\s?\{([^{}]*)\}", lambda m: f"{m[1]} over {m[2]}", "\\"),
    rule("latex root", r"\\sqrt\s?\{([^{}]*)\}", lambda m: f"√ {m[1]}", "\\"),
    rule("latex command", r"\\([A-Za-z]+)", lambda m: _LATEX.get(m[1], f" {m[1]} "), "\\"),
    rule(
        "formula",
        r"\$(?!\d+(?:\.\d+)?\s+[A-Za-z]{2,}[^$]*\s\$)([^$\n]*[=^_≤≥≠×÷<>+√αβγδπθλμσω][^$\n]*)\$(?!\d)",
        lambda m: m[1],
        "$",
    ),
    rule("formula brackets", r"\\[()\[\]]", " ", "\\"),
    rule("coefficient", r"(?<![\w.])(\d+)(?=[xyz](?![A-Za-z])(?!\s?\d))", lambda m: f"{say.cardinal(m[1])} ", DIGITS),
    rule("subscript", r"(?<![A-Za-z])([A-Za-z])_\{?(\d+)\}?", lambda m: f"{m[1]} {say.cardinal(m[2])}", "_"),
    rule("power", r"(?<=\w)\s?(?:\*\*|\^)\s?\{?(-?\w+)\}?", lambda m: f" to the power {m[1]}", "^*"),
    rule("squared", r"(?<![km])(?<=\w)²", " squared", "²"),
    rule("cubed", r"(?<![km])(?<=\w)³", " cubed", "³"),
    rule(
        "vulgar fraction",
        rf"(\d*)\s?([{''.join(_VULGAR)}])",
        lambda m: f"{m[1]} {_VULGAR[m[2]]}".strip(),
        "".join(_VULGAR),
    ),
)

NUMBERS: tuple[Rule, ...] = (
    rule(
        "version",
        rf"\b(?P<name>{_SYSTEMS}|[vV])(?P<gap>\s?)(?P<number>\d+(?:\.\d+)+|(?<=\b[vV])\d+)(?![\d.]*\d)",
        _version,
        DIGITS,
        re.IGNORECASE,
    ),
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
    rule("out of", r"(\d+\.\d+)/(\d+)(?![\d/])", lambda m: f"{say.decimal(m[1])} out of {say.cardinal(m[2])}", "/"),
    rule("cents", rf"({NUMBER})\s?¢", lambda m: f"{say.decimal(m[1])} {'cent' if m[1] == '1' else 'cents'}", "¢"),
    rule("about", r"(?<!\w)[~≈]\s?(?=\d)", "about ", "~≈"),
    rule("page", r"\b(pp?|vol|Vol)\.\s?(?=\d)", lambda m: _PAGES[m[1]], "."),
    rule(
        "picture size",
        r"\b([48])K\b(?=\s(?:TV|video|display|monitor|screen|resolution|UHD))",
        lambda m: f"{say.cardinal(m[1])} K",
        "K",
    ),
    rule("quarter", r"\b(Q[1-4]) ((?:19|20)\d\d)\b", lambda m: f"{m[1]} {say.year(m[2])}", "Q"),
    rule("hour range", r"(?<=[apAP][mM])\s?[-–]\s?(?=\d)", " to ", "mM"),
    rule("money range", rf"([$€£¥])({NUMBER})\s?[-–]\s?[$€£¥]?({NUMBER})(?!\w)", _money_range, "-–"),
    rule("time range", r"(?<=:\d\d)\s?[-–]\s?(?=\d{1,2}:\d\d)", " to ", ":"),
    rule("telephone", r"(?<![\w.,-])0\d{2,4}(?:[ -]\d{3,4}){2}(?![\w-])", _phone, "0"),
    rule("iso date", r"(?<!\d)(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?!\d)", _iso_date, "-"),
    rule("slash date", r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})(?![\d/])", _slash_date, "/"),
    rule(
        "month day",
        rf"\b(?P<month>{_MONTH})\.?\s(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s(?P<y>\d{{4}}))?(?![\d:])",
        _month_day,
        DIGITS,
    ),
    rule("day month", rf"(?<!\d)(?P<d>\d{{1,2}})\s(?P<month>{_MONTH})\b\.?(?:\s(?P<y>\d{{4}}))?", _day_month, DIGITS),
    rule("month year", rf"\b({_MONTH}\s)(\d{{4}})\b", _years, DIGITS),
    rule(
        "time",
        r"(?<![\d:])(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2}))?(?P<half>\s?[aApP]\.?[mM]\b\.?)?(?![\d:])",
        _time,
        ":",
    ),
    rule("hour", r"(?<![\d.:])(\d{1,2})(\s?[aApP]\.?[mM]\b\.?)", _hour, "mM"),
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
        rf"(?P<minus>[-−])?(?P<sign>US\$|[$€£¥₹₩])\s?(?P<number>{NUMBER})(?:\s?(?P<magnitude>{_MAGNITUDE_WORD}|bn\b|[kKmMbB]\b))?",
        _money,
        "$€£¥₹₩",
    ),
    rule(
        "money code",
        rf"({SIGNED})\s?({alternatives(_CODES)})\b",
        lambda m: f"{say.decimal(m[1])} {_CODES[m[2]]}",
        "UEGCRJ",
    ),
    rule(
        "percent range",
        rf"({NUMBER})\s?%?\s?[-–~]\s?({NUMBER})\s?%",
        lambda m: f"{say.decimal(m[1])} to {say.decimal(m[2])} percent",
        "%",
    ),
    rule("percent", rf"({SIGNED})\s?%", lambda m: f"{say.decimal(m[1])} percent", "%"),
    rule("percent sign", r"\s?%", " percent", "%"),
    rule("decade", r"(?<!\d)'?(\d0|\d{3}0)'?s\b", _decade, "s"),
    rule(
        "measure",
        rf"(?<![A-Za-z])(?:(?P<low>{SIGNED})\s?[-–]\s?)?(?P<number>{SIGNED})\s?(?P<unit>{_UNIT})(?P<per>/\s?\d*\s?(?:{_UNIT}))?(?![\w²³])",
        _measure,
        DIGITS,
    ),
    rule(
        "magnitude",
        rf"({SIGNED})(k|K|M|bn)(?![A-Za-z0-9])",
        lambda m: f"{say.decimal(m[1])} {_MAGNITUDE[m[2]]}",
        "kKMbB",
    ),
    rule("ordinal", r"(?<![\d.,])(\d{1,15})(?:st|nd|rd|th)\b", lambda m: say.ordinal(m[1]), "snrt"),
    rule(
        "fraction",
        r"(?<![\d/.])(?:(?P<whole>\d+)\s)?(?P<top>\d{1,4})[/⁄](?P<bottom>\d{1,4})(?![\d/.]*\d)",
        _fraction,
        "/⁄",
    ),
    rule("year range", r"(?<![\d.,$])(1[0-9]\d\d|20\d\d)[-–](1[0-9]\d\d|20\d\d|\d\d)(?![\d.]*\d)", _year_range, "-–"),
    rule("range", rf"(?<![\d.,\w-])({NUMBER})\s?[-–]\s?({NUMBER})(?![\w-])(?!\s?[=+])", _range, "-–"),
    rule(
        "year",
        rf"(?<![\w$])({_BEFORE_YEAR} )(1[1-9]\d\d|20\d\d)\b(?![.,]\d)",
        _years,
        DIGITS,
    ),
    rule(
        "era",
        r"(?<![\d,.])(\d{1,4}|\d{1,3},\d{3})\s?(BC|AD|BCE|CE)\b",
        lambda m: f"{say.year(m[1].replace(',', ''))} {letters(m[2])}",
        "BAC",
    ),
    rule("numbered", r"(?:\b[Nn][Oo]\.\s?|#)(?=\d)", "number ", "#Nn"),
    rule("regnal", rf"\b((?:{_RULERS}) )([IVX]{{1,5}})\b", lambda m: f"{m[1]}the {say.ordinal(_roman(m[2]))}", "IVX"),
    rule("roman", rf"\b((?:{_NUMBERED}) )([IVX]{{1,5}})\b", lambda m: m[1] + say.cardinal(_roman(m[2])), "IVX"),
    rule("minus", r"(?<=\d)\s-\s(?=\d)|(?<=\d)\s?-\s?(?=[\d.]+\s?=)", " minus ", "-"),
    rule("plus", r"(?<=\d)\s?\+\s?(?=\d)", " plus ", "+"),
    rule("times", r"(?<=\d)\s?[*×x]\s?(?=\d)", " times ", "*x×"),
    rule("letter and digits", r"(?<=[A-Za-z])-?(\d{1,4})(?![\d.]*\d)", lambda m: f" {say.cardinal(m[1])}", DIGITS),
    rule("digits and letter", r"(?<![A-Za-z])(\d+)(?=[A-Za-z])", lambda m: f"{_number(m)} ", DIGITS),
    rule("bare year", r"(?<![\w$€£¥.,#+-])((?:19|20)\d\d)(?![\w%-]|[.,]\d)", lambda m: say.year(m[1]), DIGITS),
    rule("number", rf"{SIGNED}|\.\d+", _number, DIGITS),
)

WORDS: tuple[Rule, ...] = (
    rule("world war", r"\bWW(II|I)\b", lambda m: f"World War {say.cardinal(_roman(m[1]))}", "W"),
    rule("languages", r"\bC\+\+", "C plus plus", "+"),
    rule("sharp", r"\b([CF])#", lambda m: f"{m[1]} sharp", "#"),
    rule(
        "street",
        r"(?<=[a-z] )St\.(?!\s+[A-Z])|(?<=[a-z] )St\.(?=\s+[A-Z])(?<=[A-Z][a-z]{3} St\.)",
        lambda m: "Street" if m.string[m.end() :].strip() else "Street.",
        ".",
    ),
    rule("weekday", r"\b(Mon|Tues?|Wed|Thurs?|Thu|Fri)\.", lambda m: _WEEKDAYS[m[1][:3]], "."),
    rule("title", rf"\b({'|'.join(_TITLES)})\.(?=\s+(?:[A-Z]|and\b))", lambda m: _TITLES[m[1]], "."),
    rule("et cetera", r"(&\s?c\.|\b)?\betc\.", _etc, "."),
    rule(
        "abbreviation",
        rf"(?<![\w.])({alternatives(_ABBREVIATIONS)})(?![A-Za-z])|\bw/(?=\w)",
        lambda m: _ABBREVIATIONS[m[0]],
    ),
    rule(
        "dotted initials",
        r"\b(?:[A-Z]\.){2,}",
        lambda m: letters(m[0].replace(".", "")) + ("." if not m.string[m.end() :].strip() else ""),
        ".",
    ),
    rule("wildcard", r"(?<!\w)\*\.(?=\w)", "star dot ", "*"),
    rule(
        "file",
        r"(?<=\w)\.(?=(?:py|js|ts|json|txt|md|html|css|java|cpp|rs|go|sh|yml|yaml|csv|pdf|png|jpg|mp3|wav|zip|exe)\b)",
        " dot ",
        ".",
    ),
    rule("initials", r"\b([A-Z]{1,3})&([A-Z]{1,3})\b", lambda m: f"{letters(m[1])} and {letters(m[2])}", "&"),
    rule("ampersand", r"\s?&\s?", " and ", "&"),
    rule("hashtag", r"(?<!\w)#([A-Za-z]\w*)", _hashtag, "#"),
    rule("at", r"(?<!\w)@(?=\w)|\s@\s", " at ", "@"),
    rule("math", alternatives(_MATH), lambda m: _around(_MATH[m[0]]), "".join(_MATH)),
    rule("years old", r"\by/o\b", "years old", "/"),
    rule("per", rf"(?<=\w)\s?/\s?({'|'.join(_PER)})\b", lambda m: f" per {_PER[m[1]]}", "/"),
    rule("either", r"(?<=[A-Za-z])/(?=[A-Za-z])", " slash ", "/"),
)

CONTRACTIONS: tuple[Rule, ...] = (
    # For engines that can't read an apostrophe.
    rule("can't", r"\b([Cc])an't\b", lambda m: f"{m[1]}annot", "'"),
    rule("won't", r"\b([Ww])on't\b", lambda m: f"{m[1]}ill not", "'"),
    rule("not", r"(?<=[A-Za-z])n't\b", " not", "'"),
    rule("let us", r"\b([Ll])et's\b", lambda m: f"{m[1]}et us", "'"),
    rule(
        "is", r"\b(it|he|she|that|what|who|where|there|here|how|when)'s\b", lambda m: f"{m[1]} is", "'", re.IGNORECASE
    ),
    rule("verb", r"(?<=[A-Za-z])'(m|re|ve|ll|d)\b", lambda m: f" {_VERBS[m[1].lower()]}", "'", re.IGNORECASE),
    rule("possessive", r"(?<=[A-Za-z])'(?=s\b|\s)", "", "'"),
    rule("o'clock", r"\bo'(?=[A-Za-z])", "o", "'", re.IGNORECASE),
)
