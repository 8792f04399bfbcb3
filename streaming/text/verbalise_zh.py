"""Chinese: everything that is not a word becomes words."""

import re

from streaming.text import numbers_zh as say
from streaming.text import roman
from streaming.text.roman import ROMAN
from streaming.text.rules import DIGITS, NUMBER, SIGNED, Rule, alternatives, letters, rule

_CURRENCY = {
    "$": "美元",
    "US$": "美元",
    "€": "欧元",
    "£": "英镑",
    "¥": "元",
    "￥": "元",
    "₩": "韩元",
    "HK$": "港元",
    "A$": "澳元",
    "C$": "加元",
}
MONEY_NAMES = _CURRENCY
_UNITS = {
    "km": "公里", "m": "米", "cm": "厘米", "mm": "毫米", "kg": "公斤", "g": "克", "mg": "毫克", "t": "吨",
    "L": "升", "l": "升", "ml": "毫升", "mL": "毫升", "s": "秒", "ms": "毫秒", "min": "分钟", "h": "小时",
    "°C": "摄氏度", "℃": "摄氏度", "°F": "华氏度", "°": "度", "m²": "平方米", "km²": "平方公里", "m³": "立方米",
    "W": "瓦", "kW": "千瓦", "kWh": "千瓦时", "V": "伏", "mAh": "毫安时", "Hz": "赫兹", "kHz": "千赫",
    "MHz": "兆赫", "GHz": "吉赫", "dB": "分贝", "GB": " G B", "MB": " M B", "KB": " K B", "TB": " T B",
    "cm²": "平方厘米", "cm³": "立方厘米", "μg": "微克", "μm": "微米", "μs": "微秒", "nm": "纳米", "mA": "毫安",
    "mV": "毫伏", "kV": "千伏", "MW": "兆瓦", "GW": "吉瓦", "Wh": "瓦时", "kJ": "千焦", "kPa": "千帕", "hPa": "百帕",
    "MPa": "兆帕", "mmHg": "毫米汞柱", "rpm": "转每分", "lm": "流明", "Ω": "欧姆", "kΩ": "千欧", "lb": "磅",
    "oz": "盎司", "ft": "英尺", "mi": "英里", "Gbps": "吉比特每秒", "PB": " P B",
    "Mbps": "兆比特每秒", "mph": "英里每小时", "kcal": "千卡", "px": "像素", "ha": "公顷", "Pa": "帕",
}  # fmt: skip
_UNIT = alternatives(_UNITS)
_MEASURES = (
    "点|个|位|名|只|条|张|本|件|台|辆|架|艘|座|栋|间|家|所|颗|粒|滴|杯|瓶|碗|盘|份|次|遍|趟|回|场|局|轮|天|年|周|岁|小时|分钟"
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


def _hour(hour: str) -> str:
    return say.counted(str(int(hour))) + "点"


def _english_hour(match: re.Match[str]) -> str | None:
    """`3pm` -> 下午三点."""
    hour, minute = int(match[1]), match[2]
    if not 1 <= hour <= 12 or int(minute or 0) > 59:
        return None
    half = {"a": "上午", "p": "中午" if hour == 12 else "下午"}[match[3].lower()]
    return half + _hour(match[1]) + (f"{say.cardinal(str(int(minute)))}分" if minute and int(minute) else "")


def _time(match: re.Match[str]) -> str | None:
    hour, minute, second = match["h"], match["m"], match["s"]
    if int(hour) > 24 or int(minute) > 59:
        return None
    said = _hour(hour)
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
    return f"{say.spell(match[1])}到{say.spell(match[2])}{match[3]}"


def _money(match: re.Match[str]) -> str:
    scale = {"k": "千", "K": "千", "m": "百万", "M": "百万", "B": "十亿", "bn": "十亿"}
    magnitude = match["magnitude"] or ""
    minus = "负" if match["minus"] else ""
    number = match["number"].replace(",", "")
    if re.fullmatch(r"\d+\.\d0", number):
        number = number[:-1].removesuffix(".0")
    return f"{minus}{say.counted(number)}{scale.get(magnitude, magnitude)}{_CURRENCY[match['sign']]}"


def _rate(match: re.Match[str]) -> str:
    count = say.cardinal(match["count"]) if match["count"] else ""
    return f"每{count}{_UNITS[match['below']]}{say.decimal(match['number'])}{_UNITS[match['unit']]}"


def _measure(match: re.Match[str]) -> str:
    low = f"{say.decimal(match['low'])}到" if match["low"] else ""
    unit = _UNITS[match["unit"]]
    number = say.counted(match["number"]) if not low and unit[0] not in "摄华度 " else say.decimal(match["number"])
    return low + number + unit


def _roman(match: re.Match[str]) -> str | None:
    number = roman.value(match[1])
    return say.cardinal(number) if number else None


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


def _roman_either(match: re.Match[str]) -> str | None:
    number = roman.value(match[1] or match[2])
    return say.cardinal(number) if number else None


def _spelled(match: re.Match[str]) -> str:
    return say.spell(match[1])


_RULER = (
    "路易|亨利|查理|乔治|约翰|保罗|彼得|威廉|腓力",
    "爱德华|拿破仑|尼古拉|腓特烈",
    "亚历山大|伊丽莎白",
    "叶卡捷琳娜",
)
"""Kings and popes, by length: a look behind needs one."""

NUMBERS: tuple[Rule, ...] = (
    rule("mobile", r"(?<!\d)(?:\+?86[- ]?)?1[3-9]\d[- ]?\d{4}[- ]?\d{4}(?!\d)", _mobile, "1"),
    rule("telephone", r"(?<!\d)(?:0\d{2,3}-\d{7,8}|[48]00-\d{3}-?\d{4}|\d{3}-\d{4}-\d{4})(?!\d)", _mobile, "-"),
    rule("called number", r"(?<=[码号话打拨编])(?<!\d)\d{3,8}(?!\d|\s?[个年月日号元块])", _mobile, "码号话打拨编"),
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
    rule("date range", r"(?<=日)\s?[-–~～—]\s?(?=[一二][零一二三四五六七八九]{3}年)", "到", "日"),
    rule("era", r"(公元前?|纪元前?)\s?(\d{1,4})(?=\s?年)", _era_year, "公纪"),
    rule("year range", r"(?<!\d)(\d{4})年?\s?[-–~—至]\s?(\d{4})\s?(学年|年|赛季|财年)", _year_range, "年赛"),
    rule("generation", r"(?<![\d到在至是为过第])([0-9][05])(?=后(?:[和、都们的女男青，。！？]|$))", _spelled, "后"),
    rule("day of two", r"(?<![\d.])(\d{1,2})·(\d{1,2})(?![\d.])", lambda m: say.spell(m[1] + m[2]), "·"),
    rule(
        "named by digits",
        r"(?<!\d)(?:985|211|996|618|315)(?=\s?(?:高校|大学|院校|工程|大促|工作制|晚会|活动))",
        lambda m: say.spell(m[0]),
        "高大院工晚活",
    ),
    rule(
        "hotline",
        rf"(?<=[上打拨找用过警救])(?:1\d\d|12306|100\d\d|12\d{{3}}|95\d{{3}})(?!\d|[.,:%]\d|\s?[多几余]?(?:[年月日号%万亿]|{_MEASURES}|{_UNIT}))",
        _mobile,
        "上打拨找用过警救",
    ),
    rule(
        "year of a version",
        r"(?<=[A-Za-z] )((?:19|20)\d\d)(?![\d.:]|\s?(?:[年月%万亿]|" + _MEASURES + "))",
        _spelled,
        "12",
    ),
    rule("unit range", r"(?<=[℃°CF])\s?[~～—–至]\s?(?=[-−]?\d)", "到", "℃°"),
    rule("weekday range", r"(?<=[周期][一二三四五六日天])\s?[-–~～—]\s?(?=周|星期)", "到", "周期"),
    rule(
        "roman reign",
        rf"(?:(?<={_RULER[0]})|(?<={_RULER[1]})|(?<={_RULER[2]})|(?<={_RULER[3]}))\s?({ROMAN})(?=世|\b|[\u4e00-\u9fff])",
        _roman,
        "IVX",
    ),
    rule(
        "roman order",
        rf"(?<![A-Za-z])(?:(?<=第)({ROMAN})|({ROMAN})(?=\s?[期世级类型]))(?![A-Za-z])",
        _roman_either,
        "IVX",
    ),
    rule("clock of twelve", r"(?<![\d.:])(\d{1,2})(?::(\d\d))?\s?([aApP])\.?[mM]\b\.?", _english_hour, "mM"),
    rule("clock range", r"(?<=[点分])\s?[-–~～—]\s?(?=[上下中]午)", "到", "午"),
    rule("year", r"(?<!\d)(\d{4}|(?<!\d)0\d)(?=\s?年(?!前|后|来|间|历史|时间))", lambda m: say.spell(m[1]), "年"),
    rule("decade", r"(?<!\d)(\d0)(?=\s?年代)", lambda m: say.cardinal(m[1]), "年"),
    rule("time range", r"(?<=[:：]\d\d)\s?[-–~～—]\s?(?=\d{1,2}[:：]\d\d)", "到", ":："),
    rule("score", r"(?<=[分率例])\s?(\d+)\s?[:：]\s?(\d+)(?!\d)", _ratio, ":："),
    rule("score too", r"(?<=比分)(\d+)\s?[-–—]\s?(\d+)(?!\d)", _ratio, "分"),
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
    rule(
        "file",
        r"(?<=[A-Za-z\d])\.(?=(?:py|js|ts|json|txt|md|html|css|csv|pdf|png|jpg|mp3|mp4|wav|zip|exe|docx?|xlsx?)(?![A-Za-z]))",
        "点",
        ".",
    ),
    rule("at", r"(?<!\w)@(?=\w)", " at ", "@"),
    rule("either", r"(?<=\w)/(?=\w)", "、", "/"),
)
