"""What `make demo` shows: a server, text streamed into it word by word, a file, and how soon speech began."""

import asyncio
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from firstword.client import Client, connect
from firstword.latency import Heard, listen, pcm_silence, words_of
from firstword.protocol import AudioPacket

PARAGRAPH = (
    "Good morning. This paragraph reaches the server one word at a time, the way a language model writes it. "
    "Speech begins as soon as the first clause is there, long before the last word exists. "
    "You can interrupt it at any moment, and it will know exactly what you have heard."
)
WORD_S = 0.01
RUNS = 11
OUT = Path("out/demo.opus")


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
    """Save the paragraph, then measure."""
    async with connect(url) as tts:
        await save(tts, OUT)
        heard = [await hear(tts) for _ in range(RUNS)]
    ttfa_ms = [1000 * h.ttfa_s for h in heard]
    print(f"first sound: {statistics.median(ttfa_ms):.0f} ms after the text it needed (median of {RUNS})")


async def save(tts: Client, path: Path) -> None:
    """The paragraph as a file."""
    path.parent.mkdir(exist_ok=True)
    context = tts.context(codec="ogg_opus", pace="fast")
    with path.open("wb") as file:
        await context.send(PARAGRAPH)
        await context.end()
        async for event in context:
            if isinstance(event, AudioPacket):
                file.write(event.payload)
    print(f"audio:       {path}")


async def hear(tts: Client) -> Heard:
    """The paragraph word by word, timed."""
    context = tts.context(codec="pcm_s16le")
    heard = listen(context, words_of(PARAGRAPH), WORD_S, pcm_silence)
    return await heard


def wait_for_interrupt() -> None:
    """Until Ctrl-C."""
    try:
        while True:
            sys.stdin.read(1)
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    sys.exit(main())
