"""Cuts a string of phonemes into pieces that one call of a model speaks."""

import re

_CLAUSE = re.compile(r"(?<=[,;:.!?…—])[”\")]*\s+")
_WORD = re.compile(r"\s+")
_CLOSERS = ' ”")'
_GAPS_S = {".": 0.35, "!": 0.35, "?": 0.35, "…": 0.35, ";": 0.25, ":": 0.25, "—": 0.2, ",": 0.15}


def pieces(phonemes: str, soft: int, hard: int) -> list[str]:
    """Pieces of about `soft` phonemes cut at clauses, and never of more than `hard`: then at words, or anywhere."""
    phonemes = phonemes.strip()
    if len(phonemes) <= soft:
        return [phonemes] if phonemes else []
    cut = _middle(_CLAUSE, phonemes)
    if cut is None and len(phonemes) <= hard:
        return [phonemes]
    if cut is None:
        cut = _middle(_WORD, phonemes) or len(phonemes) // 2
    return pieces(phonemes[:cut], soft, hard) + pieces(phonemes[cut:], soft, hard)


def sounds(phonemes: str) -> bool:
    """Whether there is more than marks."""
    return any(phoneme.isalpha() for phoneme in phonemes)


def gap_s(phonemes: str) -> float:
    """The pause that the last mark of a piece asks for."""
    return _GAPS_S.get(phonemes.rstrip(_CLOSERS)[-1:], 0.0)


def _middle(boundary: re.Pattern[str], phonemes: str) -> int | None:
    """The boundary nearest the middle; none in the outer fifths, where it would leave a fragment."""
    size = len(phonemes)
    cuts = [found.end() for found in boundary.finditer(phonemes) if size / 5 <= found.end() <= size * 4 / 5]
    return min(cuts, key=lambda cut: abs(cut - size / 2), default=None)
