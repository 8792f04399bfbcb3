"""Chinese: everything that is not a word becomes words."""

import re

from streaming.text import numbers_zh as say
from streaming.text.rules import DIGITS, NUMBER, SIGNED, Rule, alternatives, letters, rule

_CURRENCY = {"$": "美元", "US$": "美元", "€": "欧元", "£": "英镑", "¥": "元", "￥": "元", "₩": "韩元", "HK$": "港元"}
MONEY_NAMES = _CURRENCY
_UNITS = {
    "km": "公里", "m": "米", "cm": "厘米", "mm": "毫米", "kg": "千克", "g": "克", "mg": "毫克", "t": "吨",
    "L": "升", "l": "升", "ml": "毫升", "mL": "毫升", "s": "秒", "ms": "毫秒", "min": "分钟", "h": "小时",
    "°C": "摄氏度", "℃": "摄氏度", "°F": "华氏度", "°": "度", "m²": "平方米", "km²": "平方公里", "m³": "立方米",
    "W": "瓦", "kW": "千瓦", "kWh": "千瓦时", "V": "伏", "mAh": "毫安时", "Hz": "赫兹", "kHz": "千赫",
    "MHz": "兆赫", "GHz": "吉赫", "dB": "分贝", "GB": " G B", "MB": " M B", "KB": " K B", "TB": " T B",
    "Mbps": "兆比特每秒", "mph": "英里每小时", "kcal": "千卡", "px": "像素", "ha": "公顷", "Pa": "帕",
}  # fmt: skip
_UNIT = alternatives(_UNITS)
_MEASURES = (
    "个|位|名|只|条|张|本|件|台|辆|架|艘|座|栋|间|家|所|颗|粒|滴|杯|瓶|碗|盘|份|次|遍|趟|回|场|局|轮|天|年|周|岁|小时|分钟"
    "|秒钟|种|类|样|套|双|对|副|把|支|枝|根|块|片|层|级|步|倍|米|公里|千克|公斤|斤|升|吨|元|块钱|人|字|页|章|节|句|段|首|幅|届"
    "|代|盒|箱|包|袋|束|群|组|部|门|项|笔|顿|口|头|匹|亩|克|厘米|毫米|点钟"
)
_MATH = {
    "≠": "不等于", "≥": "大于等于", "≤": "小于等于", ">=": "大于等于", "<=": "小于等于", "!=": "不等于",
    "==": "等于", "=": "等于", "≈": "约等于", "±": "正负", "×": "乘", "÷": "除以", "<": "小于", ">": "大于",
    "∞": "无穷大", "√": "根号", "+": "加", "−": "减", "→": "到", "^": "的", "·": "点",
}  # fmt: skip
_COUNTED = rf"(?<![A-Za-z\d.])({NUMBER})(?=\s?[多几余来]?(?:{_MEASURES}))"


def _date(match: re.Match[str]) -> str | None:
    year, month, day = match["y"], match["m"], match["d"]
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    return f"{say.spell(year)}年{say.cardinal(str(int(month)))}月{say.cardinal(str(int(day)))}日"


def _time(match: re.Match[str]) -> str | None:
    hour, minute, second = match["h"], match["m"], match["s"]
    if int(hour) > 24 or int(minute) > 59:
        return None
    said = say.cardinal(str(int(hour))) + "点"
    if int(minute) or second:
        said += ("零" if minute[0] == "0" and minute != "00" else "") + say.cardinal(str(int(minute))) + "分"
    return said + (say.cardinal(str(int(second))) + "秒" if second else "")


def _ratio(match: re.Match[str]) -> str:
    return f"{say.cardinal(match[1])}比{say.cardinal(match[2])}"


def _mobile(match: re.Match[str]) -> str:
    return say.spell(re.sub(r"\D", "", match.group()), one="幺")


def _era_year(match: re.Match[str]) -> str:
    return match[1] + say.spell(match[2])


def _year_range(match: re.Match[str]) -> str:
    return f"{say.spell(match[1])}到{say.spell(match[2])}年"


def _money(match: re.Match[str]) -> str:
    scale = {"k": "千", "K": "千", "m": "百万", "M": "百万", "B": "十亿", "bn": "十亿"}
    magnitude = match["magnitude"] or ""
    minus = "负" if match["minus"] else ""
    number = match["number"].replace(",", "")
    if re.fullmatch(r"\d+\.\d0", number):
        number = number[:-1].removesuffix(".0")
    return f"{minus}{say.decimal(number)}{scale.get(magnitude, magnitude)}{_CURRENCY[match['sign']]}"


def _rate(match: re.Match[str]) -> str:
    count = say.cardinal(match["count"]) if match["count"] else ""
    return f"每{count}{_UNITS[match['below']]}{say.decimal(match['number'])}{_UNITS[match['unit']]}"


def _measure(match: re.Match[str]) -> str:
    low = f"{say.decimal(match['low'])}到" if match["low"] else ""
    return low + say.decimal(match["number"]) + _UNITS[match["unit"]]


def _range(match: re.Match[str]) -> str:
    return f"{say.decimal(match[1])}到{say.decimal(match[2])}"


def _fraction(match: re.Match[str]) -> str:
    whole = f"{say.cardinal(match['whole'])}又" if match["whole"] else ""
    return f"{whole}{say.cardinal(match['bottom'])}分之{say.cardinal(match['top'])}"


def _dotted(match: re.Match[str]) -> str:
    return match[1] + "点".join(say.cardinal(part) for part in match[2].split("."))


def _number(match: re.Match[str]) -> str:
    digits = match.group().lstrip("+-−")
    return say.spell(digits) if digits.isdigit() and len(digits) >= 9 else say.decimal(match.group())


NUMBERS: tuple[Rule, ...] = (
    rule("mobile", r"(?<!\d)(?:\+?86[- ]?)?1[3-9]\d[- ]?\d{4}[- ]?\d{4}(?!\d)", _mobile, "1"),
    rule("telephone", r"(?<!\d)(?:0\d{2,3}-\d{7,8}|[48]00-\d{3}-?\d{4}|\d{3}-\d{4}-\d{4})(?!\d)", _mobile, "-"),
    rule("called number", r"(?<=[码号话打拨])(?<!\d)\d{3,8}(?!\d|\s?[个年月日号元块])", _mobile, "码号话打拨"),
    rule("called number too", r"(?<=[幺零二三四五六七八九][或和、])\d{3,8}(?!\d)", _mobile, "幺"),
    rule("room", r"(?<!\d)\d{3,4}(?=\s?(?:室|房间|号房))", _mobile, "室房"),
    rule("height", r"(?<=\d米)(\d{1,2})(?!\d)", lambda m: say.spell(m[1]), "米"),
    rule(
        "month range",
        r"(?<![\d.-])(\d{1,2})\s?[-–~～]\s?(?=\d{1,2}[月日号])",
        lambda m: say.cardinal(str(int(m[1]))) + "到",
        "月日号",
    ),
    rule("day range", r"(?<=[日号月年])\s?[-–~～—]\s?(?=\d)", "到", "日号月年"),
    rule("each", r"/\s?(月|年|天|日|周|小时|分钟|人|次|个|斤|晚|件)", lambda m: f"每{m[1]}", "/"),
    rule("iso date", r"(?<!\d)(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)", _date, "-/."),
    rule("era", r"(公元前?|纪元前?)\s?(\d{1,4})(?=\s?年)", _era_year, "公纪"),
    rule("year range", r"(?<!\d)(\d{4})年?\s?[-–~—至]\s?(\d{4})\s?年", _year_range, "年"),
    rule("year", r"(?<!\d)(\d{4}|(?<!\d)0\d)(?=\s?年(?!前|后|来|间|历史|时间))", lambda m: say.spell(m[1]), "年"),
    rule("decade", r"(?<!\d)(\d0)(?=\s?年代)", lambda m: say.cardinal(m[1]), "年"),
    rule("time range", r"(?<=[:：]\d\d)\s?[-–~～—]\s?(?=\d{1,2}[:：]\d\d)", "到", ":："),
    rule("score", r"(?<=[分率例])\s?(\d+)\s?[:：]\s?(\d+)(?!\d)", _ratio, ":："),
    rule("time", r"(?<![\d:：])(?P<h>\d{1,2})[:：](?P<m>\d{2})(?:[:：](?P<s>\d{2}))?(?![\d:：])", _time, ":："),
    rule("ratio", r"(?<!\d)(\d+)\s?[:：]\s?(\d+)(?!\d)", _ratio, ":："),
    rule(
        "percent range",
        rf"({NUMBER})\s?%?\s?[-–~—～至到]\s?({NUMBER})\s?%",
        lambda m: f"百分之{say.decimal(m[1])}到百分之{say.decimal(m[2])}",
        "%",
    ),
    rule(
        "percent",
        rf"({SIGNED})\s?[%％]",
        lambda m: ("负" if m[1][0] in "-−" else "") + "百分之" + say.decimal(m[1].lstrip("+-−")),
        "%％",
    ),
    rule("per mille", rf"({NUMBER})\s?‰", lambda m: f"千分之{say.decimal(m[1])}", "‰"),
    rule(
        "money",
        rf"(?P<minus>[-−])?(?P<sign>US\$|HK\$|[$€£¥￥₩])\s?(?P<number>{NUMBER})\s?(?P<magnitude>[千百十]?[万亿]+|千|bn|[kKmMB](?![A-Za-z]))?\s?(?:(?<=[\d千万亿])[元块])?",
        _money,
        "$€£¥￥₩",
    ),
    rule(
        "rate",
        rf"(?:时速|每小时)?(?P<number>{SIGNED})\s?(?P<unit>{_UNIT})/\s?(?P<count>\d*)\s?(?P<below>{_UNIT})(?![A-Za-z])",
        _rate,
        "/",
    ),
    rule(
        "measure",
        rf"(?:(?P<low>{SIGNED})\s?[-–~～]\s?)?(?P<number>{SIGNED})\s?(?P<unit>{_UNIT})(?![A-Za-z²³])",
        _measure,
        DIGITS,
    ),
    rule("percent sign", "%", "百分号", "%"),
    rule("version", r"((?:版本|[vV]|[A-Za-z]{2,}\s?)\s?)(\d+(?:\.\d+)+)(?!\d)", _dotted, "."),
    rule("dotted", r"()(?<![\d.])(\d+(?:\.\d+){2,})(?!\d)", _dotted, "."),
    rule(
        "fraction", r"(?<![\d/.])(?:(?P<whole>\d+)\s)?(?P<top>\d{1,4})[/⁄](?P<bottom>\d{1,4})(?![\d/])", _fraction, "/⁄"
    ),
    rule("month and day", r"(?<!\d)(\d{1,2})(?=\s?(?:月|日|号))", lambda m: say.cardinal(str(int(m[1]))), "月日号"),
    rule("range", rf"(?<![\d.A-Za-z-])({NUMBER})\s?[-–~～—]\s?({NUMBER})(?![A-Za-z\d-])(?!\s?=)", _range, "-–~～—"),
    rule("ordinal", r"第\s?(\d+)", lambda m: "第" + say.cardinal(m[1]), "第"),
    rule("counted", _COUNTED, lambda m: say.counted(m[1]), DIGITS),
    rule("numbered", r"\b[Nn]o\.\s?(?=\d)|№\s?", "第", ".№"),
    rule("minus", r"(?<=\d)\s-\s?(?=\d)|(?<=\d)-(?=[\d.]+\s?=)", "减", "-"),
    rule("times", r"(?<=\d)\s?[*xX×]\s?(?=\d)", "乘", "*xX×"),
    rule("model digits", r"(?<=[A-Za-z])-?(\d{2,})(?![\d.])", lambda m: f" {say.spell(m[1])} ", DIGITS),
    rule("letter and digit", r"(?<=[A-Za-z])-?(\d)(?![\d.])", lambda m: f" {say.cardinal(m[1])} ", DIGITS),
    rule("number", rf"{SIGNED}|\.\d+", _number, DIGITS),
)

WORDS: tuple[Rule, ...] = (
    rule("languages", r"\bC\+\+", "C 加加", "+"),
    rule("sharp", r"\b([CF])#", lambda m: f"{m[1]} sharp", "#"),
    rule("hashtag", r"(?<!\w)#(\w+)#?", lambda m: f"话题 {m[1].replace('_', ' ')} ", "#"),
    rule("initials", r"\b([A-Z]{1,3})&([A-Z]{1,3})\b", lambda m: f"{letters(m[1], ' ')} and {letters(m[2], ' ')}", "&"),
    rule("ampersand", r"\s?&\s?", " and ", "&"),
    rule("math", alternatives(_MATH), lambda m: _MATH[m[0]], "".join(_MATH)),
    # A hyphen between words joins them: it is never a minus.
    rule("hyphen", r"(?<=\w)\s?-\s?(?=\w)", " ", "-"),
    rule("at", r"(?<!\w)@(?=\w)", " at ", "@"),
    rule("either", r"(?<=\w)/(?=\w)", "、", "/"),
)
