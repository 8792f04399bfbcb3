"""Sentences full of numbers, for `tests.bench.speech`: every value must be heard."""

import re

from pypinyin import lazy_pinyin

from streaming.text.chars import word_set
from streaming.text.front import TextFront
from streaming.text.speak import TextOptions

NUMBER_TEXTS = {
    "en": (
        "The stadium holds 80,250 people.",
        "She finished 21st, and he was 13th.",
        "Pi is about 3.14159, as everybody knows.",
        "The temperature was -12 degrees on Monday.",
        "Add 2/3 of a cup of sugar and stir.",
        "Unemployment fell by 0.3 points to 4.1%.",
        "The company is worth $1.2 trillion today.",
        "They raised €750 million in 2019.",
        "The ticket costs $19.99 at the door.",
        "He bought the old car for £850.",
        "The train goes at 125 mph on this line.",
        "Water boils at 212°F at sea level.",
        "She ran 5 km in 22 minutes.",
        "Please take 500 mg of it twice a day.",
        "The treaty was signed on June 28, 1919.",
        "The report is due on 2025-11-03.",
        "My sister was born on October 3rd, 2001.",
        "The music of the 1960s was different.",
        "The train leaves at 6:45 PM and arrives at 11:05 PM.",
        "The store is open from 9am to 5pm.",
        "Please read pages 45-52 for tomorrow.",
        "The score was 21-14 at the end of the game.",
        "The odds of winning are 5:1.",
        "In 1805 there was a great battle at sea.",
        "Rome fell in 476 AD, they say.",
        "Call us at 555-0123 for more information.",
        "In an emergency, please dial 911.",
        "You can find us in room 1408 of the hotel.",
        "Take Route 66 to the west.",
        "We need Python 3.12 for this program.",
        "World War II ended in 1945.",
        "King Louis XIV built a palace.",
        "Chapter IX begins on page 213.",
        "The answer is 3 × 4 = 12.",
        "The product grew by 250% in 18 months.",
        "There are 7,900,000,000 people on earth.",
        "The mountain is 8,849 m high.",
        "The house has 3 bedrooms and 2½ bathrooms.",
        "He is 6'2\" tall and weighs 180 lbs.",
        "The download takes 35 s at 100 Mbps.",
    ),
    "zh": (
        "会议定于2024年3月18日上午9点30分。",
        "他生于1995年，今年29岁。",
        "我的手机号是13912345678。",
        "公司市值达到3.2万亿美元。",
        "这件衣服售价￥2,999。",
        "今年的利率是3.85%。",
        "今天最高气温37.5℃。",
        "高铁的速度是350km/h。",
        "这个城市的面积是16410平方公里。",
        "他身高180cm，体重75kg。",
        "最后的比分是3:1。",
        "占全部人口的1/3。",
        "他住在12层1203室。",
        "第21届运动会明天开始。",
        "来了1008个人参加活动。",
        "中国人口有14.1亿。",
        "这需要3~5个工作日。",
        "请看第12-15页的内容。",
        "我们坐G1234次列车去北京。",
        "请从3号线转10号线。",
        "验证码是0592，请尽快输入。",
        "下午2:30在门口见。",
        "商店每天7:00-22:00营业。",
        "一共12.50元，请扫码支付。",
        "昨天夜里降到了-15℃。",
        "电池容量是5000mAh。",
        "这本书一共有365页。",
        "20世纪60年代的音乐很好听。",
        "公司成立于2008年8月8日。",
        "房价涨到每平米5.8万元。",
        "速度提升了100倍。",
        "这座桥已经有200年历史。",
        "我买了2斤苹果和12个鸡蛋。",
        "男子100m决赛今晚举行。",
        "火警请打119，急救请打120。",
        "这台电脑的内存是16GB。",
        "通过率在80%到90%之间。",
        "他考了98.5分，排在第2名。",
        "已有120000次下载。",
        "5+3=8，这是对的。",
    ),
}


_EN = word_set(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion"
    " point minus percent half third thirds quarter first second fourth fifth sixth eighth ninth twelfth thirteenth"
    " fourteenth twentieth thirtieth"
)
_ZH = frozenset("零一二三四五六七八九十百千万亿负半")
_SAME = {"oh": "zero", "两": "二", "幺": "一", "thirds": "third"}


def values(text: str, language: str) -> list[str]:
    """The words for numbers in a text as we say it."""
    words = list(_said(text, language)) if language == "zh" else re.findall("[a-z]+", _said(text, language).lower())
    return [word for word in (_SAME.get(word, word) for word in words) if word in (_ZH if language == "zh" else _EN)]


def heard_values(expected: list[str], heard: str, language: str) -> list[str]:
    """Of the expected words those that were heard, or (English) all that were heard.

    What a recogniser wrote in digits is said again for it. Of Chinese the sounds are compared, since it may write any
    character that sounds alike; so what it heard besides does not count.
    """
    if language == "en":
        return values(heard, language)
    sounds = lazy_pinyin(_said(heard, language).replace("邀", "一").replace("腰", "一"))
    return heard_in_order(expected, lazy_pinyin("".join(expected)), sounds)


def heard_in_order(expected: list[str], sounds: list[str], heard: list[str]) -> list[str]:
    """The longest part of `expected` whose `sounds` come in order in `heard`."""
    best: list[list[str]] = [[] for _ in range(len(heard) + 1)]
    for word, sound in zip(expected, sounds, strict=True):
        row: list[list[str]] = [[]]
        for at, other in enumerate(heard, 1):
            row.append([*best[at - 1], word] if sound == other else max(best[at], row[-1], key=len))
        best = row
    return best[-1]


def _said(text: str, language: str) -> str:
    front = TextFront(TextOptions(languages=(language,)))
    said = " ".join(segment.spoken for segment in front.push(text) + front.flush())
    return "".join(_SAME.get(char, char) for char in said) if language == "zh" else said
