"""Mathematical notation and typography, before digits become words. For each language, since powers are words too."""

from collections.abc import Callable

from streaming.text import numbers_en, numbers_zh
from streaming.text.rules import DIGITS, Rule, rule
from streaming.text.tables_en import LATEX, VULGAR

_TYPOGRAPHY: tuple[Rule, ...] = (
    rule("wide comma", r"(?<=\d)，(?=\d{3}(?!\d))", ",", "，"),
    rule("decimal comma", r"(?<![\d,.])(\d+),(\d{1,2})(?![\d,])", lambda m: f"{m[1]}.{m[2]}", ","),
    rule("apostrophe", r"(?<=\w)[’‘ʼ＇](?=\w)", "'", "’‘ʼ＇"),
)
_FORMULAS: tuple[Rule, ...] = (
    rule("latex root", r"\\sqrt\s?\{([^{}]*)\}", lambda m: f"√ {m[1]}", "\\"),
    rule("latex command", r"\\([A-Za-z]+)", lambda m: LATEX.get(m[1], f" {m[1]} "), "\\"),
    rule(
        "formula",
        r"\$(?!\d+(?:\.\d+)?\s+[A-Za-z]{2,}[^$]*\s\$)([^$\n]*[=^_≤≥≠×÷<>+√αβγδπθλμσω][^$\n]*)\$(?!\d)",
        lambda m: m[1],
        "$",
    ),
    rule("formula brackets", r"\\[()\[\]]", " ", "\\"),
    rule(
        "vulgar fraction",
        rf"(\d*)\s?([{''.join(VULGAR)}])",
        lambda m: f"{m[1]} {VULGAR[m[2]]}".strip(),
        "".join(VULGAR),
    ),
)
_POWER = r"(?<=[\w)])\s?(?:\*\*|\^)\s?(?:\{(-?[A-Za-z0-9]+)\}|(-?[A-Za-z0-9]+))"
_SQUARED = r"(?<![kcm]m)(?<![0-9]m)(?<![a-z]/m)(?<![0-9] m)(?<=[\w)])²"
_CUBED = _SQUARED.replace("²", "³")


def _letters(cardinal: Callable[[str], str]) -> tuple[Rule, ...]:
    """Numbers that touch a letter: 2x, x_1."""
    return (
        rule("coefficient", r"(?<![\w.])(\d+)(?=[xyz](?![A-Za-z])(?!\s?\d))", lambda m: f"{cardinal(m[1])} ", DIGITS),
        rule("subscript", r"(?<![A-Za-z])([A-Za-z])_\{?(\d+)\}?", lambda m: f"{m[1]} {cardinal(m[2])}", "_"),
    )


NOTATION: dict[str, tuple[Rule, ...]] = {
    "en": (
        *_TYPOGRAPHY,
        rule("latex fraction", r"\\[dt]?frac\s?\{([^{}]*)\}\s?\{([^{}]*)\}", lambda m: f"{m[1]} over {m[2]}", "\\"),
        *_FORMULAS,
        *_letters(numbers_en.cardinal),
        rule("function", r"(?<![\w.])([fghFGP])\(([A-Za-z])\)", lambda m: f"{m[1]} of {m[2]}", "("),
        rule("factorial", r"(?<=\d)!(?=\s?[=+×*/)−-])", " factorial", "!"),
        rule("power", _POWER, lambda m: f" to the power {m[1] or m[2]}", "^*"),
        rule("per second squared", r"(?<=\d)\s?m/s²", " meters per second squared", "²"),
        rule("squared", _SQUARED, " squared", "²"),
        rule("cubed", _CUBED, " cubed", "³"),
    ),
    "zh": (
        *_TYPOGRAPHY,
        rule("latex fraction", r"\\[dt]?frac\s?\{([^{}]*)\}\s?\{([^{}]*)\}", lambda m: f"{m[2]}分之{m[1]}", "\\"),
        *_FORMULAS,
        *_letters(numbers_zh.cardinal),
        rule("power", _POWER, lambda m: f"的{m[1] or m[2]}次方", "^*"),
        rule("per second squared", r"(?<=\d)\s?m/s²", "米每二次方秒", "²"),
        rule("number squared", r"(?<=\d)²", "的平方", "²"),
        rule("number cubed", r"(?<=\d)³", "的三次方", "³"),
        rule("squared", _SQUARED, "平方", "²"),
        rule("cubed", _CUBED, "立方", "³"),
    ),
}
