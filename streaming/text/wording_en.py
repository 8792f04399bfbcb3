"""English: abbreviations, signs and names that are not about numbers."""

import re

from streaming.text import numbers_en as say
from streaming.text.calendar_en import month_name
from streaming.text.rules import Rule, alternatives, letters, rule
from streaming.text.tables_en import ABBREVIATIONS, MATH, MONTH, PER, TITLES, VERBS, WEEKDAYS


def _around(words: str) -> str:
    return f" {words} "


def _hashtag(match: re.Match[str]) -> str:
    return "hashtag " + re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", match[1])


def _etc(match: re.Match[str]) -> str:
    return f"{match[1] or ''}et cetera" + ("." if re.match(r"\s+[A-Z]|\s*$", match.string[match.end() :]) else "")


WORDS: tuple[Rule, ...] = (
    rule("world war", r"\bWW(II|I)\b", lambda m: f"World War {say.cardinal(str(len(m[1])))}", "W"),
    rule("languages", r"\bC\+\+", "C plus plus", "+"),
    rule("sharp", r"\b([CF])#", lambda m: f"{m[1]} sharp", "#"),
    rule(
        "street",
        r"(?<=[a-z] )St\.(?!\s+[A-Z])|(?<=[a-z] )St\.(?=\s+[A-Z])(?<=[A-Z][a-z]{3} St\.)",
        lambda m: "Street" if m.string[m.end() :].strip() else "Street.",
        ".",
    ),
    rule("weekday", r"\b(Mon|Tues?|Wed|Thurs?|Thu|Fri)\.", lambda m: WEEKDAYS[m[1][:3]], "."),
    rule("month", rf"\b(?!May)({MONTH})\.(?=\s+[a-z])", lambda m: month_name(m[1]), "."),
    rule("title", rf"\b({'|'.join(TITLES)})\.(?=\s+(?:[A-Z]|and\b))", lambda m: TITLES[m[1]], "."),
    rule("et cetera", r"(&\s?c\.|\b)?\betc\.", _etc, "."),
    rule(
        "abbreviation",
        rf"(?<![\w.])({alternatives(ABBREVIATIONS)})(?![A-Za-z])|\bw/(?=\w)",
        lambda m: ABBREVIATIONS[m[0]],
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
    rule("math", alternatives(MATH), lambda m: _around(MATH[m[0]]), "".join(MATH)),
    rule("years old", r"\by/o\b", "years old", "/"),
    rule("per", rf"(?<=\w)\s?/\s?({'|'.join(PER)})\b", lambda m: f" per {PER[m[1]]}", "/"),
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
    rule("verb", r"(?<=[A-Za-z])'(m|re|ve|ll|d)\b", lambda m: f" {VERBS[m[1].lower()]}", "'", re.IGNORECASE),
    rule("possessive", r"(?<=[A-Za-z])'(?=s\b|\s)", "", "'"),
    rule("o'clock", r"\bo'(?=[A-Za-z])", "o", "'", re.IGNORECASE),
)
