"""Time to first audio through a real socket, text arriving word by word.

`python -m tests.bench.ttfa --engine embedded [--language zh] [--runs N] [--json FILE]`

The server is a process of its own. TTFA runs from sending the delta that completed the first segment to the first
packet's arrival, plus the audio before the first sample above -50 dBFS after decoding: what a listener with no start
buffer waits.
"""

import argparse
import asyncio
from array import array
from collections.abc import Sequence

from opuslib_next import Decoder

from firstword.client import connect
from firstword.latency import AUDIBLE, Heard, listen, words_of
from firstword.protocol import Opened
from tests.bench.report import Report, percentiles
from tests.serving import running_server

TEXTS = {
    "en": (
        "Good morning, it is nice to hear from you again. What would you like to do today?",
        "The train to the coast leaves at noon, so there is plenty of time for breakfast.",
        "Yes, I found three restaurants near you. The closest one opens in ten minutes.",
        "I am sorry, that did not work. Let me try it again in another way.",
        "Well, the short answer is that nobody knows, and the long answer fills a library.",
    ),
    "zh": (
        "早上好，很高兴又听到你的声音。今天想做点什么？",
        "去海边的火车中午出发，所以还有时间吃早饭。",
        "好的，我在附近找到了三家餐厅，最近的十分钟后开门。",
        "对不起，刚才没有成功。我换一种方法再试一次。",
        "其实，简短的答案是没有人知道，长的答案可以写满一座图书馆。",
    ),
}
VOICES = {"en": None, "zh": "zf_xiaobei"}
WORD_S = 0.01


def opus_silence(packets: Sequence[bytes], opened: Opened) -> float:
    """Seconds of decoded Opus before the first audible sample, the pre-skip taken off."""
    decoder = Decoder(opened.sample_rate, 1)
    pcm = b"".join(decoder.decode(packet, opened.frame_samples) for packet in packets[:25])
    samples = array("h", pcm)[opened.pre_skip :]
    audible = next((i for i, sample in enumerate(samples) if abs(sample) > AUDIBLE * 32_768), len(samples))
    return audible / opened.sample_rate


def pieces(text: str, language: str) -> list[str]:
    """Words, or for Chinese two characters: what a language model's token is."""
    return words_of(text) if language == "en" else [text[i : i + 2] for i in range(0, len(text), 2)]


async def measure(url: str, language: str, runs: int) -> list[Heard]:
    """One context after another on one connection."""
    heard: list[Heard] = []
    async with connect(url) as tts:
        for n in range(runs + 1):
            text = TEXTS[language][n % len(TEXTS[language])]
            context = tts.context(voice=VOICES[language])
            heard.append(await listen(context, pieces(text, language), WORD_S, opus_silence))
    return heard[1:]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=["embedded"], default="embedded")
    parser.add_argument("--language", choices=sorted(TEXTS), default="en")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    with running_server("--engine", arguments.engine) as server:
        heard = asyncio.run(measure(server.url, arguments.language, arguments.runs))
    ttfa_ms = percentiles([1000 * h.ttfa_s for h in heard])
    inside_ms = percentiles([h.ended.ttfa_ms or 0.0 for h in heard])
    report = Report(f"TTFA, {arguments.engine}, {arguments.language}, {arguments.runs} contexts, a word each 10 ms")
    report.row("heard by the client, ms", ttfa_ms)
    report.row("text to first packet in the server, ms", inside_ms)
    report.print({"ttfa_ms": ttfa_ms, "server_ms": inside_ms}, arguments.json)


if __name__ == "__main__":
    main()
