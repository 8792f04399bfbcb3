"""How codes are drawn, as a request asks for it. Knows no torch."""

from collections.abc import Mapping
from dataclasses import dataclass

from streaming.parameter import Parameter, Value, choose

CODEBOOKS = 4

PARAMETERS = (
    Parameter(
        "temperature",
        0.3,
        0.01,
        2.0,
        "How freely codes are drawn: low is even and sure, high lively, with slips. Four: one a codebook.",
        parts=CODEBOOKS,
    ),
    Parameter("top_p", 0.7, 0.01, 1.0, "Draw from the likeliest codes that together have this probability."),
    Parameter("top_k", 20, 1, 626, "Draw from so many codes at most, but always from 3.", "codes", whole=True),
    Parameter(
        "repetition_penalty",
        1.05,
        1.0,
        2.0,
        "How much less likely a code gets for each time it was drawn in the last 16 steps. 1: not at all.",
    ),
    Parameter(
        "min_tokens",
        1,
        1,
        2048,
        "Steps before which a segment can't end; never more than its text can take.",
        "steps of 21.3 ms",
        whole=True,
    ),
)
"""What a context may set, with upstream's defaults."""

_BY_NAME = {parameter.name: parameter for parameter in PARAMETERS}


@dataclass(frozen=True, slots=True)
class Sampling:
    """How codes are drawn. `PARAMETERS` says what the fields mean and may be."""

    temperature: tuple[float, ...] = (_BY_NAME["temperature"].default,) * CODEBOOKS
    top_p: float = _BY_NAME["top_p"].default
    top_k: int = int(_BY_NAME["top_k"].default)
    repetition_penalty: float = _BY_NAME["repetition_penalty"].default
    min_tokens: int = int(_BY_NAME["min_tokens"].default)

    def __post_init__(self) -> None:
        """Raise ParameterError with a sentence for a value out of range."""
        for name, parameter in _BY_NAME.items():
            parameter.check(getattr(self, name))

    @classmethod
    def of(cls, options: Mapping[str, object]) -> "Sampling":
        """From what a client sends; one temperature stands for all codebooks. Raises ParameterError."""
        values: dict[str, Value] = dict(choose(PARAMETERS, options))
        heat = values.get("temperature")
        if isinstance(heat, float):
            values["temperature"] = (heat,) * CODEBOOKS
        return cls(**values)  # type: ignore[arg-type]
