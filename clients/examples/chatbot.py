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
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
from reply import Reply

from firstword.client import connect
from firstword.sink import sink_for

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
                answer = await heard(
                    Reply(tts, sink, printed(tokens(http, arguments, messages)), arguments.voice), lines
                )
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
                    if token := choice["delta"].get("content"):
                        yield token


async def printed(tokens: AsyncIterator[str]) -> AsyncIterator[str]:
    """The tokens, shown as they pass."""
    async for token in tokens:
        print(token, end="", flush=True)
        yield token


async def heard(reply: Reply, lines: "Lines") -> str:
    """Hear an answer out, or until a line is typed."""
    finishing = asyncio.create_task(reply.finish())
    typing = asyncio.create_task(lines.interruption())
    await asyncio.wait({finishing, typing}, return_when=asyncio.FIRST_COMPLETED)
    typing.cancel()
    if finishing.done():
        return await finishing
    finishing.cancel()
    return await reply.interrupt()


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
