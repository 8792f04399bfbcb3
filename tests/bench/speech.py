"""Is it said right? Sentences through the whole server, heard by a recogniser.

`python -m tests.bench.speech [--language en|zh|mixed] [--numbers] [--json FILE]`; `make judge` installs the recogniser.

Each text goes in once word by word and once in one piece, and both must give the same samples. English is judged by
words. Chinese is judged by characters, and by the syllables they stand for: a recogniser guesses which of many
characters of one sound was meant, and no voice can make 他 sound unlike 她. Of mixed text every syllable and every
word must be heard, a word by the recogniser's Chinese or by its English. With `--numbers` forty sentences are judged
by the words of their values.
"""

import argparse
import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firstword.client import Client, connect
from firstword.protocol import AudioPacket, Ended
from streaming.judge import (
    chinese_units,
    edits,
    english_units,
    hear_chinese,
    hear_english,
    hear_words_among_chinese,
    simplified,
    sounds,
)
from tests.bench.number_texts import NUMBER_TEXTS, heard_in_order, heard_values, values
from tests.bench.report import Report
from tests.bench.ttfa import VOICES, pieces
from tests.serving import running_server

TEXTS = {
    "en": (
        "The weather is lovely today, and the garden is full of birds.",
        "Please leave your coat in the hall and come into the kitchen.",
        "She found an old letter in the back of the drawer.",
        "We walked along the river until the sun went down.",
        "My brother plays the piano every evening after dinner.",
        "The train was late, so we missed the beginning of the film.",
        "Can you tell me the way to the station, please?",
        "He opened the window because the room was too warm.",
        "They have lived in this village for more than thirty years.",
        "The children are building a castle out of sand.",
        "I would like a cup of coffee and a piece of apple cake.",
        "Her new book is about the history of the ocean.",
        "The doctor told him to rest and drink plenty of water.",
        "Nobody knew where the music was coming from.",
        "Our teacher speaks five languages and is learning another.",
        "It was so quiet that we could hear the clock in the next room.",
        "The market opens at six o'clock in the morning.",
        "You should call your mother before it gets too late.",
        "The old bridge was closed after the storm last winter.",
        "Thank you for your help, it made everything much easier.",
    ),
    "zh": (
        "今天天气很好，花园里有很多鸟。",
        "请把大衣放在门口，然后到厨房来。",
        "她在抽屉里找到了一封旧信。",
        "我们沿着河边一直走到太阳下山。",
        "我哥哥每天晚饭后都弹钢琴。",
        "火车晚点了，所以我们错过了电影的开头。",
        "请问去火车站怎么走？",
        "房间太热了，所以他打开了窗户。",
        "他们在这个村子里住了三十多年。",
        "孩子们正在海边玩沙子。",
        "我想要一杯咖啡和一块苹果蛋糕。",
        "她的新书讲的是海洋的历史。",
        "医生让他多休息，多喝水。",
        "没有人知道音乐是从哪里来的。",
        "我们的老师会说五种语言。",
        "房间里很安静，可以听见钟的声音。",
        "市场早上六点开门。",
        "你应该早点给妈妈打电话。",
        "那座老桥去年冬天关闭了。",
        "谢谢你的帮助，事情变得容易多了。",
    ),
    "mixed": (
        "我想学习 Python，因为它很有用。",
        "请打开 Windows，然后等一下。",
        "这个 project 下周就要完成了。",
        "我们明天开一个 meeting，讨论新的计划。",
        "他在 Google 工作了三年。",
    ),
}

Transcripts = tuple[str, ...]
Units = Callable[[str, Transcripts], tuple[list[str], list[str]]]
"""From a text and what was heard of it: its units, and the units heard."""


@dataclass(frozen=True, slots=True)
class Said:
    """One text, as the client has it."""

    samples: NDArray[np.float32]
    rate: int
    announced: int


async def say(tts: Client, deltas: list[str], voice: str | None) -> Said:
    """The text's samples."""
    context = tts.context(voice=voice, codec="pcm_f32le", pace="fast")
    for delta in deltas:
        await context.send(delta)
    await context.end()
    pcm, announced = b"", 0
    async for event in context:
        if isinstance(event, AudioPacket):
            pcm += event.payload
        elif isinstance(event, Ended):
            announced = event.samples
    assert context.opened is not None
    return Said(np.frombuffer(pcm, "<f4"), context.opened.sample_rate, announced)


async def say_all(url: str, texts: Sequence[str], language: str) -> list[tuple[Said, Said]]:
    """Every text in one piece, and cut."""
    voice = VOICES["en" if language == "en" else "zh"]
    async with connect(url) as tts:
        return [
            (await say(tts, [text], voice), await say(tts, pieces(text, "en" if language == "en" else "zh"), voice))
            for text in texts
        ]


def transcribe(said: Said, language: str) -> Transcripts:
    """What a recogniser hears."""
    if language == "en":
        return (hear_english(said.samples, said.rate),)
    chinese = hear_chinese(said.samples, said.rate)
    return (chinese, hear_words_among_chinese(said.samples, said.rate)) if language == "mixed" else (chinese,)


def judge(heard: Sequence[Transcripts], texts: Sequence[str], units: Units) -> tuple[int, int]:
    """Units said, and units heard wrong."""
    said = wrong = 0
    for text, transcripts in zip(texts, heard, strict=True):
        expected, got = units(text, transcripts)
        mistakes = edits(expected, got)
        said, wrong = said + len(expected), wrong + mistakes
        if mistakes:
            print(f"  {mistakes} wrong: {text}\n           heard: {' '.join(got)}", flush=True)
    return said, wrong


def same_both_ways(whole: Said, cut: Said) -> bool:
    """The same samples, as many as were announced."""
    return np.array_equal(whole.samples, cut.samples) and whole.announced == len(whole.samples)


def english_words(text: str, transcripts: Transcripts) -> tuple[list[str], list[str]]:
    return english_units(text), english_units(transcripts[0])


def chinese_characters(text: str, transcripts: Transcripts) -> tuple[list[str], list[str]]:
    return chinese_units(text), chinese_units(transcripts[0])


def chinese_syllables(text: str, transcripts: Transcripts) -> tuple[list[str], list[str]]:
    return sounds(chinese_units(text)), sounds(chinese_units(transcripts[0]))


def mixed_syllables(text: str, transcripts: Transcripts) -> tuple[list[str], list[str]]:
    """Of what was said, what was heard. What else the Chinese recogniser made of an English word doesn't count."""
    expected, chinese = sounds(chinese_units(text)), sounds(chinese_units(transcripts[0]))
    words = {*chinese, *english_units(transcripts[1])}
    syllables = [unit for unit in expected if not unit.isalpha()]
    found = heard_in_order(syllables, syllables, chinese)

    def is_heard(unit: str) -> bool:
        return unit in words if unit.isalpha() else found[:1] == [unit] and bool(found.pop(0))

    return expected, [unit for unit in expected if is_heard(unit)]


def values_of(language: str) -> Units:
    """The words of the values that were said, and of those that were heard."""

    def units(text: str, transcripts: Transcripts) -> tuple[list[str], list[str]]:
        expected, heard = values(text, language), transcripts[0]
        return expected, heard_values(expected, simplified(heard) if language == "zh" else heard, language)

    return units


MEASURES: Mapping[str, Mapping[str, Units]] = {
    "en": {"words": english_words},
    "zh": {"characters": chinese_characters, "syllables": chinese_syllables},
    "mixed": {"syllables and words": mixed_syllables},
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=sorted(TEXTS), default="en")
    parser.add_argument("--numbers", action="store_true", help="sentences full of numbers; en and zh only")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    language: str = arguments.language
    if arguments.numbers and language not in NUMBER_TEXTS:
        parser.error("--numbers is for en and zh")
    texts = NUMBER_TEXTS[language] if arguments.numbers else TEXTS[language]
    with running_server() as server:
        spoken = asyncio.run(say_all(server.url, texts, language))
    heard = [transcribe(whole, language) for whole, _ in spoken]
    measures = {"values": values_of(language)} if arguments.numbers else MEASURES[language]
    same = all(same_both_ways(whole, cut) for whole, cut in spoken)
    report = Report(f"Speech through the server, {language}, {len(texts)} sentences")
    data: dict[str, object] = {"same_samples": same}
    for name, units in measures.items():
        said, wrong = judge(heard, texts, units)
        report.row(f"{name} said", str(said))
        report.row("  heard wrong, %", 100 * wrong / said)
        data[f"{name.replace(' ', '_')}_error_percent"] = round(100 * wrong / said, 2)
    report.row("word by word and in one piece are the same", "yes" if same else "NO")
    report.print(data, arguments.json)


if __name__ == "__main__":
    main()
