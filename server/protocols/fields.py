"""What clients of other services send: JSON objects, any field of which may be missing or null."""

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from firstword.protocol import ErrorCode, MessageError


class Fields:
    """The fields of one JSON object. A null is as good as missing; a wrong type is a `MessageError`."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    @classmethod
    def parse(cls, frame: str | bytes) -> "Fields":
        """An object's text. Raises `MessageError`."""
        try:
            data = json.loads(frame)
        except (ValueError, RecursionError) as error:
            raise MessageError(ErrorCode.BAD_MESSAGE, f"The message is not JSON: {error}.") from None
        if not isinstance(data, dict):
            raise MessageError(ErrorCode.BAD_MESSAGE, "A message is a JSON object.")
        return cls(data)

    def __contains__(self, name: str) -> bool:
        return self._data.get(name) is not None

    def text(self, *names: str) -> str | None:
        """A string, under the first of its names that is there."""
        for name in names:
            if name in self:
                value = self._data[name]
                return value if isinstance(value, str) else _wrong(name, "a string")
        return None

    def name(self, name: str) -> str | None:
        """A string, or the `id` of an object that stands for it."""
        return self.inner(name).text("id") if isinstance(self._data.get(name), dict) else self.text(name)

    def flag(self, name: str) -> bool:
        """True or false; missing: false."""
        value = self._data[name] if name in self else False
        return value if isinstance(value, bool) else _wrong(name, "true or false")

    def number(self, name: str) -> float | None:
        """A finite number."""
        if name not in self:
            return None
        value = self._data[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            _wrong(name, "a number")
        return float(value) if abs(value) < 2**53 else _wrong(name, "a number of a sensible size")

    def inner(self, name: str) -> "Fields":
        """An object; missing: an empty one."""
        value = self._data[name] if name in self else {}
        return Fields(value) if isinstance(value, dict) else _wrong(name, "an object")


def _wrong(name: str, expected: str) -> NoReturn:
    raise MessageError(ErrorCode.BAD_MESSAGE, f"`{name}` must be {expected}.")
