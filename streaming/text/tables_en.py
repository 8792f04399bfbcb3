"""What English says for signs, units and short forms: tables to be read and extended."""

from streaming.text.rules import alternatives

MONTHS = "January February March April May June July August September October November December"
MONTH = rf"(?:{'|'.join(MONTHS.split())}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)"
CURRENCY = {
    "$": ("dollar", "dollars", "cents"),
    "€": ("euro", "euros", "cents"),
    "£": ("pound", "pounds", "pence"),
    "¥": ("yen", "yen", "sen"),
    "₹": ("rupee", "rupees", "paise"),
    "₩": ("won", "won", ""),
    "US$": ("U-S dollar", "U-S dollars", "cents"),
    "A$": ("Australian dollar", "Australian dollars", "cents"),
    "C$": ("Canadian dollar", "Canadian dollars", "cents"),
    "NZ$": ("New Zealand dollar", "New Zealand dollars", "cents"),
    "HK$": ("Hong Kong dollar", "Hong Kong dollars", "cents"),
    "S$": ("Singapore dollar", "Singapore dollars", "cents"),
}
MONEY_NAMES = {sign: f" {names[1]} " for sign, names in CURRENCY.items()}
CODES = {
    "USD": "U-S dollars", "EUR": "euros", "GBP": "pounds", "CNY": "yuan", "RMB": "yuan", "JPY": "yen",
    "CHF": "Swiss francs", "AUD": "Australian dollars", "CAD": "Canadian dollars", "INR": "rupees",
    "HKD": "Hong Kong dollars", "SGD": "Singapore dollars", "NZD": "New Zealand dollars", "KRW": "won",
    "SEK": "Swedish kronor", "NOK": "Norwegian kroner", "DKK": "Danish kroner", "BRL": "reais", "MXN": "pesos",
}  # fmt: skip
MAGNITUDE = {
    "k": "thousand",
    "K": "thousand",
    "m": "million",
    "M": "million",
    "bn": "billion",
    "B": "billion",
    "b": "billion",
}
MAGNITUDE_WORD = r"thousand|million|billion|trillion|hundred|crore|lakh"
UNITS = {
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
    "ha": "hectare", "Pa": "pascal", "kPa": "kilopascal", "hPa": "hectopascal", "MPa": "megapascal",
    "mpg": "mile per gallon", "gal": "gallon", "mmHg": "millimeter of mercury", "hp": "horsepower",
    "Nm": "newton-meter", "rpm": "revolution per minute", "bpm": "beat per minute", "tsp": "teaspoon",
    "tbsp": "tablespoon", "sq ft": "square foot", "sq m": "square meter", "sq km": "square kilometer",
    "sq mi": "square mile", "ft²": "square foot", "cm²": "square centimeter", "cm³": "cubic centimeter",
    "mA": "milliamp", "Ah": "amp hour", "Wh": "watt-hour", "mW": "milliwatt", "MW": "megawatt", "GW": "gigawatt",
    "mV": "millivolt", "kV": "kilovolt", "kJ": "kilojoule", "Ω": "ohm", "kΩ": "kilohm", "lm": "lumen",
    "nm": "nanometer",
    "kbps": "kilobit per second", "Kbps": "kilobit per second", "PB": "petabyte", "KiB": "kibibyte",
    "MiB": "mebibyte", "GiB": "gibibyte", "THz": "terahertz", "mL/min": "milliliter per minute",
}  # fmt: skip
IRREGULAR = {
    "foot": "feet", "inch": "inches", "hertz": "hertz", "gigahertz": "gigahertz", "megahertz": "megahertz",
    "kilohertz": "kilohertz", "terahertz": "terahertz", "horsepower": "horsepower",
}  # fmt: skip
UNIT = alternatives(UNITS)
VULGAR = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5", "⅘": "4/5",
    "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8",
}  # fmt: skip
NUMBERED = (
    "War|Chapter|Part|Volume|Vol\\.|Act|Scene|Section|Phase|Type|Class|Book|Level|Article|Appendix|Title|Bowl|Rocky|Stage"
    "|Grade|Mark|Figure|Table|Fantasy|Unit|Step|Schedule|Group|Tier"
)
RULERS = (
    "Henry|Louis|Elizabeth|Charles|George|Edward|James|Richard|William|Napoleon|Philip|Catherine|Paul|Benedict|Pius|Leo"
    "|Nicholas|Alexander|Frederick|Peter|John|Clement|Urban|Boniface"
    "|Ramses|Ramesses|Francis|Felipe|Juan Carlos|Innocent|Gregory|Ivan|Mary"
)
TITLES = {
    "Dr": "Doctor", "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Prof": "Professor", "St": "Saint",
    "Mt": "Mount", "Gen": "General", "Sen": "Senator", "Rep": "Representative", "Gov": "Governor",
    "Capt": "Captain", "Lt": "Lieutenant", "Col": "Colonel", "Sgt": "Sergeant", "Rev": "Reverend", "Ft": "Fort",
}  # fmt: skip
ABBREVIATIONS = {
    "e.g.": "for example", "i.e.": "that is", "vs.": "versus", "vs": "versus", "approx.": "approximately",
    "dept.": "department", "est.": "established", "Inc.": "Incorporated", "Ltd.": "Limited",
    "Corp.": "Corporation", "Jr.": "Junior", "Sr.": "Senior", "Ave.": "Avenue", "Blvd.": "Boulevard",
    "PhD": "P-H-D", "PhDs": "P-H-D's", "et al.": "et al", "ext.": "extension",
    "w/o": "without", "w/": "with ", "etc.": "et cetera",
    "a.k.a.": "also known as", "Ph.D.": "P-H-D",
    "cf.": "compare",
}  # fmt: skip
MATH = {
    "≠": "is not equal to", "≥": "is at least", "≤": "is less than or equal to", ">=": "is at least",
    "<=": "is less than or equal to", "!=": "is not equal to", "==": "equals", "=": "equals", "≈": "is about",
    "±": "plus or minus", "×": "times", "÷": "divided by", "<": "is less than", ">": "is greater than",
    "∞": "infinity", "√": "the square root of", "∑": "the sum of", "∈": "is in", "→": "to", "⇒": "implies",
    "+": "plus", "−": "minus", "·": "times", "^": "to the power",
}  # fmt: skip
LATEX = {
    "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠", "times": "×", "cdot": "×", "div": "÷",
    "pm": "±", "approx": "≈", "infty": "∞", "sum": "∑", "to": "→", "rightarrow": "→", "alpha": "α", "beta": "β",
    "gamma": "γ", "delta": "δ", "pi": "π", "theta": "θ", "lambda": "λ", "mu": "μ", "sigma": "σ", "omega": "ω",
    "in": "∈",
}  # fmt: skip
BEFORE_YEAR = "(?:[Ii]n|[Ss]ince|[Bb]y|[Ff]rom|[Uu]ntil|[Bb]efore|[Aa]fter|[Yy]ear|[Dd]uring|[Oo]f|circa|early|late)"
BEFORE_NUMBER = {
    "p": "page ", "pp": "pages ", "vol": "volume ", "Vol": "Volume ", "Fig": "Figure ", "fig": "figure ",
    "Figs": "Figures ", "figs": "figures ", "Eq": "Equation ", "eq": "equation ", "Ch": "Chapter ", "ch": "chapter ",
    "Sec": "Section ", "sec": "section ", "Ex": "Example ", "Art": "Article ", "ext": "extension ", "Ext": "Extension ",
    "approx": "approximately ", "ca": "circa ", "c": "circa ",
}  # fmt: skip
"""Short forms that are these words when a stop and a number follow."""
PER = {
    "month": "month", "mo": "month", "year": "year", "yr": "year", "week": "week", "wk": "week", "day": "day",
    "hour": "hour", "hr": "hour", "minute": "minute", "min": "minute", "sec": "second", "person": "person",
    "user": "user", "night": "night", "kg": "kilogram", "lb": "pound", "sqft": "square foot",
}  # fmt: skip
WEEKDAYS = {
    "Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Fri": "Friday", "Sat": "Saturday",
    "Sun": "Sunday",
}  # fmt: skip
WEEKDAY = "(?:Mon|Tues|Tue|Wed|Thurs|Thur|Thu|Fri|Sat|Sun)"
SYSTEMS = (
    "version|ver\\.?|release|build|Python|Node(?:\\.js)?|Java|Ubuntu|iOS|iPadOS|macOS|Android|Windows|Chrome|Firefox|Rust|Go"
    "|Ruby|PHP|Django|Linux|kernel|CUDA|PyTorch|TypeScript|Debian|Fedora|Postgres(?:QL)?|MySQL|Swift|Kotlin|React|Vue|update"
)
VERBS = {"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would"}
