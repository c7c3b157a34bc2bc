"""Front matter: exact both ways, and less than YAML on purpose (W-18)."""

from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from memory_app.bundle.core.front_matter import UnusableError, parse_document, render_document, render_json
from memory_app.bundle.core.plan import Reason
from tests.kit.tables import table

MOST = 256 * 1024
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
TRICKY = st.sampled_from(
    [
        *"no 1e5 08 1_0 ~ null .nan 0x1f 2026-01-01 --- << = !x &a *a 1:30 on NULL True -0 +1 .5 1.".split(),
        *("- a", "a: b", "'x'", '"', "#", "a #b", "\u2028", "\ufeff", "\x85", "\x7f", "\r\n", "---\n", " x ", ""),
    ]
)
VALUES = st.one_of(TEXT, TRICKY, st.integers(0, 10**17), st.lists(st.one_of(TEXT, TRICKY), max_size=4))
BODIES = st.one_of(
    TEXT,
    TRICKY,
    st.lists(st.sampled_from(["---", "\r\n", "\n", " ", "止损🙂", "\t", "# x"])).map("".join),
)


def parse(content: bytes) -> Any:
    return parse_document(content, most=MOST)


def refusal_of(head: str | bytes) -> Reason:
    raw = head.encode() if isinstance(head, str) else head
    with pytest.raises(UnusableError) as refused:
        parse(b"---\n" + raw + b"\n---\nbody\n")
    return refused.value.reason


@given(st.dictionaries(st.sampled_from(["source", "origin", "tickers", "id"]), VALUES, min_size=1), BODIES)
def test_gives_back_every_field_and_every_byte_of_the_body(fields: dict[str, Any], body: str) -> None:
    read = parse(render_document(fields, body))
    assert dict(read.fields) == fields
    assert read.body == body


@given(st.dictionaries(st.sampled_from(["source", "origin", "tickers"]), VALUES, min_size=1))
def test_writes_what_any_yaml_reads_alike(fields: dict[str, Any]) -> None:
    head = render_document(fields, "").split(b"\n---\n")[0].removeprefix(b"---\n")
    assert yaml.safe_load(head) == fields


@given(
    st.recursive(
        TEXT | st.integers() | st.none() | st.booleans(),
        lambda inner: st.dictionaries(TEXT, inner, max_size=3),
        max_leaves=6,
    )
)
def test_nested_values_travel_as_one_line(value: Any) -> None:
    line = parse(render_document({"metadata": render_json(value)}, "")).fields["metadata"]
    assert "\n" not in line


@table(
    ("head", "reason"),
    [
        ('x: !!python/object/apply:os.system ["id"]', Reason.TAG),
        ("x: !!python/name:os.system", Reason.TAG),
        ("x: !!str 1", Reason.TAG),
        ("x: &a 1\ny: *a", Reason.ALIAS),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]", Reason.ALIAS),
        ("a: &a [*a]", Reason.ALIAS),
        ("x: " + "[" * 10 + "]" * 10, Reason.TOO_DEEP),
        ("x: " + "[" * 30_000, Reason.TOO_DEEP),
        ("x: " + "{a: " * 200 + "1" + "}" * 200, Reason.TOO_DEEP),
        ("x: 1\nx: 2", Reason.DUPLICATE_KEY),
        ("x: {a: 1, a: 2}", Reason.DUPLICATE_KEY),
        ("<<: {quarantine: 0}\nquarantine: 1", Reason.NOT_YAML),
        ("x: .nan", Reason.NOT_FINITE),
        ("x: -.INF", Reason.NOT_FINITE),
        ("x: 1e309", Reason.NOT_FINITE),
        ("x: " + "9" * 5000, Reason.NOT_FINITE),
        ("x: [1", Reason.NOT_YAML),
        ("x: 1\n--- \ny: 2", Reason.NOT_YAML),
        ("- a\n- b", Reason.NO_FRONT_MATTER),
        ("? [a]\n: b", Reason.NOT_YAML),
        ("1: a", Reason.NOT_YAML),
        ("x: a\tb\x07", Reason.NOT_YAML),
        (b"x: caf\xe9", Reason.NOT_UTF8),
        ("x: " + "a" * 70_000, Reason.FRONT_MATTER_TOO_LARGE),
        ("", Reason.NOT_YAML),
    ],
)
def test_refuses_what_no_export_writes(head: str | bytes, reason: Reason) -> None:
    assert refusal_of(head) is reason


@table("content", [b"", b"body", b"---\n", b"---\nx: 1\n", b"---\nx: 1\n---", b"\n---\nx: 1\n---\n"])
def test_needs_front_matter_between_two_lines(content: bytes) -> None:
    with pytest.raises(UnusableError) as refused:
        parse(content)
    assert refused.value.reason is Reason.NO_FRONT_MATTER


def test_refuses_a_file_that_is_too_large() -> None:
    with pytest.raises(UnusableError) as refused:
        parse(b"x" * (MOST + 1))
    assert refused.value.reason is Reason.TOO_LARGE


def test_words_without_quotes_mean_what_they_say() -> None:
    head = "a: no\nb: 1_0\nc: 2026-01-01\nd: 010\ne: 0x1f\nf: 12:30\ng: 1.5\nh: -3\ni: True\nj: ~"
    fields = parse(f"---\n{head}\n---\n".encode()).fields
    words = {"a": "no", "b": "1_0", "c": "2026-01-01", "d": "010", "e": "0x1f", "f": "12:30"}
    assert fields == words | {"g": 1.5, "h": -3, "i": True, "j": None}


def test_reads_files_that_windows_has_touched() -> None:
    read = parse(b"\xef\xbb\xbf---\r\nx: 1\r\n---\r\nbody\r\n")
    assert (read.fields, read.body) == ({"x": 1}, "body")
