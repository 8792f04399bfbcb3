"""What a client may set of an engine's own."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.parameter import Parameter, ParameterError, choose

HEAT = Parameter("heat", 0.3, 0.01, 2.0, "How hot.", parts=4)
KEEP = Parameter("keep", 20, 1, 626, "How many.", whole=True)
SMOOTH = Parameter("smooth", 0.5, 0.0, 1.0, "How smooth.")


@pytest.mark.parametrize(
    ("given_", "chosen"),
    [
        ({}, ()),
        ({"heat": 1}, (("heat", 1.0),)),
        ({"keep": 20.0, "heat": [0.5, 1, 1.5, 2]}, (("heat", (0.5, 1.0, 1.5, 2.0)), ("keep", 20))),
        ({"smooth": 0, "keep": 626}, (("keep", 626), ("smooth", 0.0))),
    ],
)
def test_what_is_there_is_taken(given_: dict[str, Any], chosen: Any) -> None:
    assert choose((HEAT, KEEP, SMOOTH), given_) == chosen
    assert all(type(value) is int for name, value in choose((HEAT, KEEP, SMOOTH), given_) if name == "keep")


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        ({"cold": 1}, "the engine has no parameter 'cold'; it has heat, keep, smooth"),
        ({"heat": 0}, "heat must be from 0.01 to 2, not 0"),
        ({"heat": [0.5, 0.5]}, "heat must be one number or 4, not 2"),
        ({"heat": []}, "heat must be one number or 4, not 0"),
        ({"heat": [0.5, 0.5, 0.5, 3]}, "heat must be from 0.01 to 2, not 3"),
        ({"heat": "hot"}, "heat must be a number, not 'hot'"),
        ({"heat": True}, "heat must be a number, not True"),
        ({"keep": 2.5}, "keep must be a whole number, not 2.5"),
        ({"keep": [1, 2]}, "keep must be one number, not 2"),
        ({"smooth": float("nan")}, "smooth must be from 0 to 1, not nan"),
        ({"smooth": 10**400}, "smooth must be from 0 to 1, not 1000000000000000000000000000000000000000"),
    ],
)
def test_what_is_not_there_is_refused(given_: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError) as refused:
        choose((HEAT, KEEP, SMOOTH), given_)
    assert str(refused.value) == says


def test_an_engine_without_any_says_so() -> None:
    with pytest.raises(ParameterError, match="the engine has no parameter 'heat'; it has none"):
        choose((), {"heat": 1})


@given(st.dictionaries(st.sampled_from(["heat", "keep", "smooth"]), st.integers() | st.floats() | st.text()))
def test_what_is_taken_is_in_range_and_taken_again(values: dict[str, Any]) -> None:
    try:
        chosen = choose((HEAT, KEEP, SMOOTH), values)
    except ParameterError:
        return
    assert choose((HEAT, KEEP, SMOOTH), dict(chosen)) == chosen
    assert [name for name, _ in chosen] == [name for name in ("heat", "keep", "smooth") if name in values]
