"""Time to first audio through a real socket, text arriving word by word.

`python -m tests.bench.ttfa --engine embedded [--language zh] [--runs N] [--json FILE]`
`python -m tests.bench.ttfa --engine chattts --weights random:0 [--upstream] [--sentences one|three] [--json FILE]`

The server is a process of its own. TTFA runs from sending the last delta that the first segment needed, the one after
which the segmenter gives it, to the first packet's arrival, plus the audio before the first sample above -50 dBFS after
decoding: what a listener with no start buffer waits. The second row counts from the delta that holds the segment's end.

With ChatTTS the text goes in whole, each segment and each text of upstream's is forced to 128 tokens, and upstream's
`infer(stream=True)` takes turns with the server: same text, same random weights, one thread each.
"""

import argparse
from array import array
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median

import uvloop
from opuslib_next import Decoder

from firstword.client import connect
from firstword.latency import AUDIBLE, Heard, listen, words_of
from firstword.protocol import Opened
from streaming.embedded.engine import LIMITS
from streaming.text.front import TextFront
from tests.bench.report import Report, percentiles
from tests.bench.upstream import upstream
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
VOICES = {"en": None, "zh": "zm_yunxi"}
WORD_S = 0.01


def opus_silence(packets: Sequence[bytes], opened: Opened) -> float:
    """Seconds of decoded Opus before the first audible sample, the pre-skip taken off."""
    decoder = Decoder(opened.sample_rate, 1)
    pcm = b"".join(decoder.decode(packet, opened.frame_samples) for packet in packets[:25])
    samples = array("h", pcm)[opened.pre_skip :]
    audible = next((i for i, sample in enumerate(samples) if abs(sample) > AUDIBLE * 32_768), len(samples))
    return audible / opened.sample_rate


def needed(deltas: Sequence[str]) -> int:
    """The index of the last delta that the first segment needs."""
    front = TextFront(limits=LIMITS)
    return next((n for n, delta in enumerate(deltas) if front.push(delta)), len(deltas) - 1)


def ttfa_s(heard: Heard, deltas: Sequence[str]) -> float:
    """As it is defined above."""
    return heard.first_at - heard.sent_at[needed(deltas)] + heard.silence_s


def pieces(text: str, language: str) -> list[str]:
    """Words, or for Chinese two characters: what a language model's token is."""
    return words_of(text) if language == "en" else [text[i : i + 2] for i in range(0, len(text), 2)]


async def measure(url: str, language: str, runs: int) -> list[tuple[Heard, float]]:
    """One context after another on one connection, each with its TTFA in seconds. The first warms and is left out."""
    heard: list[tuple[Heard, float]] = []
    async with connect(url) as tts:
        for n in range(runs + 1):
            text = TEXTS[language][n % len(TEXTS[language])]
            context = tts.context(voice=VOICES[language])
            deltas = pieces(text, language)
            one = await listen(context, deltas, WORD_S, opus_silence)
            heard.append((one, ttfa_s(one, deltas)))
    return heard[1:]


FORCED_TOKENS = 128
_OURS = 3
"""Of ours for each of upstream's, which takes longer than all of them."""
SENTENCES = {
    "one": ["Good morning, it is nice to hear from you again."],
    "three": [
        "Good morning, it is nice to hear from you again.",
        "The train to the coast leaves at noon, so there is plenty of time for breakfast.",
        "I found three restaurants near you, and the closest one opens in ten minutes.",
    ],
}


async def measure_once(url: str, text: str) -> Heard:
    """A whole text on a new connection."""
    async with connect(url) as tts:
        return await listen(tts.context(), [text], 0.0, opus_silence)


def compare(weights: str, sentences: str, runs: int, *, with_upstream: bool) -> dict[str, list[float]]:
    """Seconds to the first sound, by side, in turns."""
    texts = SENTENCES[sentences]
    seconds: dict[str, list[float]] = {"firstword": [], "to the first packet": [], "upstream": []}
    with ExitStack() as stack:
        module = ("tests.bench.forced", str(FORCED_TOKENS), weights)
        server = stack.enter_context(running_server(module=module))
        other = stack.enter_context(upstream(int(weights.partition(":")[2]))) if with_upstream else None
        for _ in range(runs):
            for _ in range(_OURS):
                heard = uvloop.run(measure_once(server.url, " ".join(texts)))
                seconds["firstword"].append(heard.ttfa_s)
                seconds["to the first packet"].append(heard.ttfa_s - heard.silence_s)
            if other is not None:
                seconds["upstream"].append(other.ttfa_s(texts, FORCED_TOKENS))
    return seconds


def report_chattts(arguments: argparse.Namespace) -> None:
    """Print the comparison."""
    seconds = compare(arguments.weights, arguments.sentences, arguments.runs or 5, with_upstream=arguments.upstream)
    report = Report(f"TTFA, chattts, {arguments.weights}, int8, {arguments.sentences} sentence(s) of 128 tokens")
    data: dict[str, object] = {"ttfa_ms": percentiles([1000 * value for value in seconds["firstword"]])}
    data["seconds"] = seconds
    for side, values in seconds.items():
        if values:
            report.row(f"{side}, ms", {"p50": 1000 * median(values), "least": 1000 * min(values)})
    if seconds["upstream"]:
        ratio = median(seconds["upstream"]) / median(seconds["firstword"])
        report.row("upstream over firstword", ratio)
        data["ratio_to_upstream"] = round(ratio, 1)
    report.print(data, arguments.json)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=["embedded", "chattts"], default="embedded")
    parser.add_argument("--language", choices=sorted(TEXTS), default="en")
    parser.add_argument("--runs", type=int, help="default: 30, with ChatTTS 5")
    parser.add_argument("--weights", default="random:0", help="ChatTTS's (default: %(default)s)")
    parser.add_argument("--upstream", action="store_true", help="compare ChatTTS with upstream's streaming")
    parser.add_argument("--sentences", choices=sorted(SENTENCES), default="one", help="of ChatTTS's text")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.engine == "chattts":
        report_chattts(arguments)
        return
    arguments.runs = arguments.runs or 30
    with running_server("--engine", arguments.engine) as server:
        measured = uvloop.run(measure(server.url, arguments.language, arguments.runs))
    ttfa_ms = percentiles([1000 * ttfa for _, ttfa in measured])
    strict_ms = percentiles([1000 * heard.ttfa_s for heard, _ in measured])
    silence_ms = percentiles([1000 * heard.silence_s for heard, _ in measured])
    server_ms = percentiles([heard.ended.ttfa_ms or 0.0 for heard, _ in measured])
    report = Report(f"TTFA, {arguments.engine}, {arguments.language}, {arguments.runs} contexts, a word each 10 ms")
    report.row("last delta needed to first sound, ms", ttfa_ms)
    report.row("  from the end of the segment's text", strict_ms)
    report.row("  of it: silence before the first sound", silence_ms)
    report.row("  of it: text to first packet in the server", server_ms)
    data = {"ttfa_ms": ttfa_ms, "from_segment_end_ms": strict_ms, "silence_ms": silence_ms, "server_ms": server_ms}
    report.print(data, arguments.json)


if __name__ == "__main__":
    main()
