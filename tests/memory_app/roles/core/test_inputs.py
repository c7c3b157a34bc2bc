"""What a decision may be based on: JSON of bounded size, with names that can stand in a prompt."""

from hypothesis import given, strategies as st

from memory_app.roles.core.inputs import MAX_CHARS, MAX_DEPTH, inputs_problem, scalars_of
from tests.kit.tables import table

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


@table(
    "inputs",
    [
        {},
        {"asset": "BTC", "direction": "bullish", "rsi": 71.5, "peers": ["SOL"], "wide": {"a": [1, None, True]}},
        {"x": nested(MAX_DEPTH - 1)},
        {"x": "y" * (MAX_CHARS - 9)},
        {"note": "前所未有 🚀"},
        {"backslash": "\\u0000 is six letters"},
    ],
)
def test_keeps_what_is_a_bounded_object(inputs):
    assert inputs_problem(inputs) is None


@table(
    ("inputs", "problem"),
    [
        (None, "no_object"),
        ([], "no_object"),
        ("BTC", "no_object"),
        ({"x": nested(MAX_DEPTH)}, "too_deep"),
        ({"x": nested(5_000)}, "too_deep"),
        ({"x": "y" * (MAX_CHARS - 8)}, "too_long"),
        ({"a b": 1}, "names"),
        ({"": 1}, "names"),
        ({"{asset}": 1}, "names"),
        ({1: 1}, "names"),
        ({"x" * 65: 1}, "names"),
        ({"x": float("nan")}, "kinds"),
        ({"x": float("inf")}, "kinds"),
        ({"x": {1, 2}}, "kinds"),
        ({"x": "\ud800"}, "kinds"),
        ({"x": "a\0b"}, "nul"),
        ({"x": {"a\0b": 1}}, "nul"),
    ],
)
def test_says_what_to_mend(inputs, problem):
    assert inputs_problem(inputs) == problem


@given(inputs=JSON)
def test_never_raises(inputs):
    inputs_problem(inputs)
    inputs_problem({"x": inputs})


def test_scalars_are_text_and_nothing_else_is_one():
    inputs = {
        "asset": "BTC",
        "rsi": 71.5,
        "n": 3,
        "is_late": True,
        "none": None,
        "peers": ["SOL"],
        "deep": {"a": 1},
    }
    assert scalars_of(inputs) == {"asset": "BTC", "rsi": "71.5", "n": "3", "is_late": "true"}
