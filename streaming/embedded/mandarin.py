"""Chinese text to the phonemes Kokoro was trained on: what `misaki.zh.ZHG2P` gives, without its import of jieba.

That takes 1.5 s, warns, and keeps a cache in a shared folder; rjieba cuts the same words from the same dictionary.
"""

import re

import rjieba
from misaki.transcription import pinyin_to_ipa
from pypinyin import Style, lazy_pinyin

_HAN_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff〇]+")
_DIGIT = re.compile(r"\d")
_SPACES = re.compile(r"\s+")
_MARKS = str.maketrans(
    {
        **dict.fromkeys("、，", ", "),
        **dict.fromkeys("。．", ". "),
        **dict.fromkeys("«《「『【", " “"),
        **dict.fromkeys("»》」』】", "” "),
        "！": "! ",
        "：": ": ",
        "；": "; ",
        "？": "? ",
        "（": " (",
        "）": ") ",
    }
)
# In order: the third tone contains the others.
_TONES = (("˧˩˧", "↓"), ("˧˥", "↗"), ("˥˩", "↘"), ("˥", "→"), ("ɻ̩", "ɨ"), ("ɹ̩", "ɨ"), ("\u032f", ""))


def phonemize(text: str) -> str:
    """Words of phonemes with tones, and Latin marks."""
    spelled = _spelled(text).translate(_MARKS)
    phonemes = _HAN_RUN.sub(lambda found: " ".join(map(_word, rjieba.cut(found[0]))), spelled)
    return _SPACES.sub(" ", phonemes).strip()


def warm() -> None:
    """Loads the dictionaries."""
    phonemize("准备好了。")


def _spelled(text: str) -> str:
    """Digits in words. The text front end has left none, so the library is not loaded before it is needed."""
    if not _DIGIT.search(text):
        return text
    import cn2an  # noqa: PLC0415

    words: str = cn2an.transform(text, "an2cn")
    return words


def _word(word: str) -> str:
    return "".join(map(_syllable, lazy_pinyin(word, style=Style.TONE3, neutral_tone_with_five=True)))


def _syllable(pinyin: str) -> str:
    """The phonemes of a syllable; none for a character that has no reading."""
    try:
        phonemes = "".join(pinyin_to_ipa(pinyin)[0])
    except ValueError:
        return ""
    for tone, mark in _TONES:
        phonemes = phonemes.replace(tone, mark)
    return phonemes
