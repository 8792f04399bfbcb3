"""What `make demo` shows: a server, text streamed into it word by word, a file, and how soon speech began."""

import asyncio
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from firstword.client import Client, connect
from firstword.latency import Heard, listen, pcm_silence, words_of
from firstword.protocol import AudioPacket

PARAGRAPHS = {
    None: (
        "Good morning. This paragraph reaches the server one word at a time, the way a language model writes it. "
        "Speech begins as soon as the first clause is there, long before the last word exists. "
        "You can interrupt it at any moment, and it will know exactly what you have heard."
    ),
    "zm_yunxi": (
        "早上好。这段文字是一个词一个词送到服务器的，就像语言模型写出来的那样。"
        "第一个小句一到，声音就开始了，那时最后一个词还没有写出来。"
    ),
}
"""By voice; None is the server's default."""

DELTA_S = 0.01
RUNS = 7


def main() -> int:
    """Run the demo; with a terminal, leave the server running until Ctrl-C."""
    with server() as url:
        asyncio.run(demo(url))
        print(f"page:        {url}/")
        if sys.stdout.isatty():
            print("The server keeps running; press Ctrl-C to end it.")
            wait_for_interrupt()
    return 0


@contextmanager
def server() -> Iterator[str]:
    """A server on a free port, ready to speak; gives its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "server", "--port", "0", "--log-level", "warning"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise SystemExit("The server did not start.")
        yield line.rpartition(" ")[2].strip()
    finally:
        process.terminate()
        process.wait()


async def demo(url: str) -> None:
    """Save each paragraph, then measure."""
    async with connect(url) as tts:
        for voice, text in PARAGRAPHS.items():
            await save(tts, voice, text, Path("out") / f"demo-{voice or tts.hello.voice}.opus")
            opening = re.split(r"(?<=[.。])", text)[0]
            ttfa_ms = [1000 * (await hear(tts, voice, opening)).ttfa_s for _ in range(RUNS)]
            median = statistics.median(ttfa_ms)
            print(f"first sound: {median:.0f} ms after the text it needed (p50 of {RUNS})")


async def save(tts: Client, voice: str | None, text: str, path: Path) -> None:
    """The paragraph as a file."""
    path.parent.mkdir(exist_ok=True)
    context = tts.context(voice=voice, codec="ogg_opus", pace="fast")
    with path.open("wb") as file:
        await context.send(text)
        await context.end()
        async for event in context:
            if isinstance(event, AudioPacket):
                file.write(event.payload)
    print(f"audio:       {path}")


async def hear(tts: Client, voice: str | None, text: str) -> Heard:
    """A text word by word, or for Chinese two characters at a time, timed."""
    context = tts.context(voice=voice, codec="pcm_s16le")
    deltas = words_of(text) if text.isascii() else [text[at : at + 2] for at in range(0, len(text), 2)]
    return await listen(context, deltas, DELTA_S, pcm_silence)


def wait_for_interrupt() -> None:
    """Until Ctrl-C."""
    try:
        while True:
            sys.stdin.read(1)
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    sys.exit(main())
