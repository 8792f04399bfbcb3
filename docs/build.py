"""Writes `docs/protocol.md`: the reference from the message types, the transcript from a running server. And the tables
in `docs/chattts.md`.

`python -m docs.build` (or `make docs`).
"""

import ast
import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from websockets.asyncio.client import connect

from firstword import protocol
from server.audio.encoders import CODECS
from streaming.chattts.options import Options
from streaming.chattts.sampling import PARAMETERS
from tests.serving import running_server

TARGET = Path(__file__).parent / "protocol.md"
CHATTTS = Path(__file__).parent / "chattts.md"

INTRO = """\
# The native protocol, version 1

<!-- Written by `make docs` from `clients/firstword/protocol.py` and a running server. Do not edit. -->

One WebSocket at `/v1/stream`. Control messages are JSON objects in text frames; audio packets are binary frames from
the server. A *context* is one reply being spoken; a connection carries many at once, named by the client.

* `text` and `open` make a context; every other message for a context that is not there does nothing.
* Text is delta only: each `text` is appended to what came before, exactly as it is. It may be cut anywhere.
* A context ends with exactly one `ended`, and nothing of it follows. Its name is free then.
* A socket outlives its contexts: it survives cancels, errors in one context, and idleness up to `limits.idle_s`.
* The server closes with 1000 only after every context has ended.
* Fields that a reader does not know are ignored. A field that is null may be left out.
* Offsets into text count Unicode code points of everything sent to the context; a surrogate pair counts once, even if
  its halves came in two messages. A half that stays alone counts as one and is read as U+FFFD.
* Sample counts are at the context's own sample rate and count from the start of its signal.

A key, where the server wants one, goes into the handshake: `Authorization: Bearer KEY`, or `X-API-Key: KEY`, or from a
browser the subprotocol `firstword.key.KEY` beside `firstword.v1`. A refused handshake is an HTTP 401 or 403 with a
sentence.
"""

PACKETS = """\
## Audio packets

A binary frame is a 16-byte header, big-endian, and one packet.

| bytes | type | field |
|---|---|---|
| 0 | u8 | version, 1 |
| 1 | u8 | flags: 1 the context's first packet, 2 its last |
| 2-3 | u16 | `opened.number` of the context |
| 4-7 | u32 | sequence, from 0, one more each packet |
| 8-15 | u64 | index of the first sample that went into the packet |

Every packet holds `opened.frame_samples`, which is 20 ms but for MP3 and AAC, and perhaps fewer at the end. Raw Opus is
one Opus packet a frame, with nothing around it: decode at `opened.sample_rate`, drop `opened.pre_skip` samples from the
start, and cut what is beyond `ended.samples`. The others are streams: their payloads joined are a file as it grows.
WAV and FLAC say that their length is unknown. Ogg Opus decodes to the samples and 20 ms of silence; MP3 (MPEG frames
alone) and AAC (ADTS) to `pre_skip` samples, then the samples, then up to a few frames of silence.

A server sends at most `limits.lead_ms` more than a `realtime` listener can have played; `credit` corrects its picture.

| codec | sample rates, Hz | default |
|---|---|---|
"""


OTHER_CLOSES = """\
A connection that does not take its audio for long enough is cut off without a close frame (1006); one that answers no
ping is closed with 1011.
"""


def main() -> None:
    """Write the file."""
    with running_server() as server:
        recorded = asyncio.run(transcript(server.url))
    TARGET.write_text(reference() + "\n## A transcript\n\n" + recorded, encoding="utf-8")
    CHATTTS.write_text(chattts(CHATTTS.read_text(encoding="utf-8")), encoding="utf-8")


def chattts(page: str) -> str:
    """The page with its tables as the engine's lists say."""
    options = [
        f"| `--{f.name}` | {'needed' if f.default is MISSING else f.default or '-'} | {f.metadata['about']} |"
        for f in fields(Options)
    ]
    parameters = [
        f"| `{p.name}` | {p.default:g} | {p.minimum:g} to {p.maximum:g}{p.unit and ' ' + p.unit} | {p.about} |"
        for p in PARAMETERS
    ]
    tables = {
        "options": ["| option | default | meaning |", "|---|---|---|", *options],
        "parameters": ["| name | default | range | meaning |", "|---|---|---|---|", *parameters],
    }
    for name, rows in tables.items():
        before, mark, rest = page.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        page = before + mark + "\n".join([*rows, end]) + after
    return page


def reference() -> str:
    """Everything that follows from the types."""
    rows = [f"| `{name}` | {_listed(codec.rates)} | {codec.default_rate} |" for name, codec in CODECS.items()]
    parts = [
        INTRO,
        "## From the client\n",
        *map(_message, get_args(protocol.ClientMessage)),
        _part(protocol.LexiconEntry, "In `open.lexicon`"),
        "## From the server\n",
        *map(_message, get_args(protocol.ServerMessage)),
        _part(protocol.Limits, "In `hello.limits`"),
        _part(protocol.Param, "In `hello.params`"),
        _part(protocol.Skipped, "In `segment.skipped` and `ended.skipped`"),
        _part(protocol.Word, "In `timing.words`"),
        PACKETS + "\n".join(rows) + "\n",
        "## Codes\n",
        _codes("Errors", protocol.ErrorCode),
        _codes("Ends", protocol.EndReason),
        _codes("Closes", protocol.CloseCode),
        OTHER_CLOSES,
    ]
    return "\n".join(parts)


def _message(cls: Any) -> str:
    return f"### `{cls.type}`\n\n{cls.__doc__}\n\n{_table(cls)}\n"


def _part(cls: Any, where: str) -> str:
    return f"### {where}\n\n{cls.__doc__}\n\n{_table(cls)}\n"


def _table(cls: Any) -> str:
    hints = get_type_hints(cls)
    rows = [f"| `{f.name}` | {_kind(hints[f.name])} | {_default(f)} | {_meaning(f)} |" for f in fields(cls)]
    return "\n".join(["| field | type | default | meaning |", "|---|---|---|---|", *rows])


def _kind(hint: Any) -> str:
    names = {str: "string", int: "integer", float: "number", bool: "boolean"}
    if hint in names:
        return names[hint]
    inner = get_args(hint)
    if get_origin(hint) is Mapping:
        return "object"
    if inner and type(None) in inner:
        return f"{_kind(inner[0])} or null"
    return f"list of {_kind(inner[0])}" if inner else "object"


def _default(f: Field[Any]) -> str:
    return "needed" if f.default is MISSING else f"`{json.dumps(f.default)}`"


def _meaning(f: Field[Any]) -> str:
    low, high = f.metadata["minimum"], f.metadata["maximum"]
    kind = str(f.type)
    unit = (
        " characters"
        if f.type is str or kind.startswith("str")
        else " items"
        if kind.startswith(("tuple", "Mapping"))
        else ""
    )
    if low is not None and high is not None:
        return f"{f.metadata['doc']} {low:g} to {high:g}{unit}."
    return f"{f.metadata['doc']} At most {high:g}{unit}." if high is not None else f.metadata["doc"]


def _codes(title: str, cls: type[Enum]) -> str:
    rows = [f"| `{cls[name].value}` | {doc} |" for name, doc in _member_docs(cls)]
    return f"### {title}\n\n{cls.__doc__}\n\n" + "\n".join(["| code | meaning |", "|---|---|", *rows]) + "\n"


def _member_docs(cls: type[Enum]) -> Iterator[tuple[str, str]]:
    """Each member and the string that stands below it in the source."""
    source = Path(protocol.__file__).read_text(encoding="utf-8")
    (definition,) = [n for n in ast.parse(source).body if isinstance(n, ast.ClassDef) and n.name == cls.__name__]
    for member, doc in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(member, ast.Assign) and isinstance(doc, ast.Expr):
            yield ast.unparse(member.targets[0]), ast.literal_eval(doc.value)


def _listed(rates: tuple[int, ...]) -> str:
    return ", ".join(map(str, rates))


async def transcript(url: str) -> str:
    """Two contexts, one of them cancelled, and a mistake, as they went over the wire."""
    lines: list[str] = []
    async with connect(url.replace("http", "ws", 1) + "/v1/stream", compression=None) as socket:

        async def send(**message: object) -> None:
            lines.append(f"C {json.dumps(message)}")
            await socket.send(json.dumps(message))

        async def until(kind: str) -> None:
            while True:
                frame = await socket.recv()
                lines.append(_shown(frame))
                if isinstance(frame, str) and json.loads(frame)["type"] == kind:
                    return

        await until("hello")
        await send(type="text", context="greeting", text="Good morn")
        await send(type="text", context="greeting", text="ing, how are you? ")
        await send(type="flush", context="greeting")
        await until("flushed")
        await send(type="text", context="greeting", text="Bye.")
        await send(type="end", context="greeting")
        await until("ended")
        await send(type="open", context="answer", codec="pcm_s16le", sample_rate=24_000, speed=1.1)
        await send(type="text", context="answer", text="This answer is interrupted before it is over. ")
        await until("timing")
        await send(type="cancel", context="answer", played_ms=900)
        await until("ended")
        await send(type="sing", context="answer")
        await until("error")
    return "```text\n" + "\n".join(_folded(lines)) + "\n```\n"


def _shown(frame: str | bytes) -> str:
    if isinstance(frame, bytes):
        packet = protocol.parse_packet(frame)
        marks = " first" * packet.first + " last" * packet.last
        return (
            f"S <audio {packet.number} #{packet.sequence} at sample {packet.first_sample},{marks} {len(frame)} bytes>"
        )
    return "S " + re.sub(r'"connection":"\w+"', '"connection":"5f0c8f3b9a1e"', frame)


def _folded(lines: list[str]) -> Iterator[str]:
    """Of a run of packets, the first and the last."""
    for n, line in enumerate(lines):
        around = lines[max(0, n - 1) : n + 2]
        if all("<audio" in other for other in around) and len(around) == 3:
            if "<audio" not in lines[n - 2] or n < 2:
                yield "S ..."
            continue
        yield line


if __name__ == "__main__":
    main()
