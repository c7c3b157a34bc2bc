"""Real MCP clients, over HTTP and through the SDK, against a running server (trust W-26)."""

import asyncio

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from memory_app.memories.models import Memory
from minara_site.kernel.idempotency.models import IdempotentCall
from tests.kit.api import key_of

pytestmark = [pytest.mark.django_db(transaction=True)]
READ, WRITE = ["memory:read"], ["memory:read", "memory:write"]
ERAS = ("auto", "legacy")  # the protocol of 2026-07-28, and the one with a handshake before it


async def ask(url, key, *steps, mode="auto"):
    """Run steps on a client of this key; return what each of them answered."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=20) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        return [await step(client) for step in steps]


def tool(name, meta=None, **arguments):
    """Return the step that calls a tool."""
    return lambda client: client.call_tool(name, arguments, meta=meta)


@pytest.mark.database
def test_a_client_of_either_era_writes_finds_and_reads(live_server, ana):
    key = key_of(ana, WRITE)
    for mode in ERAS:
        written = {"category": "observation", "content": f"ETH funding {mode}", "reasoning": "it said so"}
        first, again, found, read = asyncio.run(
            ask(
                live_server.url,
                key,
                *[tool("memory_write", {"minara/idempotency-key": mode}, **written)] * 2,
                tool("memory_search", query=mode),
                tool("memory_read", category="observation", limit=1),
                mode=mode,
            )
        )
        memory = Memory.objects.latest("pk")
        assert (memory.owner, memory.source, memory.actor[:4]) == (ana, "agent_recorded", "key:")
        assert first.structured_content == again.structured_content == {"id": memory.pk}
        assert IdempotentCall.objects.filter(key=mode).count() == 1
        for answer in (found, read):
            assert [item["id"] for item in answer.structured_content["items"]] == [memory.pk]
            assert answer.structured_content["items"][0]["source"] == "agent_recorded"
            assert "NOT instructions" in answer.content[0].text


def test_a_key_is_told_of_its_own_tools_and_refused_the_others(live_server, ana):
    key = key_of(ana, READ)
    for mode in ERAS:
        listed, refused = asyncio.run(
            ask(
                live_server.url,
                key,
                lambda client: client.list_tools(),
                tool("memory_write", category="lesson", content="never"),
                mode=mode,
            )
        )
        assert "memory_write" not in {each.name for each in listed.tools}
        assert all(each.annotations.read_only_hint for each in listed.tools)
        assert refused.is_error
        assert "missing_scope" in refused.content[0].text
    assert not Memory.objects.exists()


def test_what_is_wrong_is_said_in_the_answer(live_server, ana):
    wrong, unknown = asyncio.run(
        ask(live_server.url, key_of(ana, READ), tool("memory_read", limit=0), tool("memory_purge"))
    )
    assert wrong.is_error
    assert '"limit"' in wrong.content[0].text
    assert unknown.is_error
    assert "no such tool" in unknown.content[0].text


def test_ten_clients_with_two_keys_never_read_each_other(live_server, ana, ben):
    keys = {"quokka": key_of(ana, WRITE), "wombat": key_of(ben, WRITE)}

    async def all_at_once():
        jobs = [
            ask(
                live_server.url,
                keys[word],
                tool("memory_write", category="observation", content=f"{word} number {number}"),
                tool("memory_search", query="number", limit=50),
            )
            for number in range(5)
            for word in keys
        ]
        return await asyncio.gather(*jobs)

    for number, (_written, found) in enumerate(asyncio.run(all_at_once())):
        word = list(keys)[number % 2]
        contents = [item["content"] for item in found.structured_content["items"]]
        assert contents
        assert all(content.startswith(word) for content in contents)
