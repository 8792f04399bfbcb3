"""Messages as bytes on a pipe: each is pickled, behind its length. Both ends are processes of ours."""

import os
import pickle
import struct
from typing import Any

_LENGTH = struct.Struct("!Q")


def send(descriptor: int, message: object) -> None:
    """Write all of it, however long that takes. Raises OSError when nobody reads."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    rest = memoryview(_LENGTH.pack(len(body)) + body)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class Unpacker:
    """Whole messages out of whatever pieces a pipe gives."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def push(self, data: bytes) -> list[Any]:
        """The messages that became whole, in order."""
        self._buffer += data
        messages: list[Any] = []
        at = 0
        while (end := self._end(at)) <= len(self._buffer):
            with memoryview(self._buffer)[at + _LENGTH.size : end] as body:
                messages.append(pickle.loads(body))  # noqa: S301  # our own process wrote it
            at = end
        del self._buffer[:at]
        return messages

    def _end(self, at: int) -> int:
        """Where the message that begins at `at` ends: behind everything that is there if its length isn't known."""
        if len(self._buffer) - at < _LENGTH.size:
            return len(self._buffer) + 1
        (size,) = _LENGTH.unpack_from(self._buffer, at)
        return at + _LENGTH.size + int(size)
