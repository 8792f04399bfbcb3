"""Ways of speaking that only some engines have: what there is, and whether a client's values are of it."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Value = float | tuple[float, ...]
Chosen = tuple[tuple[str, Value], ...]
"""Names and values, in the engine's order, each name once."""

_MOST_SHOWN = 40


class ParameterError(ValueError):
    """A client asks for what the engine can't do. The message is a sentence without its full stop."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a context may set."""

    name: str
    default: float
    minimum: float
    maximum: float
    about: str
    unit: str = ""
    whole: bool = False
    """Takes whole numbers only."""
    parts: int = 1
    """How many numbers it may be made of, all in the range; one alone stands for each of them."""

    def check(self, value: object) -> Value:
        """The value as the engine takes it. Raises `ParameterError`."""
        if isinstance(value, list | tuple):
            if self.parts == 1:
                raise ParameterError(f"{self.name} must be one number, not {len(value)}")
            if len(value) != self.parts:
                raise ParameterError(f"{self.name} must be one number or {self.parts}, not {len(value)}")
            return tuple(self._number(part) for part in value)
        return self._number(value)

    def _number(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ParameterError(f"{self.name} must be a number, not {repr(value)[:_MOST_SHOWN]}")
        if not self.minimum <= value <= self.maximum:
            raise ParameterError(
                f"{self.name} must be from {self.minimum:g} to {self.maximum:g}, not {repr(value)[:_MOST_SHOWN]}"
            )
        if self.whole and value != math.floor(value):
            raise ParameterError(f"{self.name} must be a whole number, not {value!r}")
        return int(value) if self.whole else float(value)


def choose(parameters: Iterable[Parameter], values: Mapping[str, object]) -> Chosen:
    """Check what a client sent against what the engine has. Raises `ParameterError`."""
    known = {parameter.name: parameter for parameter in parameters}
    for name in values:
        if name not in known:
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise ParameterError(f"the engine has no parameter {name[:_MOST_SHOWN]!r}; {there}")
    return tuple((name, parameter.check(values[name])) for name, parameter in known.items() if name in values)
