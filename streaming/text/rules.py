"""What the rules of every language share: the shape of a rule, numbers, addresses, letters."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from streaming.text.chars import word_set
from streaming.text.mapped import Mapped

# Possessive, and never begun inside a number: a long row of digits is tried once and not at each of them.
NUMBER = r"(?<!\d)(?:\d{1,3}(?:,\d{3})++(?!\d)(?:\.\d++)?+|\d++(?:\.\d++)?+)"
SIGNED = rf"(?:(?<![A-Za-z0-9_.)\]-])[-−+])?(?:{NUMBER})"


class Rule(NamedTuple):
    """Say `say(match)` for what `pattern` matches; None leaves it to the rules that follow."""

    name: str
    pattern: re.Pattern[str]
    say: Callable[[re.Match[str]], str | None]
    needs: frozenset[str] = frozenset()
    """Text without any of these characters can't match: most rules are never tried on most text."""


DIGITS = "0123456789"


def rule(
    name: str, pattern: str, say: Callable[[re.Match[str]], str | None] | str, needs: str = "", flags: int = 0
) -> Rule:
    """A rule whose replacement is a function or one fixed text."""
    if isinstance(say, str):
        fixed = say
        return Rule(name, re.compile(pattern, flags), lambda _: fixed, frozenset(needs))
    return Rule(name, re.compile(pattern, flags), say, frozenset(needs))


def apply(rules: Sequence[Rule], text: Mapped) -> Mapped:
    """All the rules, in order."""
    chars = set(text.text)
    for one in rules:
        if one.needs and one.needs.isdisjoint(chars):
            continue
        said = text.sub(one.pattern, partial(_apart, one.say))
        if said is not text:
            text, chars = said, set(said.text)
    return text


def _apart(say: Callable[[re.Match[str]], str | None], match: re.Match[str]) -> str | None:
    """What is said, with a space where its letters would run into a neighbour's."""
    said = say(match)
    if not said:
        return said
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    left = " " if _is_latin(before) and _is_latin(said[0]) else ""
    right = " " if _is_latin(after) and _is_latin(said[-1]) else ""
    return left + said + right


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalpha()


def alternatives(table: dict[str, str]) -> str:
    """A pattern for the keys of a table, the longest first."""
    return "|".join(re.escape(key) for key in sorted(table, key=len, reverse=True))


def letters(word: str, joint: str = "-") -> str:
    """`FBI` -> F-B-I. Joined, because `A I` alone would be an article and a pronoun."""
    return joint.join(word.upper())


_CAPS = re.compile(r"(?<![A-Z])(?:[A-Z]{2,}+(?:s(?![A-Za-z])|(?![a-z]))|[A-Z]{2,}(?=[A-Z][a-z]{2}))")
_MIXED_CAPS = re.compile(r"\b([A-Z][a-z][A-Z])(s?)\b")
_CAPS_RUN = re.compile(r"(?<![A-Za-z&])[A-Z]{1,}(?:[ '’-]+[A-Z]+){2,}(?![A-Za-z&])")
_SPOKEN_CAPS = word_set(
    "NASA NATO UNESCO UNICEF OPEC ASEAN AIDS COVID SARS RAM ROM LASER RADAR SIM PIN ASAP FIFA UEFA NAFTA JSON "
    "YAML CUDA GIF JPEG NASDAQ OSHA SWAT SCUBA SONAR BASIC COBOL LAMP CAPTCHA WASM REST NOT NO AND YES ALL "
    "THE IS WE HE SHE TO IN ON AT OR SO IF MY ME BE DO GO UP BY AN AS OF NEVER STOP NOW BUT FOR ARE YOU WAS "
    "HAS HAD CAN GET NEW BIG RED CAT DOG SAT HAT RUN OUT WHO WHY HOW HELP MUST ONLY VERY THIS THAT WITH FROM "
    "GOOD BAD HELLO WORLD OPEN CLOSE DONE NOTE WAY OFF DAY MAN WHAT WHEN BACK HOT OUR OWN FREE SALE BEST LOVE "
    "LIKE JUST HERE LAST NEXT PLAN LIVE TODAY FIRST TIPS ZIP"
)

_SHOUTED_CAPS = _SPOKEN_CAPS | {"IT", "I", "A"}


def caps(joint: str, match: re.Match[str]) -> str:
    """Capitals: known words as words, long pronounceable ones too, the rest letter by letter."""
    word = match.group()
    if word in ("OK", "OKs"):
        return "okay" if word == "OK" else "okays"
    plural = "s" if word.endswith("s") else ""
    word = word.removesuffix("s")
    if word in _SPOKEN_CAPS:
        return (word.lower() if len(word) < 4 else word.capitalize()) + plural
    if len(word) > 5 and re.search("[AEIOUY]", word):
        return word.capitalize() + plural
    return letters(word, joint) + (f"'{plural}" if plural else "")


def _caps_run(match: re.Match[str]) -> str | None:
    """Three or more words in capitals are a shouted sentence if most are words one knows."""
    words = re.findall("[A-Z]+", match.group())
    known = sum(word in _SHOUTED_CAPS or len(word) > 5 for word in words)
    return re.sub(r"\bi\b", "I", match.group().lower()) if known * 2 >= len(words) else None


def caps_rules(joint: str) -> tuple[Rule, ...]:
    """Words in capitals; the letters of an initialism are joined by `joint`."""
    return (
        Rule("shouting", _CAPS_RUN, _caps_run),
        Rule("mixed initialism", _MIXED_CAPS, lambda match: letters(match[1], joint) + ("'s" if match[2] else "")),
        Rule("initialism", _CAPS, partial(caps, joint)),
    )


_URL = re.compile(
    r"(?:https?://|ftp://|www\.)[^\s<>\"'，。；！？、（）“”\u4e00-\u9fff]+"
    r"|(?<![\w@.])(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|io|ai|dev|app|cn|co\.uk|uk|de|fr|jp|info|me|tv)(?![\w@])"
    r"(?:/[^\s<>\"'，。；！？、（）“”\u4e00-\u9fff]*)?",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def address_rules(policy: str, dot: str, at: str, link: str, spell: Callable[[str], str]) -> tuple[Rule, ...]:
    """How e-mail addresses and links are said: the host only (`host`), all of it (`full`), or a word (`word`)."""

    def plain(address: str) -> str:
        """Digits one by one, as one dictates an address; dots by name."""
        spelled = re.sub(r"\d+", lambda digits: f" {spell(digits.group())} ", re.sub("[_-]", " ", address))
        return re.sub(" +", " ", spelled.replace(".", dot)).strip()

    def url(match: re.Match[str]) -> str:
        address, tail = _split_tail(match.group())
        return (link if policy == "word" else plain(_shortened(address, policy)).replace("/", " slash ")) + tail

    def email(match: re.Match[str]) -> str:
        address, tail = _split_tail(match.group())
        return plain(address).replace("@", at) + tail

    return (Rule("e-mail", _EMAIL, email, frozenset("@")), Rule("link", _URL, url, frozenset(".:")))


def _split_tail(text: str) -> tuple[str, str]:
    kept = text.rstrip(".,;:!?]}" if "(" in text else ".,;:!?)]}")
    return kept, text[len(kept) :]


def _shortened(address: str, policy: str) -> str:
    """An address without its protocol; its host only, if that is the policy."""
    address = re.sub(r"^[a-z]+://", "", address, flags=re.IGNORECASE)
    address = re.sub(r"^www\.", "", address, flags=re.IGNORECASE)
    return re.split("[/?#:]", address, maxsplit=1)[0] if policy == "host" else address


def split_identifier(match: re.Match[str]) -> str:
    """`get_user_id()` -> get user id, `parseJson` stays for the camel rule."""
    return re.sub(r"\s+", " ", match.group().replace("_", " ")).strip()


IDENTIFIER_RULES = (
    rule("call", r"(?<=\w)\(\)", "", "("),
    rule("identifier", r"(?<![A-Za-z0-9_])_*[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+_*", split_identifier, "_"),
    rule("pointer", r"\bptr\b", "pointer"),
    rule("camel case", r"(?<=[a-z]{2})[A-Z][a-z]+", lambda m: f" {m[0]}"),
)

_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma",
    "τ": "tau", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Δ": "delta", "Σ": "sigma", "Ω": "omega",
    "Φ": "phi", "Π": "pi", "Γ": "gamma", "Θ": "theta", "Λ": "lambda", "Ψ": "psi",
}  # fmt: skip
GREEK_RULES = (
    # A Greek word is left to the alphabet stage: only single letters are symbols.
    rule("greek", rf"(?<![Ͱ-Ͽ])[{''.join(_GREEK)}](?![Ͱ-Ͽ])", lambda m: f" {_GREEK[m.group()]} ", "".join(_GREEK)),
)


def digits_in_groups(digits: str, spell: Callable[[str], str], gap: str) -> str:
    """A long row of digits, three at a time and a short rest between, so that ear and model can follow."""
    first = len(digits) % 3 if len(digits) % 3 != 1 else 4
    first = min(first or 3, len(digits))
    groups = [digits[:first], *(digits[at : at + 3] for at in range(first, len(digits), 3))]
    return gap.join(spell(group) for group in groups)
