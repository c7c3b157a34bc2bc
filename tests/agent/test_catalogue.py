"""The tools that agents call: what each keeps, and what it refuses."""

import pytest

from memory_app.snapshot.selectors import count_writes_since
from minara_site.access.policy import Role, Scope
from minara_site.access.principal import Principal
from minara_site.agent.catalogue import call_tool, tools_for
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Invalid, NotFound, Refused
from tests.kit.tables import table

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(ana):
    return Principal(user=ana, role=Role.USER, scopes=frozenset({Scope.MEMORY_READ}), key_prefix="abcdefgh")


@table(
    ("name", "arguments"),
    [("memory_read", {}), ("memory_search", {"query": "btc"}), ("memory_compiled_page", {"asset": "btc"})],
)
def test_keeps_the_reasoning_of_a_read_and_counts_it_as_no_write(agent, ana, now, name, arguments):
    call_tool(agent, name, arguments)
    assert not AuditEntry.objects.exists()
    call_tool(agent, name, {**arguments, "reasoning": "the user asked what I know"})
    entry = AuditEntry.objects.get()
    assert (entry.tool_call, entry.actor, entry.reasoning) == (name, "key:abcdefgh", "the user asked what I know")
    assert count_writes_since(owner_id=ana.pk, since=now.replace(year=2020)).number == 0


def test_offers_only_what_the_key_may_call(agent):
    assert [tool.name for tool in tools_for(agent)] == [
        "memory_search",
        "memory_read",
        "memory_compiled_page",
        "search_conversation_memory",
    ]
    with pytest.raises(Refused):
        call_tool(agent, "memory_write", {"category": "lesson", "content": "x"})


def test_refuses_what_is_no_tool_and_what_is_no_argument(agent):
    with pytest.raises(NotFound):
        call_tool(agent, "memory_purge", {})
    with pytest.raises(Invalid) as refusal:
        call_tool(agent, "memory_read", {"limit": 0, "sudo": True})
    assert {each.field for each in refusal.value.errors} == {"limit", "sudo"}


@table("content", [" ", "x" * 4_001, "a\0b"])
def test_names_the_argument_that_is_wrong_as_the_definition_does(ana, content):
    writer = Principal(
        user=ana,
        role=Role.USER,
        scopes=frozenset({Scope.MEMORY_WRITE}),
        key_prefix="abcdefgh",
    )
    with pytest.raises(Invalid) as refusal:
        call_tool(writer, "memory_write", {"category": "lesson", "content": content})
    assert [each.field for each in refusal.value.errors] == ["content"]


@table("reasoning", [7, 0, False, [], {}, ["x"], "x" * 2_001])
def test_refuses_a_reasoning_that_is_no_short_text(agent, reasoning):
    with pytest.raises(Invalid):
        call_tool(agent, "memory_read", {"reasoning": reasoning})
