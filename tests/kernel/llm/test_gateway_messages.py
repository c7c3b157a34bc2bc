"""A question in the form of the Messages API: tools, turns that can be sent back, and problems in words."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel, ConfigDict, Field

from minara_site.kernel.llm.core.messages import (
    TAKES_NO_FORCED_TOOL,
    Message,
    Rejected,
    Unreadable,
    Usage,
    asked_turns,
    body_of,
    is_storable,
    read_answer,
    read_message,
    repair_turns,
    size_of,
    tool_name,
)
from tests.kit.messages_api import problem_of_messages
from tests.kit.tables import table

USAGE = Usage(input_tokens=1, output_tokens=1)
BLOCKS = st.lists(
    st.one_of(
        st.builds(lambda text: {"type": "text", "text": text}, st.sampled_from(["", "  ", "said"])),
        st.builds(
            lambda name, value: {"type": "tool_use", "id": name, "name": "stage_one", "input": value},
            st.sampled_from(["a", "b", ""]),
            st.sampled_from([{}, {"reason": "x"}, None]),
        ),
        st.just({"type": "tool_use", "name": "stage_one"}),
        st.just({"type": "tool_use", "id": 7, "name": "stage_one"}),
        st.just({"type": "thinking", "thinking": "", "signature": "s"}),
        st.just({"type": "tool_use", "id": "c", "name": "stage_one", "input": {"reason": float("nan")}}),
        st.just({"type": "text", "text": "said", "citations": [float("inf")]}),
        st.just({"type": {"text": 1}}),
        st.just({"type": ["text"]}),
        st.just({}),
    ),
    max_size=4,
)


class StageOne(BaseModel):
    """Say why."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(max_length=5)


def message(*blocks: dict[str, Any], stop_reason: str = "tool_use") -> Message:
    return Message(content=list(blocks), stop_reason=stop_reason, usage=USAGE)


def test_a_tool_is_named_after_its_answer() -> None:
    assert [tool_name(each) for each in (StageOne, BaseModel)] == ["stage_one", "base_model"]


@table(
    ("model", "is_free"),
    [
        ("claude-sonnet-5-5", True),
        ("anthropic.claude-opus-5-5", True),
        ("anthropic/claude-sonnet-5.5", True),
        ("claude-mythos-5-1", True),
        ("claude-haiku-5-5", False),
        ("claude-sonnet-5", False),
        ("claude-opus-5", False),
        ("claude-fable-5", False),
        ("other", False),
    ],
)
def test_knows_which_models_take_no_forced_tool(model: str, is_free: bool) -> None:
    assert bool(TAKES_NO_FORCED_TOOL.search(model)) is is_free


@given(BLOCKS)
def test_what_goes_back_is_what_the_api_takes(blocks: list[dict[str, Any]]) -> None:
    turns = repair_turns(asked_turns("What?"), message(*blocks), "Not so.")
    assert problem_of_messages(list(turns)) == ""
    json.dumps(turns, allow_nan=False)
    for turn in turns:
        for block in turn["content"] if isinstance(turn["content"], list) else []:
            assert block.get("type") != "text" or block["text"].strip()
    assert "Not so." in str(turns[-1])


@given(BLOCKS)
def test_every_message_is_an_answer_or_unfit(blocks: list[dict[str, Any]]) -> None:
    with suppress(Rejected):
        assert read_answer(message(*blocks), StageOne, max_tokens=10).reason == "x"


def test_says_what_is_wrong_without_repeating_it() -> None:
    block = {"type": "tool_use", "id": "a", "name": "stage_one", "input": {"reason": "canary-long", "more": "canary"}}
    with pytest.raises(Rejected) as problem:
        read_answer(message(block), StageOne, max_tokens=10)
    assert "- reason: String should have at most 5 characters" in str(problem.value)
    assert "- more: Extra inputs are not permitted" in str(problem.value)
    assert "canary" not in str(problem.value)


@table(
    ("value", "stop_reason", "said"),
    [
        ({"reason": "x"}, "max_tokens", "cut at 10 tokens"),
        ({"reason": "x"}, "model_context_window_exceeded", "cut at 10 tokens"),
        ({"reason": "x\0"}, "tool_use", "NUL"),
        ({"reason": "\ud800"}, "tool_use", "unicode"),
    ],
)
def test_an_answer_that_is_cut_or_cannot_be_stored_is_unfit(value: Any, stop_reason: str, said: str) -> None:
    block = {"type": "tool_use", "id": "a", "name": "stage_one", "input": value}
    with pytest.raises(Rejected, match=said):
        read_answer(message(block, stop_reason=stop_reason), StageOne, max_tokens=10)


@table("content", [b"", b"1", b'{"content": []}', b"[" * 9999, b'{"content": [], "usage": null}'])
def test_bytes_that_are_no_message_are_unreadable(content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_message(content)


@table(
    ("value", "is_good"),
    [
        ({"a": ["plain \\u0000 text"]}, True),
        ({"a": ["nul\0"]}, False),
        ({"a\0": 1}, False),
        ("\ud800", False),
        ("\\\\u0000", True),
        ("\\\0", False),
        (None, True),
        ({"a": [float("nan")]}, False),
        (float("-inf"), False),
    ],
)
def test_knows_text_that_cannot_be_stored(value: Any, is_good: bool) -> None:
    assert is_storable(value) is is_good


def test_a_request_is_measured_in_bytes() -> None:
    parts = {"model": "m", "system": "s", "answer": StageOne, "max_tokens": 5, "is_forced": True, "strict": dict}
    one, two = (size_of(body_of(turns=asked_turns(text), **parts)) for text in ("", "價" * 100))  # type: ignore[arg-type]
    assert two - one == 300
