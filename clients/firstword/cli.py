"""`firstword`: speak from the command line, or see what would be spoken."""

import argparse
import asyncio
import codecs
import json
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from firstword.client import Client, Context, FirstwordError, connect
from firstword.explain import explain, show
from firstword.latency import SendLog, leading_silence, words_of
from firstword.protocol import AudioPacket, Ended, Error, ParamValue, Segment
from firstword.sink import Sink, SinkError, sink_for

_DEFAULT_URL = "ws://127.0.0.1:8000"


def main(argv: Sequence[str] | None = None) -> int:
    """The command. Returns its exit status."""
    arguments = _parser().parse_args(argv)
    try:
        run: Callable[[argparse.Namespace], int] = arguments.run
        return run(arguments)
    except (FirstwordError, SinkError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="firstword", description="Speak text with a firstword server.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    say = commands.add_parser("say", help="speak an argument, a file, or standard input as it arrives")
    say.add_argument("text", nargs="?", metavar="TEXT", help="what to say; without it, standard input")
    say.add_argument("--file", type=Path, help="say what is in this file")
    say.add_argument("--out", type=Path, help="write a .wav or .opus file instead of playing")
    _add_common(say)
    say.add_argument("--speed", type=float, default=1.0, help="1 is the voice's own speed")
    say.add_argument("--seed", type=int, default=0, help="same seed, same audio")
    say.add_argument(
        "--param",
        type=_param,
        action="append",
        metavar="NAME=NUMBER",
        help="what only the server's engine has, as temperature=0.5; a list as 0.3,0.3,0.5,0.5; may be repeated",
    )
    say.add_argument("--word-ms", type=float, help="send a word each so many ms, as a language model would")
    say.set_defaults(run=lambda arguments: asyncio.run(_say(arguments)))
    explaining = commands.add_parser("explain", help="show stage by stage what would be spoken")
    explaining.add_argument("text", metavar="TEXT", help="the text")
    _add_common(explaining)
    explaining.add_argument("--json", action="store_true", help="print the server's answer as it came")
    explaining.set_defaults(run=_explain)
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", default=os.environ.get("FIRSTWORD_URL", _DEFAULT_URL), help="the server (%(default)s)")
    parser.add_argument("--key", default=os.environ.get("FIRSTWORD_KEY"), help="the server's key")
    parser.add_argument("--voice", help="one of the server's voices")
    parser.add_argument("--language", help="language of digits and signs where no word is near, as en or zh")
    parser.add_argument("--emoji", choices=("silent", "name"), default="silent", help="what is said of emoji")
    parser.add_argument("--urls", choices=("host", "full", "word"), default="host", help="what is said of links")


def _param(text: str) -> tuple[str, ParamValue]:
    name, _, numbers = text.partition("=")
    parts = tuple(float(number) for number in numbers.split(","))
    return name, parts if len(parts) > 1 else parts[0]


def _explain(arguments: argparse.Namespace) -> int:
    answer = explain(
        arguments.url,
        arguments.text,
        key=arguments.key,
        voice=arguments.voice,
        language=arguments.language,
        emoji=arguments.emoji,
        urls=arguments.urls,
    )
    print(json.dumps(answer, ensure_ascii=False, indent=2) if arguments.json else show(answer))
    return 0


async def _say(arguments: argparse.Namespace) -> int:
    with sink_for(arguments.out) as sink:
        async with connect(arguments.url, key=arguments.key) as client:
            context = _context(client, arguments, sink)
            progress = _Progress(arguments.out)
            sending = asyncio.create_task(_send(context, _pieces(arguments), progress))
            try:
                status = await _receive(context, sink, progress)
            finally:
                sending.cancel()
    return status


def _context(client: Client, arguments: argparse.Namespace, sink: Sink) -> Context:
    return client.context(
        voice=arguments.voice,
        language=arguments.language,
        emoji=arguments.emoji,
        urls=arguments.urls,
        codec=sink.codec,
        speed=arguments.speed,
        seed=arguments.seed,
        params=dict(arguments.param) if arguments.param else None,
        pace="fast" if arguments.out else "realtime",
    )


@dataclass(slots=True)
class _Progress:
    """The line that is shown while it speaks. Owned by one `say`."""

    out: Path | None
    log: SendLog = field(default_factory=SendLog)
    needed_at: float | None = None
    ttfa_ms: float | None = None
    seconds: float = 0.0

    def segment(self, segment: Segment) -> None:
        if self.needed_at is None:
            self.needed_at = self.log.time_of(segment.end)

    def packet(self, packet: AudioPacket, codec: str, sample_rate: int) -> None:
        if packet.first and self.needed_at is not None:
            silence = leading_silence(packet.payload) / sample_rate if codec == "pcm_s16le" else 0.0
            self.ttfa_ms = (time.perf_counter() - self.needed_at + silence) * 1000
        self.seconds = packet.first_sample / sample_rate
        self.show()

    def show(self, end: str = "") -> None:
        ttfa = "" if self.ttfa_ms is None else f", first audio after {self.ttfa_ms:.0f} ms"
        where = f" -> {self.out}" if self.out else ""
        if end or sys.stderr.isatty():
            print(f"\r{self.seconds:6.1f} s{ttfa}{where}", end=end, file=sys.stderr, flush=True)


async def _send(context: Context, pieces: AsyncIterator[str], progress: _Progress) -> None:
    async for piece in pieces:
        progress.log.sent(piece, time.perf_counter())
        await context.send(piece)
    await context.end()


async def _receive(context: Context, sink: Sink, progress: _Progress) -> int:
    status = 0
    async for event in context:
        if isinstance(event, AudioPacket):
            assert context.opened is not None
            progress.packet(event, context.opened.codec, context.opened.sample_rate)
            await asyncio.to_thread(sink.write, event.payload, context.opened.sample_rate)
        elif isinstance(event, Segment):
            progress.segment(event)
        elif isinstance(event, Error):
            print(f"\nerror: {event.message} [{event.code}]", file=sys.stderr)
            status = 1
        elif isinstance(event, Ended) and context.opened is not None:
            progress.seconds = event.samples / context.opened.sample_rate
    progress.show(end="\n")
    return status


async def _pieces(arguments: argparse.Namespace) -> AsyncIterator[str]:
    if arguments.text is None and arguments.file is None:
        async for piece in _stdin():
            yield piece
        return
    text = arguments.text if arguments.file is None else arguments.file.read_text(encoding="utf-8")
    if arguments.word_ms is None:
        for start in range(0, len(text), 8000):
            yield text[start : start + 8000]
        return
    for word in words_of(text):
        yield word
        await asyncio.sleep(arguments.word_ms / 1000)


async def _stdin() -> AsyncIterator[str]:
    """Standard input as it arrives. A daemon thread reads it, since a terminal can't be waited for otherwise."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        while data := os.read(sys.stdin.fileno(), 4096):
            loop.call_soon_threadsafe(arrived.put_nowait, data)
        loop.call_soon_threadsafe(arrived.put_nowait, b"")

    threading.Thread(target=read, daemon=True).start()
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while data := await arrived.get():
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


if __name__ == "__main__":
    sys.exit(main())
