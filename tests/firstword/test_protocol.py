import json
import math
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstword import protocol
from firstword.protocol import (
    AudioPacket,
    Cancel,
    Ended,
    ErrorCode,
    Hello,
    Limits,
    MessageError,
    Open,
    Text,
    Timing,
    Word,
    parse_client,
    parse_packet,
    parse_server,
    serialize,
    serialize_packet,
)

HELLO = Hello(
    protocol=1,
    server="firstword/0.1.0",
    connection="c",
    voice="hibari",
    codecs=("opus", "pcm_s16le"),
    limits=Limits(message_bytes=1, contexts=2, context_chars=3, lead_ms=4, idle_s=5.0),
)


def test_open_has_defaults() -> None:
    assert parse_client('{"type":"open","context":"a"}') == Open(context="a")


def test_unknown_fields_are_ignored() -> None:
    assert parse_client('{"type":"text","context":"a","text":"b","new":[1]}') == Text(context="a", text="b")


def test_whole_numbers_may_be_written_as_floats_and_the_reverse() -> None:
    assert parse_client('{"type":"open","context":"a","seed":7.0,"speed":2}') == Open(context="a", seed=7, speed=2.0)


def test_null_stands_for_no_value() -> None:
    assert parse_client('{"type":"cancel","context":"a","played_ms":null}') == Cancel(context="a")


@pytest.mark.parametrize(
    ("frame", "code", "sentence"),
    [
        ("{", ErrorCode.BAD_MESSAGE, "not JSON"),
        ("", ErrorCode.BAD_MESSAGE, "not JSON"),
        ("[]", ErrorCode.BAD_MESSAGE, "JSON object"),
        ('"text"', ErrorCode.BAD_MESSAGE, "JSON object"),
        ("[" * 100_000, ErrorCode.BAD_MESSAGE, "not JSON"),
        ("{}", ErrorCode.BAD_MESSAGE, "`type`"),
        ('{"type":7}', ErrorCode.BAD_MESSAGE, "`type`"),
        ('{"type":"speak"}', ErrorCode.UNKNOWN_TYPE, "'speak'"),
        ('{"type":"text","text":"b"}', ErrorCode.BAD_MESSAGE, "`text.context` is missing"),
        ('{"type":"text","context":"","text":"b"}', ErrorCode.BAD_MESSAGE, "`text.context` must be at least 1"),
        ('{"type":"text","context":"a","text":1}', ErrorCode.BAD_MESSAGE, "`text.text` must be a string"),
        ('{"type":"text","context":"a","text":null}', ErrorCode.BAD_MESSAGE, "`text.text` must be a string"),
        ('{"type":"open","context":"a","seed":true}', ErrorCode.BAD_MESSAGE, "a whole number"),
        ('{"type":"open","context":"a","seed":1.5}', ErrorCode.BAD_MESSAGE, "a whole number"),
        ('{"type":"open","context":"a","speed":3}', ErrorCode.BAD_MESSAGE, "at most 2"),
        ('{"type":"open","context":"a","speed":NaN}', ErrorCode.BAD_MESSAGE, "NaN"),
        ('{"type":"open","context":"a","speed":1e999}', ErrorCode.BAD_MESSAGE, "at most 2"),
        ('{"type":"credit","context":"a","buffered_ms":' + "9" * 400 + "}", ErrorCode.BAD_MESSAGE, "sensible"),
        ('{"type":"open","context":"a","pace":"slow"}', ErrorCode.BAD_MESSAGE, "realtime, fast"),
        ('{"type":"open","context":"' + "a" * 129 + '"}', ErrorCode.BAD_MESSAGE, "at most 128 characters"),
    ],
)
def test_mistakes_get_a_code_and_a_sentence(frame: str, code: ErrorCode, sentence: str) -> None:
    with pytest.raises(MessageError, match=sentence) as caught:
        parse_client(frame)
    assert caught.value.code is code


def test_a_client_message_is_no_server_message() -> None:
    with pytest.raises(MessageError):
        parse_server(serialize(Text(context="a", text="b")))


@pytest.mark.parametrize(
    "message",
    [
        HELLO,
        Ended(context="a", reason="completed", samples=3, spoken="hi", spoken_chars=2, ttfa_ms=1.5),
        Timing(
            context="a", index=0, estimated=True, words=(Word(text="h", start=0, end=1, first_sample=0, samples=3),)
        ),
    ],
)
def test_server_messages_survive_the_wire(message: protocol.ServerMessage) -> None:
    assert parse_server(serialize(message)) == message


@given(st.text(st.characters(), min_size=1, max_size=64), st.text(st.characters()))
def test_any_text_survives_the_wire(context: str, text: str) -> None:
    message = Text(context=context, text=text)
    assert parse_client(serialize(message).encode()) == message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["open", "text", "flush", "end", "cancel", "credit"])},
        optional=dict.fromkeys(["context", "text", "speed", "seed", "played_ms", "buffered_ms", "pace"], json_values),
    )
)
def test_any_object_is_a_message_or_a_message_error(data: dict[str, object]) -> None:
    try:
        message = parse_client(json.dumps(data))
    except MessageError:
        return
    assert parse_client(serialize(message)) == message


def test_the_packet_header_is_sixteen_bytes() -> None:
    packet = AudioPacket(number=258, sequence=3, first_sample=2**40 + 1, payload=b"opus", first=False, last=True)
    frame = serialize_packet(packet)
    assert frame == bytes([1, 2, 1, 2, 0, 0, 0, 3, 0, 0, 1, 0, 0, 0, 0, 1]) + b"opus"
    assert parse_packet(frame) == packet


@pytest.mark.parametrize("frame", [b"", b"\x01" * 15, b"\x02" + bytes(15)])
def test_short_and_strange_packets_are_refused(frame: bytes) -> None:
    with pytest.raises(MessageError):
        parse_packet(frame)


def test_every_field_says_what_it_is() -> None:
    for cls in (*protocol._CLIENT_TYPES.values(), *protocol._SERVER_TYPES.values(), Limits, Word):
        assert cls.__doc__
        assert all(f.metadata["doc"].endswith(".") for f in fields(cls)), cls
        for f in fields(cls):
            assert (f.metadata["maximum"] or math.inf) > (f.metadata["minimum"] or 0)
