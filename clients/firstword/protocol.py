"""The native wire protocol, version 1: its messages, its audio packets, and how both are read and written.

Control messages are JSON objects in WebSocket text frames, audio packets are WebSocket binary frames. Each
message is a frozen dataclass here, used by the server and the client alike; `docs/protocol.md` is written
from them. A reader ignores fields it does not know, so fields may be added; a missing or wrong one is a
`MessageError` with a code and a sentence.
"""

import json
import struct
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import IntEnum, StrEnum
from functools import cache
from typing import Any, ClassVar, NoReturn, TypeVar

VERSION = 1
SUBPROTOCOL = "firstword.v1"
KEY_SUBPROTOCOL_PREFIX = "firstword.key."
"""A browser can't set headers, so it offers its key as a second subprotocol: this prefix, then the key."""

T = TypeVar("T")

ParamValue = float | tuple[float, ...]
"""What a name in `Open.params` may stand for."""


class ErrorCode(StrEnum):
    """Why the server refuses or gives up."""

    BAD_MESSAGE = "bad_message"
    """Not JSON, not an object, a field that is missing or wrong, or a binary frame. The message is ignored."""
    UNKNOWN_TYPE = "unknown_type"
    """There is no message of that type. It is ignored."""
    MESSAGE_TOO_LARGE = "message_too_large"
    """The message is over `limits.message_bytes`. It is ignored."""
    UNKNOWN_VOICE = "unknown_voice"
    """`open` named a voice that is not there. The context was not opened, and its name is shut until it is."""
    INVALID_PARAMS = "invalid_params"
    """`open.params` has a name or a value that the engine can't take. As above."""
    UNSUPPORTED_FORMAT = "unsupported_format"
    """`open` named a codec or sample rate that is not there. As above."""
    CONTEXT_EXISTS = "context_exists"
    """`open` for a context that is open. Nothing has changed."""
    CONTEXT_ENDING = "context_ending"
    """`text` after `end`, before `ended`. The text was not taken."""
    CONTEXT_FAILED = "context_failed"
    """`text` for a context that failed. The text was not taken; `open`, `end` or `cancel` make the name free."""
    TOO_MANY_CONTEXTS = "too_many_contexts"
    """`limits.contexts` are open. The context was not opened."""
    TEXT_TOO_LONG = "text_too_long"
    """The context would have more than `limits.context_chars`. This `text` was not taken; the context goes on."""
    NOTHING_TO_SAY = "nothing_to_say"
    """Nothing in a segment can be spoken by this voice. The segment is passed over; the context goes on."""
    OVERLOADED = "overloaded"
    """As many contexts are being spoken as can be. `failed` follows; `retry_after_ms` says when to try again."""
    ENGINE_FAILED = "engine_failed"
    """The engine could not speak a segment. What was spoken before it is sent, then `failed` follows."""
    ENGINE_RESTARTED = "engine_restarted"
    """The engine died again and again on a segment. As above."""
    SHUTTING_DOWN = "shutting_down"
    """The server is going away and takes nothing new. Connect again."""


class EndReason(StrEnum):
    """Why a context ended."""

    COMPLETED = "completed"
    """Everything was spoken and sent."""
    CANCELLED = "cancelled"
    """The client cancelled it."""
    FAILED = "failed"
    """An `error` before it says why."""
    SHUTDOWN = "shutdown"
    """The server went away before it was done."""


class CloseCode(IntEnum):
    """How the server closes a connection (RFC 6455, section 7.4, and its registry)."""

    IDLE = 1000
    """Nothing happened for `hello.limits.idle_s`; every context had ended."""
    BAD_DATA = 1007
    """A text frame was not UTF-8."""
    TOO_LARGE = 1009
    """A message was far over `hello.limits.message_bytes`."""
    RESTART = 1012
    """The server is going away; connect again."""
    TRY_LATER = 1013
    """Too many connections."""


class MessageError(Exception):
    """The peer sent what is not a message of this protocol."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def _about(
    doc: str,
    *,
    default: Any = MISSING,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A message field: what it means and, in its own unit, what it may be (a string's length, else its value)."""
    bounds = {"doc": doc, "minimum": minimum, "maximum": maximum, "choices": choices}
    return field(default=default, metadata=bounds)


def _context() -> Any:
    return _about("The context's name.", minimum=1, maximum=128)


# What a client sends.


@dataclass(frozen=True, slots=True, kw_only=True)
class LexiconEntry:
    """How a word is to be said. Latin words match whole only, Chinese ones anywhere; longer before shorter ones."""

    word: str = _about("What is written.", minimum=1, maximum=64)
    say: str = _about("What to say for it; read like any other text.", minimum=1, maximum=256)
    language: str | None = _about("`en` or `zh`: only where that is read; null: anywhere.", default=None, maximum=2)
    exact: bool = _about("Does case count.", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Make a context and say how it is to sound. Optional: the first `text` makes one with the defaults."""

    type: ClassVar[str] = "open"
    context: str = _about(
        "A name of the client's choice; free again once the context has ended.", minimum=1, maximum=128
    )
    voice: str | None = _about("A name from `GET /v1/voices`; null: the server's default.", default=None, maximum=128)
    codec: str = _about("One of `hello.codecs`.", default="opus", maximum=32)
    sample_rate: int | None = _about("Hz; null: the codec's default.", default=None, minimum=1, maximum=384_000)
    language: str | None = _about(
        "BCP 47 tag that digits and signs are read in where no word is near; null: the voice's.",
        default=None,
        maximum=35,
    )
    speed: float = _about("1 is the voice's own speed, 2 twice as fast.", default=1.0, minimum=0.5, maximum=2.0)
    seed: int = _about("Same text, voice and seed: same audio.", default=0, minimum=0, maximum=2**63 - 1)
    pace: str = _about(
        "`realtime`: sent as it is played, at most `limits.lead_ms` ahead. `fast`: as quickly as it is made, last.",
        default="realtime",
        choices=("realtime", "fast"),
    )
    max_buffer_ms: int = _about(
        "Once text stops coming, how long a finished sentence may wait for what could still change it.",
        default=300,
        minimum=0,
        maximum=10_000,
    )
    lead_in_ms: int = _about(
        "Silence before the first word, for loudspeakers that wake up slowly.", default=0, minimum=0, maximum=2_000
    )
    tail_ms: int = _about("Silence after the last word.", default=0, minimum=0, maximum=5_000)
    emoji: str = _about("`silent`, or `name`: said by their names.", default="silent", choices=("silent", "name"))
    urls: str = _about(
        "What is said of links: `host`, `full` for all of it, `word` for just the word.",
        default="host",
        choices=("host", "full", "word"),
    )
    lexicon: tuple[LexiconEntry, ...] = _about(
        "How words are said in this context; before the server's own.", default=(), maximum=200
    )
    params: Mapping[str, ParamValue] | None = _about(
        "What only this engine has, by the names of `hello.params`: a number each, or a list of `parts` of them.",
        default=None,
        maximum=32,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Append text, cut anywhere, even inside a word. Deltas are joined as they are; nothing is put between them."""

    type: ClassVar[str] = "text"
    context: str = _context()
    text: str = _about("The next piece of the text, never the whole of it again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flush:
    """Speak all text received so far without waiting for more. The context stays open."""

    type: ClassVar[str] = "flush"
    context: str = _context()


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """No more text: speak what is left, then `ended`."""

    type: ClassVar[str] = "end"
    context: str = _context()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Stop at once. No packet of this context follows; `ended` says what the listener heard."""

    type: ClassVar[str] = "cancel"
    context: str = _context()
    played_ms: float | None = _about(
        "How much of the context's audio the listener heard, in ms; null: the server's own estimate.",
        default=None,
        minimum=0,
        maximum=1e9,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """How much received audio is not played yet. Corrects the server's picture of the playback."""

    type: ClassVar[str] = "credit"
    context: str = _context()
    buffered_ms: float = _about("Audio of this context waiting in the client, in ms.", minimum=0, maximum=1e9)


# What a server sends.


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the server accepts. Going over one is an `error` that names it."""

    message_bytes: int = _about(
        "Largest message from the client. Beyond 16 times this the connection closes with 1009."
    )
    contexts: int = _about("Contexts open at once on one connection.")
    context_chars: int = _about("Code points of text in one context.")
    lead_ms: int = _about("How far ahead of playback a `realtime` context is sent.")
    idle_s: float = _about("Seconds without any message or context after which the connection closes with 1000.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """A number that `open.params` may set."""

    name: str = _about("Its name.")
    default: float = _about("What it is where nothing is said.")
    minimum: float = _about("Least value.")
    maximum: float = _about("Largest value.")
    about: str = _about("What it does.")
    unit: str = _about("What it counts; empty: nothing.", default="")
    whole: bool = _about("Does it take whole numbers only.", default=False)
    parts: int = _about("How many numbers a list of them has; one alone stands for each. 1: no list.", default=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """First message on every connection."""

    type: ClassVar[str] = "hello"
    protocol: int = _about("Version of this protocol.")
    server: str = _about("Name and version of the server.")
    connection: str = _about("The connection's id in the server's logs.")
    voice: str = _about("The default voice.")
    codecs: tuple[str, ...] = _about("What `open.codec` may be.")
    limits: Limits = _about("What the server accepts.")
    params: tuple[Param, ...] = _about("What `open.params` may hold: the engine's own ways of speaking.", default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The context exists. Sent once per context, before anything else of it."""

    type: ClassVar[str] = "opened"
    context: str = _context()
    number: int = _about("The context's number in packet headers. Not used again for a long time.")
    voice: str = _about("The voice that speaks.")
    codec: str = _about("What the packets hold.")
    sample_rate: int = _about("Hz; every sample count of this context is at this rate.")
    channels: int = _about("Always 1.")
    frame_samples: int = _about("Samples in every packet but perhaps the last.")
    pre_skip: int = _about("Samples to drop from the start of what the decoder gives.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A stretch of text that is not spoken."""

    start: int = _about("Where it begins in the context's text, in code points.")
    end: int = _about("Where it ends.")
    reason: str = _about("Why.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The packets from `first_sample` on speak this text."""

    type: ClassVar[str] = "segment"
    context: str = _context()
    index: int = _about("0 for the context's first segment.")
    text: str = _about("The text that is spoken.")
    start: int = _about("Where it begins in the context's text, in code points.")
    end: int = _about("Where it ends.")
    first_sample: int = _about("First sample of its audio.")
    skipped: tuple[Skipped, ...] = _about("What of the text is left out.", default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word and when it is heard."""

    text: str = _about("The word as it was sent.")
    start: int = _about("Where it begins in the context's text, in code points.")
    end: int = _about("Where it ends.")
    first_sample: int = _about("First sample of it.")
    samples: int = _about("How long it lasts.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When each word of a segment is heard. Sent when the length of the segment is known."""

    type: ClassVar[str] = "timing"
    context: str = _context()
    index: int = _about("The segment's index.")
    estimated: bool = _about("True if the times are shares of the segment's length, not measured.")
    words: tuple[Word, ...] = _about("The words in order.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flushed:
    """Every packet with speech of the text before a `flush` has been sent. One for each `flush`, in order.

    More than a thousand that wait are answered together.
    """

    type: ClassVar[str] = "flushed"
    context: str = _context()
    samples: int = _about("Samples of the context's signal up to here.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Last message of a context, exactly one for each."""

    type: ClassVar[str] = "ended"
    context: str = _context()
    reason: str = _about("One of the reasons below.")
    samples: int = _about("Real samples sent: after `pre_skip`, decoded audio is this long; cut what is over.")
    spoken: str = _about("The text that was heard: all of it, or up to where it was cancelled.")
    spoken_chars: int = _about("Its length in code points of the context's text.")
    ttfa_ms: float | None = _about(
        "From the text that completed the first segment to the first packet, in the server; null: no audio.",
        default=None,
    )
    skipped: tuple[Skipped, ...] = _about("What was left out and no `segment` has told.", default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """Something was refused or went wrong. Concerns one context if it names one, else the connection."""

    type: ClassVar[str] = "error"
    code: str = _about("One of the codes below: what, for programs.")
    message: str = _about("What, and what to do, for people.")
    retryable: bool = _about("True if the same again may work later.")
    retry_after_ms: int | None = _about("When to try again; null: unknown.", default=None)
    context: str | None = _about("The context it concerns; null: none.", default=None)


ClientMessage = Open | Text | Flush | End | Cancel | Credit
ServerMessage = Hello | Opened | Segment | Timing | Flushed | Ended | Error

_CLIENT_TYPES: Mapping[str, type[ClientMessage]] = types.MappingProxyType(
    {cls.type: cls for cls in typing.get_args(ClientMessage)}
)
_SERVER_TYPES: Mapping[str, type[ServerMessage]] = types.MappingProxyType(
    {cls.type: cls for cls in typing.get_args(ServerMessage)}
)


def parse_client(frame: str | bytes) -> ClientMessage:
    """A client's text frame as a message. Raises `MessageError`."""
    return _parse(frame, _CLIENT_TYPES)


def parse_server(frame: str | bytes) -> ServerMessage:
    """A server's text frame as a message. Raises `MessageError`."""
    return _parse(frame, _SERVER_TYPES)


def serialize(message: ClientMessage | ServerMessage) -> str:
    """A message as the content of a text frame."""
    return json.dumps({"type": message.type, **_plain(message)}, separators=(",", ":"))


def _plain(value: Any) -> dict[str, Any]:
    """A dataclass as JSON-able values; fields that are null are left out."""
    items = ((f.name, getattr(value, f.name)) for f in fields(value))
    return {name: _plain_item(item) for name, item in items if item is not None}


def _plain_item(item: Any) -> Any:
    if isinstance(item, tuple):
        return [_plain_item(part) for part in item]
    if isinstance(item, Mapping):
        return {name: _plain_item(part) for name, part in item.items()}
    return _plain(item) if is_dataclass(item) else item


def _parse(frame: str | bytes, messages: Mapping[str, type[T]]) -> T:
    try:
        data = json.loads(frame, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise MessageError(ErrorCode.BAD_MESSAGE, f"The message is not JSON: {error}.") from None
    if not isinstance(data, dict):
        raise MessageError(ErrorCode.BAD_MESSAGE, "A message is a JSON object.")
    name = data.get("type")
    if not isinstance(name, str):
        raise MessageError(ErrorCode.BAD_MESSAGE, "A message needs a `type`, a string.")
    if name not in messages:
        known = ", ".join(messages)
        raise MessageError(ErrorCode.UNKNOWN_TYPE, f"There is no message {name[:64]!r}; there are: {known}.")
    message: T = _build(messages[name], data, name)
    return message


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


@cache
def _layout(cls: Any) -> tuple[tuple[Field[Any], Any], ...]:
    hints = typing.get_type_hints(cls)
    return tuple((f, hints[f.name]) for f in fields(cls))


def _build(cls: Any, data: Mapping[str, Any], path: str) -> Any:
    values: dict[str, Any] = {}
    for f, hint in _layout(cls):
        if f.name in data:
            values[f.name] = _checked(data[f.name], hint, f, f"{path}.{f.name}")
        elif f.default is MISSING:
            raise MessageError(ErrorCode.BAD_MESSAGE, f"`{path}.{f.name}` is missing.")
    return cls(**values)


def _checked(value: Any, hint: Any, f: Field[Any], path: str) -> Any:
    if isinstance(hint, types.UnionType):
        if value is None:
            return None
        hint = typing.get_args(hint)[0]
    value = _converted(value, hint, f, path)
    if isinstance(value, str | int | float | tuple | Mapping):
        _check_bounds(value, f, path)
    return value


def _converted(value: Any, hint: Any, f: Field[Any], path: str) -> Any:
    if typing.get_origin(hint) is tuple and isinstance(value, list):
        part = typing.get_args(hint)[0]
        return tuple(_converted(item, part, f, f"{path}[{i}]") for i, item in enumerate(value))
    if typing.get_origin(hint) is Mapping and isinstance(value, dict):
        return {name: _param(item, f"{path}.{name[:64]}") for name, item in value.items()}
    if is_dataclass(hint) and isinstance(value, dict):
        return _build(hint, value, path)
    if hint is float and type(value) is int:
        return float(value) if abs(value) < 2**53 else _wrong(path, "a number of a sensible size")
    if hint is int and type(value) is float and value.is_integer():
        return int(value)
    if type(value) is not hint:
        _wrong(path, _KINDS.get(hint, "a list" if typing.get_origin(hint) is tuple else "an object"))
    return value


def _param(value: Any, path: str) -> ParamValue:
    """A number or numbers, as they came: the engine knows what they may be."""
    parts = value if isinstance(value, list) else [value]
    if not all(type(part) in {int, float} for part in parts):
        _wrong(path, "a number or a list of numbers")
    return tuple(parts) if isinstance(value, list) else parts[0]


_KINDS: Mapping[Any, str] = types.MappingProxyType(
    {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}
)


def _check_bounds(value: str | float | tuple[Any, ...] | Mapping[str, Any], f: Field[Any], path: str) -> None:
    measured = value if isinstance(value, int | float) else len(value)
    unit = " characters" if isinstance(value, str) else " items" if isinstance(value, tuple | Mapping) else ""
    minimum, maximum = f.metadata["minimum"], f.metadata["maximum"]
    if minimum is not None and measured < minimum:
        _wrong(path, f"at least {minimum}{unit}")
    if maximum is not None and measured > maximum:
        _wrong(path, f"at most {maximum}{unit}")
    choices = f.metadata["choices"]
    if choices and value not in choices:
        _wrong(path, "one of " + ", ".join(choices))


def _wrong(path: str, expected: str) -> NoReturn:
    raise MessageError(ErrorCode.BAD_MESSAGE, f"`{path}` must be {expected}.")


# Audio.

_HEADER = struct.Struct("!BBHIQ")
HEADER_BYTES = _HEADER.size

FLAG_FIRST = 1
FLAG_LAST = 2


@dataclass(frozen=True, slots=True)
class AudioPacket:
    """A binary frame: a 16-byte header and one packet of the context's codec.

    Header, big-endian: version (1 byte), flags (1), context number (2), sequence from 0 (4), index of the first
    sample that went into the packet (8), at the context's sample rate.
    """

    number: int
    sequence: int
    first_sample: int
    payload: bytes
    first: bool = False
    """The context's first packet."""
    last: bool = False
    """The context's last packet; `ended` follows."""


def serialize_packet(packet: AudioPacket) -> bytes:
    """A packet as the content of a binary frame."""
    flags = FLAG_FIRST * packet.first | FLAG_LAST * packet.last
    return _HEADER.pack(VERSION, flags, packet.number, packet.sequence, packet.first_sample) + packet.payload


def parse_packet(frame: bytes) -> AudioPacket:
    """A binary frame as a packet. Raises `MessageError`."""
    if len(frame) < HEADER_BYTES:
        raise MessageError(ErrorCode.BAD_MESSAGE, f"An audio frame has a header of {HEADER_BYTES} bytes.")
    version, flags, number, sequence, first_sample = _HEADER.unpack_from(frame)
    if version != VERSION:
        raise MessageError(ErrorCode.BAD_MESSAGE, f"An audio frame of version {version}; this is version {VERSION}.")
    return AudioPacket(
        number=number,
        sequence=sequence,
        first_sample=first_sample,
        payload=frame[HEADER_BYTES:],
        first=bool(flags & FLAG_FIRST),
        last=bool(flags & FLAG_LAST),
    )
