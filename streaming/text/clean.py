"""Raw deltas in, text without invisible characters and markup out, with the source of every character.

Works on text cut anywhere: what could still become a tag, an entity, a link or a mark of emphasis is held back,
at most `_HOLD` characters of it.
"""

import html
import re
import unicodedata
from dataclasses import dataclass

from streaming.text.chars import NEWLINES, is_han, word_set
from streaming.text.mapped import Mapped
from streaming.text.ssml import break_s

_HOLD = 300

_KEPT = frozenset("！，：；？（）［］｛｝～…½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞²³™®©\u200d\ufe0f¯´¨")
"""Compatibility characters that mean more as they are."""
_HIDDEN_TAGS = word_set("think thinking reasoning thought scratchpad script style")
_BLOCK_TAGS = word_set(
    "address article aside blockquote br dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header"
    " hr li main nav ol p pre section table td th title tr ul"
)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]{0,40})((?:\s+[\w:-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>]+))*)\s*/?>")
_TOKEN = re.compile(r"<\|[^|<>\n]{1,60}\|>")
_COMMENT = re.compile(r"<!--.*?-->|<![A-Za-z][^<>]*>|<\?[^<>]*>", re.DOTALL)
_AUTOLINK = re.compile(r"<([A-Za-z][^\s<>]*[.@:][^\s<>]*)>")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ENTITY_HEAD = re.compile(r"&(?:#[xX]?)?[A-Za-z0-9]{0,32}\Z")
_LINK = re.compile(r"\[([^\[\]\n]{0,200})\]\(([^()\s]*(?:\([^()\s]*\))?[^()\s]*)(?:\s+\"[^\"\n]*\")?\)")
_BRACKET = re.compile(r"\[([^\[\]\n]{0,200})\]")
_CONTROL = re.compile(r"[A-Za-z]+(?:_[A-Za-z0-9]+)*")
_MODEL_TOKENS = re.compile(
    r"[SPE](?:tts|break|txt)|(?:break|laugh|oral|speed)_\d+|spk_emb|empty_spk|u?v_break|l?lbreak|undefine|laugh|music|pure"
    r"|UNK|PAD|CLS|SEP|MASK|/?INST"
)
_LINE_HEAD = re.compile(r"[ \t]*(?:(?:>[ \t]?)+[ \t]*)?(?:#{1,6}[ \t]+|[-+*•·‣◦][ \t]+(?:\[[ xX]\][ \t]+)?)?")
_LINE_HEAD_PART = re.compile(
    r"[ \t]*(?:(?:>[ \t]?)+[ \t]*)?(?:#{0,6}|#{1,6}[ \t]+|[-+*•·‣◦](?:[ \t]+(?:\[[ xX]?\]?[ \t]*)?)?)?\Z"
)
_RULE = re.compile(
    r"[ \t]*(?:[-*_=][ \t]*){3,}(?=[\n\r])"
    r"|[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*(?=[\n\r])"
)
_RULE_PART = re.compile(r"[ \t]*[-*_=|:][-*_=|: \t]*\Z")
_PLAIN = re.compile("[ \"#$%'()+,\\-./0-9:;=>?@A-Z\\\\^a-z{}，。？！、\u4e00-\u9fff]+")
_SPECIAL = frozenset("<&[]*_`~|!")


@dataclass(frozen=True, slots=True)
class Found:
    """What was recognised at one place: how long it is, and what is left of it (its own text if None)."""

    length: int
    says: str | None
    inner: tuple[int, int] | None = None
    """Part of it that goes on as it is, instead of `says`."""
    pause_s: float | None = None
    """The silence that a newline in `says` stands for."""


_WAIT = Found(0, None)


class Cleaner:
    """Takes deltas, gives clean text. Owned by one context."""

    def __init__(self, controls: frozenset[str] = frozenset()) -> None:
        self._controls = controls
        self._text = ""
        self._offset = 0
        self._line_start = True
        self._table = False
        self._before = ""
        self._open: list[str] = []
        self._hidden = ""
        self._hidden_at = 0
        self.skipped: list[tuple[int, int, str]] = []
        """Source ranges of what was left out and is more than markup, with the reason. The reader empties it."""
        self.pauses: list[tuple[int, float]] = []
        """Offsets into all clean text of newlines that ask for a silence, in seconds. The reader empties it."""
        self._given = 0

    @property
    def consumed(self) -> int:
        """The source offset before which nothing is held back."""
        return self._offset

    @property
    def holding(self) -> bool:
        """Is text held back that may be said."""
        return bool(self._text) and not self._hidden

    def push(self, delta: str) -> Mapped:
        """Clean text that became certain."""
        return self._feed(delta, final=False)

    def settle(self) -> Mapped:
        """Text has stopped coming: give up a `!` that no picture followed; it may end a sentence."""
        return self._feed("", final=True) if self._text == "!" else Mapped()

    def flush(self) -> Mapped:
        """What was held back, as if nothing followed."""
        out = self._feed("", final=True)
        if self._hidden and self._hidden_at < self._offset:
            self.skipped.append((self._hidden_at, self._offset, self._hidden))
            self._hidden_at = self._offset
        return out

    def _feed(self, text: str, *, final: bool) -> Mapped:
        out: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        self._text += text
        at = 0
        while at < len(self._text):
            if end := self._plain_end(at):
                out += self._text[at:end]
                starts += range(self._offset + at, self._offset + end)
                ends += range(self._offset + at + 1, self._offset + end + 1)
                at = end
                continue
            found = self._at(at, final=final)
            if found is _WAIT:
                break
            if found.pause_s is not None:
                self.pauses.append((self._given + len(out), found.pause_s))
            for char, start, end in self._said(at, found):
                out.append(char)
                starts.append(start)
                ends.append(end)
            at += found.length
        self._text = self._text[at:]
        self._offset += at
        self._given += len(out)
        return Mapped("".join(out), tuple(starts), tuple(ends))

    def _plain_end(self, at: int) -> int:
        """The end of a run of characters that are certainly just text, 0 if there is none at `at`."""
        if self._hidden or self._line_start:
            return 0
        match = _PLAIN.match(self._text, at)
        if match is None:
            return 0
        self._before = match.group()[-1]
        return match.end()

    def _said(self, at: int, found: Found) -> list[tuple[str, int, int]]:
        """Characters with their source range, sanitised."""
        base = self._offset + at
        if found.inner is not None:
            low, high = found.inner
            raw = [(self._text[at + k], base + k, base + k + 1) for k in range(low, high)]
        elif found.says is None:
            raw = [(self._text[at + k], base + k, base + k + 1) for k in range(found.length)]
        else:
            raw = [(char, base, base + found.length) for char in found.says]
        said = [(new, start, end) for char, start, end in raw for new in sanitise(char)]
        for char, _, _ in said:
            self._note(char)
        return said

    def _note(self, char: str) -> None:
        self._before = char
        if char in NEWLINES:
            self._line_start, self._table = True, False
            self._open.clear()

    def _at(self, at: int, *, final: bool) -> Found:
        """What is at `at`, `_WAIT` if more text is needed to tell."""
        text = self._text
        whole = final or len(text) - at >= _HOLD
        if self._hidden:
            return self._at_hidden(at, whole)
        if self._line_start:
            return self._at_line_start(at, whole)
        return self._at_mark(text[at], at, whole) if text[at] in _SPECIAL else Found(1, None)

    def _at_mark(self, mark: str, at: int, whole: bool) -> Found:
        match mark:
            case "<":
                return self._read_angle(at, whole)
            case "&":
                return self._read_entity(at, whole)
            case "[":
                return self._read_bracket(at, whole)
            case "!":
                return self._read_bang(at, whole)
            case "*" | "_":
                return self._read_emphasis(at, whole)
            case "~":
                return self._read_tilde(at, whole)
            case "|" if self._table:
                return Found(1, ", ")
            case "]":
                return Found(1, " ")
            case "`":
                return Found(1, "")
        return Found(1, None)

    def _at_line_start(self, at: int, whole: bool) -> Found:
        """Marks that only count at the beginning of a line: headings, bullets, quotes, rules, fences, tables."""
        head = self._text[at : at + _HOLD]
        if not whole and (_LINE_HEAD_PART.match(head) or _RULE_PART.match(head) or head.strip() in ("`", "``", "```")):
            return _WAIT
        self._line_start = False
        if rule := _RULE.match(head if "\n" in head or not whole else head + "\n"):
            return Found(rule.end(), "") if rule.end() else Found(1, None)
        mark = _LINE_HEAD.match(head)
        length = mark.end() if mark else 0
        if head[length : length + 3] == "```":
            self._hide("code", at)
            return Found(length + 3, "")
        if head[length : length + 1] == "|":
            self._table = True
            return Found(length + 1, "")
        return Found(length, "") if length else self._at(at, final=whole)

    def _hide(self, reason: str, at: int) -> None:
        self._hidden, self._hidden_at = reason, self._offset + at

    def _at_hidden(self, at: int, whole: bool) -> Found:
        """Inside a fence or a block that is not for the listener: only its end counts."""
        end = "```" if self._hidden == "code" else f"</{self._hidden}"
        head = self._text[at : at + len(end)].lower()
        if head != end:
            return _WAIT if not whole and head == end[: len(self._text) - at] else Found(1, "")
        if self._hidden == "code":
            return self._unhide(at, len(end))
        window = self._text[at : at + _HOLD]
        if match := re.compile(r"</\w+\s*>").match(window):
            return self._unhide(at, match.end())
        return _WAIT if not whole and not window[len(end) :].strip() else Found(1, "")

    def _unhide(self, at: int, length: int) -> Found:
        self.skipped.append((self._hidden_at, self._offset + at + length, self._hidden))
        self._hidden = ""
        return Found(length, "\n")

    def _read_angle(self, at: int, whole: bool) -> Found:
        text = self._text
        window = text[at : at + _HOLD]
        if match := (_TOKEN.match(window) or _COMMENT.match(window)):
            return Found(match.end(), "")
        if match := _TAG.match(window):
            return self._read_tag(at, match)
        if match := _AUTOLINK.match(window):
            return Found(match.end(), None, match.span(1))
        opens = len(window) < 2 or (window[1].isascii() and window[1].isalpha()) or window[1] in "/!|?"
        if not whole and opens and not any(char in "<>\n" for char in window[1:]):
            return _WAIT
        return Found(1, None)

    def _read_tag(self, at: int, match: re.Match[str]) -> Found:
        name = match.group(2).lower()
        if name in _HIDDEN_TAGS and not match.group(1) and not match.group().endswith("/>"):
            self._hide(name, at)
            return Found(match.end(), "")
        if name == "break":
            pause_s = break_s(match.group(3))
            return Found(match.end(), "\n", pause_s=pause_s) if pause_s else Found(match.end(), "")
        return Found(match.end(), "\n" if name in _BLOCK_TAGS else "")

    def _read_entity(self, at: int, whole: bool) -> Found:
        window = self._text[at : at + 40]
        if match := _ENTITY.match(window):
            char = html.unescape(match.group())
            return Found(match.end(), " " if char == "\xa0" else char) if char != match.group() else Found(1, None)
        if not whole and _ENTITY_HEAD.match(window):
            return _WAIT
        return Found(1, None)

    def _read_bang(self, at: int, whole: bool) -> Found:
        """`!` before a link makes it a picture: its description is said."""
        window = self._text[at : at + _HOLD]
        if not whole and (len(window) < 2 or (window[1] == "[" and self._read_bracket(at + 1, whole) is _WAIT)):
            return _WAIT
        return Found(1, "") if _LINK.match(window, 1) else Found(1, None)

    def _read_bracket(self, at: int, whole: bool) -> Found:
        window = self._text[at : at + _HOLD]
        if match := _LINK.match(window):
            return Found(match.end(), None, match.span(1))
        match = _BRACKET.match(window)
        if match is None:
            waits = not whole and not any(char in "[]\n" for char in window[1:]) and len(window) <= 202
            return _WAIT if waits else Found(1, " ")
        target = window[match.end() :]
        if not whole and (not target or (target[0] == "(" and not re.search(r"[)\n]", target))):
            return _WAIT
        return self._read_bracketed(match)

    def _read_bracketed(self, match: re.Match[str]) -> Found:
        inside = match.group(1)
        if inside in self._controls:
            return Found(match.end(), None)
        if _MODEL_TOKENS.fullmatch(inside):
            return Found(match.end(), " ")
        return Found(1, " ")

    def _read_emphasis(self, at: int, whole: bool) -> Found:
        """A run of `*` or `_`: silent where it opens or closes emphasis, kept as text anywhere else."""
        text, char = self._text, self._text[at]
        end = at
        while end < len(text) and text[end] == char and end - at < 8:
            end += 1
        if end == len(text) and not whole:
            return _WAIT
        run, after = text[at:end], text[end : end + 1]
        if self._closes(run, after):
            self._open.remove(run)
            return Found(len(run), "")
        if self._opens(run, after):
            self._open.append(run)
            return Found(len(run), "")
        return Found(len(run), None)

    def _opens(self, run: str, after: str) -> bool:
        if not after or after.isspace() or after in ".,;:/=)" or len(run) > 3 or len(self._open) > 8:
            return False
        before = self._before
        return not before.isalnum() or (run[0] == "*" and is_han(before))

    def _closes(self, run: str, after: str) -> bool:
        if run not in self._open or self._before.isspace():
            return False
        return run[0] == "*" or not after.isalnum() or is_han(after)

    def _read_tilde(self, at: int, whole: bool) -> Found:
        if at + 1 == len(self._text) and not whole:
            return _WAIT
        return Found(2, "") if self._text.startswith("~~", at) else Found(1, None)


def sanitise(char: str) -> str:
    """One character as it is read: invisible ones gone, compatibility forms replaced by what they stand for."""
    if char < "\x7f":
        return char if char >= " " or char in "\t\n\r\v\f" else ""
    if char in _KEPT or char in NEWLINES:
        return char
    category = unicodedata.category(char)
    if category in ("Cf", "Cc", "Cs", "Co", "Cn") or char == "\ufffd":
        return ""
    return unicodedata.normalize("NFKC", char)
