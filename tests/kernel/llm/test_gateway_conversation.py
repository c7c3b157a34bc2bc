"""A step of an agent through the gateway: free tools, the same money, and nothing of it that cannot be used."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction

from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.prices import worst_cost_of
from minara_site.kernel.llm.endpoint import require_price
from minara_site.kernel.llm.gateway import AnswerInvalid, BudgetExceededError, Conversation, Tier, ToolUse, converse
from minara_site.kernel.llm.models import BudgetReservation, LlmUsage
from tests.kit.messages_api import MessagesApi, Reply, at_cost, error, said
from tests.kit.tables import table

pytestmark = pytest.mark.django_db

CANARY = "canary-7f3a"
READ = {"name": "memory_read", "description": "Read.", "input_schema": {"type": "object"}}
HELLO = {"role": "user", "content": f"Hello {CANARY}."}


def conversation(**fields: Any) -> Conversation:
    given: dict[str, Any] = {
        "category": Category.AGENT,
        "task": "chat",
        "tier": Tier.MAIN,
        "system": ("You are an agent.", "What is known."),
        "notes": ("For this step.",),
        "turns": (HELLO,),
        "tools": (READ,),
        "max_tokens": 300,
    }
    return Conversation(**{**given, **fields})


def use(identifier: Any = "toolu_1", name: Any = "memory_read", value: Any = None) -> dict[str, Any]:
    return {"type": "tool_use", "id": identifier, "name": name, "input": {} if value is None else value}


def configure(settings: Any, **fields: Any) -> None:
    settings.MINARA = settings.MINARA.model_copy(update=fields)


def test_returns_text_and_calls_and_records_what_they_cost(models: MessagesApi, ana: Any) -> None:
    thought = {"type": "thinking", "thinking": "", "signature": "sig"}
    blocks = (
        {"type": "text", "text": " "},
        thought,
        {"type": "text", "text": "Let me look."},
        use(),
        use("toolu_2"),
    )
    models.answer = at_cost(Reply(blocks=blocks), input_tokens=1000, output_tokens=100)
    reply = converse(conversation(owner_id=ana.pk))
    assert (reply.text, reply.model, reply.cost_usd) == ("Let me look.", "claude-sonnet-5-5", Decimal("0.003"))
    assert reply.tool_calls == (ToolUse("toolu_1", "memory_read", {}), ToolUse("toolu_2", "memory_read", {}))
    assert reply.content == list(blocks[1:])  # unchanged but for the blank text, which the API takes back from no one
    row = LlmUsage.objects.get(pk__in=reply.usage_ids)
    assert (row.category, row.task, row.owner_id, row.is_repair) == ("agent", "chat", ana.pk, False)
    assert not BudgetReservation.objects.exists()

    results = [{"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": "[]"} for n in (1, 2)]
    models.answer = said("Nothing is stored.")
    said_back = ({"role": "assistant", "content": reply.content}, {"role": "user", "content": results})
    last = converse(conversation(turns=(HELLO, *said_back)))
    assert (last.text, last.tool_calls, models.refused) == ("Nothing is stored.", (), [])


def test_offers_free_tools_and_caches_what_stays(models: MessagesApi, settings: Any) -> None:
    models.answer = said("Hello.")
    converse(conversation())
    converse(conversation(tools=(), notes=(), system=("One.",)))
    configure(settings, minara_model_main="claude-haiku-5-5")
    converse(conversation(system=()))
    first, bare, haiku = (asked.body for asked in models.asked)
    assert first["tool_choice"] == {"type": "auto"}
    assert [block.get("cache_control") for block in first["system"]] == [None, {"type": "ephemeral"}, None]
    assert first["thinking"] == {"type": "between_tools"}
    assert bare["system"] == [{"type": "text", "text": "One.", "cache_control": {"type": "ephemeral"}}]
    assert not bare.keys() & {"tools", "tool_choice"}
    assert haiku.keys() == {"model", "max_tokens", "system", "messages", "tools", "tool_choice"}


@table(
    ("reply", "sentence"),
    [
        (Reply(blocks=(use(identifier=""),)), "cannot be used"),
        (Reply(blocks=(use(name=7),)), "cannot be used"),
        (Reply(blocks=(use(value=[1]),)), "cannot be used"),
        (Reply(blocks=(use(value={"text": "nul\0"}),)), "cannot be used"),
        (Reply(blocks=(use(), use())), "cannot be used"),
        (said("nul\0"), "cannot be used"),
        (said(CANARY, "refusal"), "declined"),
        (error(400, CANARY), "HTTP 400"),
        (error(400, "tool_choice: not here"), "HTTP 400"),
    ],
)
def test_says_what_cannot_be_used_and_nothing_of_it(
    models: MessagesApi,
    caplog: pytest.LogCaptureFixture,
    reply: Reply,
    sentence: str,
) -> None:
    models.forget()
    models.answer = reply
    with pytest.raises(AnswerInvalid, match=sentence) as refusal:
        converse(conversation())
    assert models.calls == 1
    assert CANARY not in refusal.value.detail + caplog.text
    assert len(refusal.value.usage_ids) == LlmUsage.objects.count() == (0 if "400" in sentence else 1)
    assert not BudgetReservation.objects.exists()


@table("stop_reason", ["max_tokens", "model_context_window_exceeded"])
def test_no_call_of_a_reply_that_was_cut_is_returned(models: MessagesApi, stop_reason: str) -> None:
    models.answer = Reply(blocks=({"type": "text", "text": "Half"}, use()), stop_reason=stop_reason)
    reply = converse(conversation())
    assert (reply.is_cut, reply.tool_calls, reply.content) == (True, (), [{"type": "text", "text": "Half"}])


@table("blocks", [(), ({"type": "text", "text": 5},), ({"type": {"text": 1}},), ({"type": "server_thing"},)])
def test_a_reply_without_anything_known_is_empty(models: MessagesApi, blocks: Any) -> None:
    models.answer = Reply(blocks=blocks, stop_reason="end_turn")
    reply = converse(conversation())
    assert (reply.text, reply.content, reply.is_cut) == ("", [], False)


def test_reserves_the_worst_of_its_whole_body(models: MessagesApi, settings: Any) -> None:
    price = require_price("claude-sonnet-5-5")
    models.answer = said("Hello.")
    configure(
        settings,
        minara_budget_agent_daily_usd=worst_cost_of(price, question_bytes=4_000, max_tokens=300),
    )
    with pytest.raises(BudgetExceededError):
        converse(conversation(notes=("x" * 4_000,)))
    assert models.calls == 0
    converse(conversation())


def test_holds_no_transaction_open(models: MessagesApi) -> None:
    with transaction.atomic(), pytest.raises(RuntimeError):
        converse(conversation())
    assert models.calls == 0
