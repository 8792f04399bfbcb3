"""Talk to any OpenAI-compatible language model and hear it: each token is spoken as it comes.

    python -m server                                                       # speaks
    python clients/examples/chatbot.py --model llama3.2 --endpoint http://127.0.0.1:11434/v1

A line is a question; Enter while it speaks interrupts it, and the model is told how far it was heard. Needs
`pip install firstword[play] httpx`. `OPENAI_API_KEY` and `FIRSTWORD_KEY` hold the keys.
"""

import argparse
import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx

from firstword.client import Client, Context, connect
from firstword.protocol import AudioPacket, Ended
from firstword.sink import Sink, sink_for

SYSTEM = "You are speaking aloud. Answer in short spoken sentences, without lists or markup."
Messages = list[dict[str, str]]


async def main() -> None:
    """Read questions until the input ends."""
    arguments = parser().parse_args()
    messages: Messages = [{"role": "system", "content": SYSTEM}]
    lines = Lines()
    async with (
        connect(arguments.url, key=os.environ.get("FIRSTWORD_KEY")) as tts,
        httpx.AsyncClient(timeout=60) as http,
    ):
        with sink_for(arguments.out) as sink:
            while question := await lines.get():
                messages.append({"role": "user", "content": question})
                answer = await converse(tts, tokens(http, arguments, messages), sink, arguments.voice, lines)
                messages.append({"role": "assistant", "content": answer})
                print(f"\n[heard: {answer}]")


def parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", default="http://127.0.0.1:11434/v1", help="the model's address (%(default)s)")
    parser.add_argument("--model", default="llama3.2", help="the model's name (%(default)s)")
    parser.add_argument("--url", default="ws://127.0.0.1:8000", help="the speech server (%(default)s)")
    parser.add_argument("--voice", help="one of the server's voices")
    parser.add_argument("--out", type=Path, help="write a .wav file instead of playing")
    return parser


async def tokens(http: httpx.AsyncClient, arguments: argparse.Namespace, messages: Messages) -> AsyncIterator[str]:
    """The model's answer as it writes it."""
    body = {"model": arguments.model, "messages": messages, "stream": True}
    key = os.environ.get("OPENAI_API_KEY", "none")
    url = f"{arguments.endpoint.rstrip('/')}/chat/completions"
    async with http.stream("POST", url, json=body, headers={"Authorization": f"Bearer {key}"}) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            data = line.removeprefix("data:").strip()
            if line.startswith("data:") and data != "[DONE]":
                for choice in json.loads(data)["choices"]:
                    yield choice["delta"].get("content") or ""


async def converse(tts: Client, answer: AsyncIterator[str], sink: Sink, voice: str | None, lines: "Lines") -> str:
    """Speak an answer until it ends or a line is typed; returns what was heard."""
    context = tts.context(voice=voice, codec=sink.codec)
    speaking = asyncio.create_task(play(context, sink))
    writing = asyncio.create_task(write(context, answer))
    typing = asyncio.create_task(lines.interruption())
    started = time.monotonic()
    await asyncio.wait({speaking, typing}, return_when=asyncio.FIRST_COMPLETED)
    typing.cancel()
    if speaking.done():
        await writing
        return (await speaking).spoken
    writing.cancel()
    ended = await context.cancel(played_ms=1000 * (time.monotonic() - started))
    speaking.cancel()
    return ended.spoken


async def write(context: Context, answer: AsyncIterator[str]) -> None:
    """Hand the answer on, token by token."""
    async for token in answer:
        if token:
            print(token, end="", flush=True)
            await context.send(token)
    await context.end()


async def play(context: Context, sink: Sink) -> Ended:
    """Play what comes."""
    async for event in context:
        if isinstance(event, AudioPacket):
            assert context.opened is not None
            await asyncio.to_thread(sink.write, event.payload, context.opened.sample_rate)
        elif isinstance(event, Ended):
            return event
    raise AssertionError("a context ends with `ended`")


class Lines:
    """What is typed, a line at a time. A daemon thread reads it: nothing else waits for a terminal everywhere."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._typed = asyncio.Event()
        threading.Thread(target=self._read, args=(asyncio.get_running_loop(),), daemon=True).start()

    async def get(self) -> str | None:
        """The next line with something in it; None at the end of the input."""
        while (line := await self._lines.get()) == "":
            pass
        return line

    async def interruption(self) -> None:
        """Until somebody types a line. Input that is no terminal never interrupts."""
        self._typed.clear()
        await self._typed.wait()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(self._put, line.strip())
        loop.call_soon_threadsafe(self._lines.put_nowait, None)

    def _put(self, line: str) -> None:
        self._lines.put_nowait(line)
        if sys.stdin.isatty():
            self._typed.set()


if __name__ == "__main__":
    asyncio.run(main())
