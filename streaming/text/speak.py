"""What is said for the text of one segment: the stages, in order, each from `Mapped` to `Mapped`."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial

from streaming.text import numbers_en, numbers_zh, tables_en, verbalise_en, verbalise_zh, wording_en
from streaming.text.alphabet import CHINESE_AND_ENGLISH, Alphabet, Skip, fit, has_words
from streaming.text.emoji_names import name_pictures
from streaming.text.language import english_runs
from streaming.text.lexicon import Lexicon
from streaming.text.mapped import Mapped, concat
from streaming.text.notation import NOTATION
from streaming.text.rules import GREEK_RULES, IDENTIFIER_RULES, Rule, address_rules, apply, caps_rules, rule

CONTROLS = frozenset(["laugh", "uv_break", "lbreak"])
"""The controls that a voice may know."""

Stage = tuple[str, Callable[[Mapped], Mapped]]


@dataclass(frozen=True)
class TextOptions:
    """How text is read. One per context; values that engines and users choose."""

    languages: tuple[str, ...] = ("en", "zh")
    """Languages that numbers may be read in; the first one where there is no word to tell."""
    emoji: str = "silent"
    """`silent`, or `name` to say their names."""
    urls: str = "host"
    """`host` says the host name, `full` all of it, `word` just "link"."""
    controls: frozenset[str] = frozenset()
    """Bracketed controls that go through to the engine, such as `laugh`; all others are neutralised."""
    lexicon: Lexicon = field(default_factory=Lexicon)
    alphabet: Alphabet = CHINESE_AND_ENGLISH

    def __post_init__(self) -> None:
        _check("languages", self.languages, ("en", "zh"))
        _check("emoji", (self.emoji,), ("silent", "name"))
        _check("urls", (self.urls,), ("host", "full", "word"))
        _check("controls", tuple(self.controls), tuple(CONTROLS))
        if not self.languages:
            raise ValueError("languages: name at least one of en, zh")

    @cached_property
    def stages(self) -> dict[str, tuple[Stage, ...]]:
        """The stages for each language."""
        return {language: tuple(_stages(self, language)) for language in ("en", "zh")}

    def language(self, found: str) -> str:
        """The language to read in where the words are in `found`."""
        return found if found in self.languages else self.languages[0]


def _check(name: str, values: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    for value in values:
        if value not in allowed:
            raise ValueError(f"{name}: {value!r} is none of {', '.join(allowed)}")


def verbalise(text: Mapped, options: TextOptions, language: str) -> Mapped:
    """Say everything in words; allowed controls go through untouched."""
    for _, stage in options.stages[language]:
        text = stage(text)
    return text


_CONTROL = re.compile(r"(?<!\[)\[(?:laugh|uv_break|lbreak)\](?!\])")
_COMBINED = re.compile("[^\\W\\d_][\u0300-\u036f]+")

_INITIALS = re.compile(r"(?<![A-Za-z-])([A-Z](?:-[A-Z])+)(?![A-Za-z-])([.']?)")

_TIDY: tuple[Rule, ...] = (
    rule("spaces", r"\s{2,}|[^\S ]", " "),
    rule("space before a mark", r"\s+(?=[,.;:!?，。！？；：、…)](?!\d))", ""),
    rule("mark before a mark", r"[,;:，；：、]\s*(?=[\s\"'”’]*[,.;:!?，。！？；：、])", ""),
    rule("marks after a stop", r"(?<=[.。！？!?])[\"“”]?[,;:，。；：、]+[\"“”]?", ""),
    rule("doubled mark", r"([!?！？。])\s*(?=\1)", ""),
    rule("many dots", r"(?<=\.\.\.)\.+|(?<=…)…+", ""),
    rule("leading marks", r"\A[\s,;:.!?，。；：、！？…)\]”’]+(?=.)", ""),
    rule("empty brackets", r"[(（]\s*[)）]", ""),
    rule("trailing space", r"\s+\Z", ""),
)
_TIDY_ZH: tuple[Rule, ...] = (
    rule("space in Chinese", "(?<=[\u3400-\u9fff，。！？；：、])\\s+(?=[\u3400-\u9fff])", ""),
)
_LEFT: dict[str, tuple[Rule, ...]] = {
    "en": (
        rule("left percent", "[%％]", " percent "),
        rule("left money", r"[$€£¥₹]", lambda m: tables_en.MONEY_NAMES[m.group()]),
        rule("left at", "@", " at "),
        rule("left degree", "°", " degrees "),
        rule("left square", "²", " squared "),
    ),
    "zh": (
        rule("left money", r"[$€£¥]", lambda m: verbalise_zh.MONEY_NAMES[m.group()]),
        rule("left at", "@", " at "),
        rule("left degree", "°", "度"),
        rule("left square", "²", "平方"),
    ),
}


def _stages(options: TextOptions, language: str) -> list[Stage]:
    words = {"en": (" dot ", " at ", "link", numbers_en.spell), "zh": ("点", " at ", "链接", numbers_zh.spell)}[
        language
    ]
    rules = {"en": (verbalise_en.NUMBERS, wording_en.WORDS), "zh": (verbalise_zh.NUMBERS, verbalise_zh.WORDS)}[language]
    joint = "-" if language == "en" else " "
    numbers, marks = (_outside_controls(partial(_by_run, each, language)) for each in rules)
    return [
        ("compose", lambda text: text.sub(_COMBINED, lambda match: unicodedata.normalize("NFC", match.group()))),
        ("emoji", lambda text: name_pictures(text, options.emoji, language)),
        ("lexicon", _outside_controls(lambda text: options.lexicon.apply(text, language))),
        ("addresses", partial(apply, address_rules(options.urls, *words))),
        ("notation", _outside_controls(partial(apply, NOTATION[language]))),
        ("numbers", numbers),
        ("words", marks),
        ("names", _outside_controls(partial(apply, (*IDENTIFIER_RULES, *GREEK_RULES, *caps_rules(joint))))),
        ("fallback", _outside_controls(partial(apply, _LEFT[language]))),
        ("tidy", partial(apply, (*_TIDY, *(_TIDY_ZH if language == "zh" else ())))),
    ]


def _outside_controls(stage: Callable[[Mapped], Mapped]) -> Callable[[Mapped], Mapped]:
    """The stage, blind for controls: what is left of them in brackets here was allowed by the cleaner."""

    def run(text: Mapped) -> Mapped:
        spans = [match.span() for match in _CONTROL.finditer(text.text)] if "[" in text.text else []
        return _apart(text, spans, lambda part: part, stage) if spans else stage(text)

    return run


def _by_run(rules: tuple[Rule, ...], language: str, text: Mapped) -> Mapped:
    """Chinese rules for Chinese text, English ones for an English quotation in it."""
    if language == "en":
        return apply(rules, text)
    english = verbalise_en.NUMBERS if rules is verbalise_zh.NUMBERS else wording_en.WORDS
    return _apart(text, english_runs(text.text), partial(apply, english), partial(apply, rules))


def _apart(
    text: Mapped,
    spans: list[tuple[int, int]],
    inside: Callable[[Mapped], Mapped],
    outside: Callable[[Mapped], Mapped],
) -> Mapped:
    parts, at = [], 0
    for start, end in spans:
        parts += [outside(text[at:start]), inside(text[start:end])]
        at = end
    return concat([*parts, outside(text[at:])])


def _dot_initials(match: re.Match[str]) -> str:
    return match.group() if match[2] == "'" else match[1].replace("-", ".") + "."


def fit_spoken(text: Mapped, options: TextOptions, source: str) -> tuple[Mapped, tuple[Skip, ...]]:
    """`text` in the alphabet of the engine and what had to be skipped; nothing if no word is left of it."""
    skipped: list[Skip] = []

    def fit_part(part: Mapped) -> Mapped:
        fitted, skips = fit(part, options.alphabet, source)
        skipped.extend(skips)
        return fitted

    text = text.sub(_INITIALS, _dot_initials) if options.alphabet.dotted else text
    text = text if options.alphabet.reads("'") else apply(wording_en.CONTRACTIONS, text)
    fitted = apply((*_TIDY, *_TIDY_ZH), _outside_controls(fit_part)(text))
    return (fitted if has_words(fitted.text) else Mapped()), tuple(skipped)
