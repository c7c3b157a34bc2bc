import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import translation
from hypothesis import given, strategies as st

from memory_app.importers.adapters import unusable_label
from memory_app.importers.core.entries import Entry
from memory_app.importers.core.fields import Expected, UnusableError
from memory_app.importers.core.jsonl import read_record
from minara_site.kernel.core.vocabulary import Category
from tests.kit.tables import table

ABSENT = ("category", "source", "created_at", "tickers", "fact_type", "metadata", "statement")


@table(
    "value",
    [
        {"content": "x"},
        {"statement": "x"},
        {"text": "x"},
        {"content": "x", **dict.fromkeys(ABSENT)},
        {"content": "x", "id": 5, "deleted_at": "y", "owner": "root"},
    ],
)
def test_reads_the_text_under_each_of_its_names_and_nothing_that_nobody_asked_for(value: Any) -> None:
    assert read_record(7, value) == Entry(7, "x", Category.OBSERVATION)


@table("created_at", ["2026-06-12T14:00:00+02:00", "2026-06-12 12:00:00"])
def test_reads_every_field(created_at: str) -> None:
    value = {"content": "x", "category": "lesson", "source": "inferred", "created_at": created_at}
    assert read_record(1, value | {"tickers": ["BTC"], "fact_type": "risk", "metadata": {"a": 1}}) == Entry(
        line=1,
        content="x",
        category=Category.LESSON,
        written_at=datetime(2026, 6, 12, 12, tzinfo=UTC),
        fact_type="risk",
        tickers=("BTC",),
        metadata={"source": "inferred", "a": 1},
    )


@table(
    ("value", "word"),
    [
        ([], "object"),
        ("text", "object"),
        (None, "object"),
        (1, "object"),
        ({}, "exactly one of content, statement, text"),
        ({"content": "x", "text": "y"}, "exactly one"),
        ({"content": 5}, "content: expected text"),
        ({"content": ["x"]}, "content: expected text"),
        ({"content": "x", "category": "opinion"}, "category: expected one of preference"),
        ({"content": "x", "category": 1}, "category"),
        ({"content": "x", "category": []}, "category"),
        ({"content": "x", "source": "root"}, "source: expected one of"),
        ({"content": "x", "created_at": 1718193600}, "created_at: expected text"),
        ({"content": "x", "created_at": "yesterday"}, "created_at: expected a time"),
        ({"content": "x", "created_at": "0001-01-01T00:00:00+14:00"}, "created_at"),
        ({"content": "x", "created_at": "1969-12-31"}, "before 1970"),
        ({"content": "x", "tickers": "BTC"}, "tickers: expected a list"),
        ({"content": "x", "tickers": [1]}, "tickers"),
        ({"content": "x", "fact_type": 1}, "fact_type: expected text"),
        ({"content": "x", "metadata": []}, "metadata: expected an object"),
    ],
)
def test_says_which_field_is_wrong(value: Any, word: str) -> None:
    with pytest.raises(UnusableError) as wrong:
        read_record(3, value)
    assert word in unusable_label(wrong.value)


def test_says_what_is_wrong_in_the_readers_language() -> None:
    with translation.override("zh-hans"):
        words = {expected: unusable_label(UnusableError(expected, "tickers", ["x"])) for expected in Expected}
    assert all(re.search("[\u4e00-\u9fff]", said) for said in words.values()), words


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


@given(
    st.dictionaries(
        st.sampled_from(["content", "text", "category", "source", "created_at", "tickers", "fact_type", "metadata"]),
        json_values,
    )
)
def test_never_fails_on_any_json(value: Any) -> None:
    with suppress(UnusableError):
        assert isinstance(read_record(1, value), Entry)
