import os
import pickle
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming import pipe
from streaming.engine import Chunk, Chunks, StopReason
from streaming.pipe import Unpacker

_MESSAGES = st.lists(st.one_of(st.integers(), st.text(), st.binary(max_size=300)), max_size=6)


def _packed(message: object) -> bytes:
    reading, writing = os.pipe()
    try:
        pipe.send(writing, message)
        return os.read(reading, 65536)
    finally:
        os.close(reading)
        os.close(writing)


@given(_MESSAGES, st.lists(st.integers(1, 40), min_size=1))
def test_messages_come_whole_however_the_pipe_cuts_them(messages: list[object], sizes: list[int]) -> None:
    stream = b"".join(map(_packed, messages))
    unpacker, got, at, turn = Unpacker(), list[object](), 0, 0
    while at < len(stream):
        size = sizes[turn % len(sizes)]
        got += unpacker.push(stream[at : at + size])
        at, turn = at + size, turn + 1
    assert got == messages


def test_a_message_larger_than_the_pipe_is_written_whole() -> None:
    report = Chunks((Chunk(1, bytes(3_000_000), StopReason.COMPLETE), Chunk(2, b"\1\2\3\4")))
    reading, writing = os.pipe()
    thread = threading.Thread(target=pipe.send, args=(writing, report))
    thread.start()
    unpacker, got = Unpacker(), list[object]()
    while not got:
        got = unpacker.push(os.read(reading, 65536))
    thread.join()
    os.close(reading)
    os.close(writing)
    assert got == [report]


def test_half_a_message_waits_for_the_rest() -> None:
    unpacker, message = Unpacker(), _packed("speech")
    assert unpacker.push(message[:-1]) == []
    assert unpacker.push(message[-1:]) == ["speech"]
    assert pickle.dumps("speech", pickle.HIGHEST_PROTOCOL) in message


def test_nobody_who_reads_is_an_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        pipe.send(writing, "speech")
    os.close(writing)
