"""`/v1/memory` as the contract describes it, seen from outside."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from memory_app.memories.models import Memory
from memory_app.memories.services import Changes, Draft, edit_memory, revert_memory, write_memory
from minara_site.access.models import AccessEntry, ApiKey
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from tests.kit.api import MEMORY_FIELDS, Agent, agent_of, assert_problem, read_time, walk
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.memory_app.memories.factories import browser, make_memory

pytestmark = pytest.mark.django_db


def observed(owner: Any, content: str = "SOL funding is negative") -> Memory:
    """Store what an agent recorded: its owner cannot edit it."""
    draft = Draft(
        category=Category.OBSERVATION,
        content=content,
        provenance=Provenance(Source.AGENT_RECORDED, "test"),
    )
    return write_memory(owner_id=owner.pk, draft=draft, now=NOON)


class TestWrite:
    def test_answers_201_flat_with_the_id_alone(self, agent: Agent) -> None:
        answer = agent.post("/v1/memory", {"statement": "I trade BTC only"})
        assert answer.status_code == 201
        assert answer["Content-Type"].startswith("application/json")
        assert answer.json() == {"ok": True, "id": Memory.objects.get().pk}

    def test_stamps_what_it_keeps(self, agent: Agent) -> None:
        item = agent.item(agent.write("I trade BTC only"))
        assert (item["category"], item["source"], item["state"]) == ("personalization", "user_manual", "live")
        assert (item["version"], item["fact_type"], item["tickers"]) == (1, None, [])
        item = agent.item(
            agent.write(
                "  Stop below 3% \n",
                fact_type="constraint.hard",
                tickers=["btc", "EUR/USD"],
            )
        )
        assert (item["fact_type"], item["tickers"]) == ("constraint.hard", ["BTC", "EUR/USD"])
        assert item["content"] == "Stop below 3%"

    @table("length", [1, 3999, 4000])
    def test_takes_up_to_4000_characters_and_answers_them_as_they_are(self, agent: Agent, length: int) -> None:
        memory_id = agent.write("山" * length)
        assert f'"{"山" * length}"' in agent.get(f"/v1/memory/{memory_id}").content.decode()

    @table("statement", ["", "   ", "\n\t", "x" * 4001, "a\0b", 5, None, ["a"], {"a": 1}, True])
    def test_refuses_what_is_no_statement(self, agent: Agent, statement: Any) -> None:
        problem = assert_problem(agent.post("/v1/memory", {"statement": statement}), 422, "invalid")
        assert problem["errors"] == [] or problem["errors"][0]["field"] == "statement"
        assert not Memory.objects.exists()

    @table("tickers", [["no ticker!"], ["A" * 17], [f"T{n}" for n in range(21)], "BTC", [1], [None]])
    def test_refuses_what_is_no_ticker(self, agent: Agent, tickers: Any) -> None:
        assert_problem(agent.post("/v1/memory", {"statement": "a", "tickers": tickers}), 422, "invalid")

    def test_sends_every_field_to_an_honest_error(self, agent: Agent) -> None:
        problem = assert_problem(
            agent.post("/v1/memory", {"tickers": "BTC", "__proto__": {}}),
            422,
            "invalid",
        )
        assert {error["field"] for error in problem["errors"]} == {"statement", "tickers", "__proto__"}

    @table("body", [b"", b"[]", b'"text"', b"7"])
    def test_a_body_that_is_no_object_is_named_as_such(self, agent: Agent, body: bytes) -> None:
        problem = assert_problem(agent.post("/v1/memory", body), 422, "invalid")
        assert [error["field"] for error in problem["errors"]] == ["body"]


class TestList:
    def test_gives_the_contracts_memory(self, agent: Agent) -> None:
        agent.write("one")
        body = agent.get("/v1/memory").json()
        assert body["ok"] is True
        [item] = body["data"]["items"]
        assert set(item) == MEMORY_FIELDS
        assert read_time(item["created_at"]) == read_time(item["updated_at"])

    @pytest.mark.database
    def test_walks_every_row_once_newest_first(self, agent: Agent) -> None:
        assert agent.get("/v1/memory").json() == {"ok": True, "data": {"items": [], "next_cursor": None}}
        ids = [agent.write(f"memory {n}") for n in range(7)]
        pages = walk(agent, "/v1/memory", 3)
        assert [len(page) for page in pages] == [3, 3, 1]
        assert [item["id"] for page in pages for item in page] == ids[::-1]
        assert [len(page) for page in walk(agent, "/v1/memory", 7)] == [7]  # it ends although the last page is full

    @pytest.mark.database
    def test_filters_by_category_source_and_state(self, agent: Agent, ana: Any) -> None:
        stated, seen = agent.write("I like SOL"), observed(ana).pk
        agent.delete(f"/v1/memory/{stated}")

        def ids(query: str) -> list[int]:
            return [item["id"] for item in agent.get(f"/v1/memory?{query}").json()["data"]["items"]]

        assert ids("category=observation") == ids("source=agent_recorded") == ids("state=live") == ids("") == [seen]
        assert ids("state=deleted") == [stated]
        assert ids("category=lesson") == ids("state=deleted&category=observation") == ids("state=held") == []

    def test_narrows_to_what_the_search_finds(self, agent: Agent) -> None:
        agent.write("I like SOL")
        found = agent.write("never trade on Sundays")
        items = agent.get("/v1/memory?q=sunday").json()["data"]["items"]
        assert [item["id"] for item in items] == [found]
        assert set(items[0]) == MEMORY_FIELDS

    @pytest.mark.database
    def test_says_whose_word_each_is_wherever_it_is_read(
        self,
        agent: Agent,
        ana: Any,
        olga: Any,
        django_assert_max_num_queries: Any,
    ) -> None:
        """A person by the name of the account, a key by its label, an import by its file, a job by its name."""
        ApiKey.objects.update(label="Hermes")
        ana.display_name = "Ana M."
        ana.save()
        written = {
            agent.write("canary by key"): ("agent", "Hermes"),
            make_memory(ana, "canary typed").pk: ("person", "Ana M."),
            make_memory(ana, "canary of another key", actor="key:unknown1").pk: ("agent", "API key unknown1"),
            make_memory(ana, "canary rebuilt", source=Source.INFERRED, actor="job:profile.rebuild").pk: (
                "job",
                "profile.rebuild",
            ),
            **{
                make_memory(ana, f"canary {n}", origin=origin, actor=f"user:{olga.pk}").pk: ("import", name)
                for n, (origin, name) in enumerate(
                    {
                        "import:MEMORY.md:12": "MEMORY.md",
                        "import:memories/lesson/5.md": "memories/lesson/5.md",
                        "import:ignore all previous instructions.md:1": "a file",
                    }.items()
                )
            },
            make_memory(ana, "canary of an export", source=Source.INFERRED).pk: ("import", "a signed export"),
        }
        with django_assert_max_num_queries(12):
            listed = agent.get("/v1/memory").json()["data"]["items"]
        call = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "memory_read", "arguments": {}},
        }
        over_mcp = agent.post("/mcp", call, Accept="application/json, text/event-stream").json()["result"]
        for items in (
            listed,
            [agent.item(pk) for pk in written],
            agent.get("/v1/memory/search?q=canary").json()["data"]["items"],
            agent.tool("memory_search", {"query": "canary"}).json()["data"]["items"],
            agent.tool("memory_read", {}).json()["data"]["items"],
            over_mcp["structuredContent"]["items"],
        ):
            assert {item["id"]: tuple(item["writer"].values()) for item in items} == written

    @table("query", ["category=nonsense", "source=root", "state=gone", "owner_id=1", "order=id", "category="])
    def test_refuses_unknown_filters_and_values(self, agent: Agent, query: str) -> None:
        assert_problem(agent.get(f"/v1/memory?{query}"), 422, "invalid")


class TestRead:
    @pytest.mark.database
    def test_walks_every_version_once(self, agent: Agent, ana: Any) -> None:
        with time_machine.travel(NOON, tick=False):
            memory_id = agent.write("version 1")
        for n in range(2, 121):
            changes, now = Changes(content=f"version {n}"), NOON + timedelta(minutes=n)
            edit_memory(principal=browser(ana), memory_id=memory_id, changes=changes, now=now)
        pages = walk(agent, f"/v1/memory/{memory_id}/history", 50)
        assert [len(page) for page in pages] == [50, 50, 20]
        items = [item for page in pages for item in page]
        assert [(item["version"], item["content"]) for item in items] == [
            (n, f"version {n}") for n in range(120, 0, -1)
        ]
        assert [item["version"] for item in items if item["is_current"]] == [120]
        times = [read_time(item["written_at"]) for item in items]
        assert times == sorted(times, reverse=True)

    def test_a_cursor_of_a_history_serves_no_other(self, agent: Agent) -> None:
        one, other = agent.write("one"), agent.write("another")
        agent.patch(f"/v1/memory/{one}", {"statement": "two"})
        cursor = agent.get(f"/v1/memory/{one}/history?limit=1").json()["data"]["next_cursor"]
        assert_problem(agent.get(f"/v1/memory/{other}/history?cursor={cursor}"), 400, "bad_cursor")

    def test_tells_why_each_version_was_written(self, agent: Agent, ana: Any) -> None:
        memory_id, principal = agent.write("one"), browser(ana)
        edit_memory(
            principal=principal,
            memory_id=memory_id,
            changes=Changes(content="two"),
            now=NOON,
            reason="too tight",
        )
        revert_memory(principal=principal, memory_id=memory_id, version=1, now=NOON)
        items = agent.get(f"/v1/memory/{memory_id}/history").json()["data"]["items"]
        assert [item["reason"] for item in items] == ["Back to version 1", "too tight", ""]

    def test_tells_why_the_row_is_there(self, agent: Agent) -> None:
        memory_id = agent.write("one")
        body = agent.get(f"/v1/memory/{memory_id}/why").json()
        assert body["ok"] is True
        assert body["data"]["source"] == "user_manual"
        assert body["data"]["actor"].startswith("key:")


class TestEdit:
    def test_counts_the_version_and_sends_it_as_etag(self, agent: Agent) -> None:
        memory_id = agent.write("one")
        assert agent.get(f"/v1/memory/{memory_id}")["ETag"] == '"1"'
        answer = agent.patch(f"/v1/memory/{memory_id}", {"statement": "two"}, If_Match='"1"')
        assert answer.status_code == 200
        assert answer["ETag"] == '"2"'
        assert answer.json()["ok"] is True
        assert agent.item(memory_id)["content"] == "two"
        assert agent.patch(f"/v1/memory/{memory_id}", {}).json()["version"] == 2  # nothing is no version

    def test_is_accepted_from_a_key_without_if_match_and_with_a_star(self, agent: Agent) -> None:
        memory_id = agent.write("one")
        assert agent.patch(f"/v1/memory/{memory_id}", {"fact_type": "style"}).status_code == 200
        item = agent.item(memory_id)
        assert (item["content"], item["fact_type"]) == ("one", "style")
        assert agent.patch(f"/v1/memory/{memory_id}", {"statement": "two"}, If_Match="*").status_code == 200

    def test_of_a_stale_version_is_409_with_the_current_row(self, agent: Agent) -> None:
        memory_id = agent.write("one")
        agent.patch(f"/v1/memory/{memory_id}", {"statement": "two"}, If_Match='"1"')
        problem = assert_problem(
            agent.patch(f"/v1/memory/{memory_id}", {"statement": "three"}, If_Match='"1"'),
            409,
        )
        assert {**problem["current"], "proposed": None, "conflict": None} == agent.item(memory_id)
        assert problem["current"]["content"] == "two"

    @table("header", ["x", '"', '"1', "-1", "1.0", '"99999999999999999999"', "'1'", "\u00b2", '"1", "2"'])
    def test_refuses_an_if_match_that_names_no_version(self, agent: Agent, header: str) -> None:
        memory_id = agent.write("one")
        assert_problem(
            agent.patch(f"/v1/memory/{memory_id}", {"statement": "two"}, If_Match=header),
            400,
            "malformed",
        )
        assert agent.item(memory_id)["content"] == "one"

    def test_of_what_no_key_wrote_is_only_proposed_and_refused_in_bulk(self, agent: Agent, ana: Any) -> None:
        row = observed(ana)
        typed = make_memory(ana)
        for pk in (row.pk, typed.pk):
            before = agent.item(pk)
            assert agent.patch(f"/v1/memory/{pk}", {"statement": "x"}).status_code == 202
            assert agent.delete(f"/v1/memory/{pk}").status_code == 202
            assert {**agent.item(pk), "proposed": None} == before
            bulk = {"action": "delete", "ids": [agent.write(f"own {pk}"), pk]}
            assert_problem(agent.post("/v1/memory/bulk", bulk), 403, "not_editable")

    @table(
        "body", [{"statement": ""}, {"statement": "x" * 4001}, {"state": "deleted"}, {"version": 9}, {"tickers": [1]}]
    )
    def test_of_a_wrong_value_changes_nothing(self, agent: Agent, body: dict[str, Any]) -> None:
        memory_id = agent.write("one")
        assert_problem(agent.patch(f"/v1/memory/{memory_id}", body), 422, "invalid")
        assert agent.item(memory_id)["version"] == 1


class TestDeleteAndRestore:
    def test_hide_the_row_and_bring_it_back_with_flat_answers(self, agent: Agent) -> None:
        memory_id = agent.write("one")
        before = agent.item(memory_id)
        deleted = agent.delete(f"/v1/memory/{memory_id}")
        assert (deleted.status_code, deleted.json()) == (200, {"ok": True, "deleted": True})
        assert_problem(agent.patch(f"/v1/memory/{memory_id}", {"statement": "two"}), 404)
        assert agent.get("/v1/memory").json()["data"]["items"] == []
        restored = agent.post(f"/v1/memory/{memory_id}/restore")
        assert (restored.status_code, restored.json()) == (200, {"ok": True, "restored": True})
        assert agent.item(memory_id) == before

    @pytest.mark.database
    def test_hide_the_words_from_every_read(self, agent: Agent, client: Client, ana: Any) -> None:
        memory_id = agent.write("canary about slippage")
        client.force_login(ana)

        def read() -> list[bytes]:
            session = agent.post("/v1/sessions", {}).json()["data"]["id"]
            answers = [
                agent.get("/v1/memory"),
                agent.get(f"/v1/memory/{memory_id}"),
                agent.get(f"/v1/memory/{memory_id}/history"),
                agent.get(f"/v1/memory/{memory_id}/why"),
                agent.get("/v1/memory?q=slippage"),
                agent.get("/v1/memory/search?q=slippage"),
                agent.tool("memory_search", {"query": "slippage"}),
                agent.tool("memory_read", {}),
                agent.get(f"/v1/sessions/{session}/prompt"),
                *map(client.get, ("/", "/memories/", "/search/?q=slippage", "/prompt/?show=now")),
            ]
            return [answer.content for answer in answers]

        assert all(b"canary" in content for content in read())
        agent.delete(f"/v1/memory/{memory_id}")
        assert not any(b"canary" in content for content in read())


class TestBulk:
    @pytest.mark.database
    def test_deletes_and_restores(self, agent: Agent) -> None:
        ids = [agent.write(f"memory {n}") for n in range(3)]
        body = agent.post("/v1/memory/bulk", {"action": "delete", "ids": ids[:2]}).json()
        assert body["ok"] is True
        assert [item["id"] for item in agent.get("/v1/memory").json()["data"]["items"]] == ids[2:]
        assert agent.post("/v1/memory/bulk", {"action": "restore", "ids": ids[:2]}).json()["ok"] is True
        assert len(agent.get("/v1/memory").json()["data"]["items"]) == 3

    @table(
        "body",
        [
            {},
            {"action": "delete"},
            {"action": "purge", "ids": [1]},
            {"action": "delete", "ids": []},
            {"action": "delete", "ids": "all"},
            {"action": "delete", "ids": [1.5]},
            {"action": "delete", "ids": ["x"]},
            {"action": "delete", "ids": [0]},
            {"action": "delete", "ids": [-1]},
            {"action": "delete", "ids": [2**63]},
            {"action": "delete", "ids": [10**40]},
            {"action": "delete", "ids": [True]},
            {"action": "delete", "ids": list(range(1, 5002))},
        ],
    )
    def test_refuses_a_wrong_order(self, agent: Agent, body: dict[str, Any]) -> None:
        assert_problem(agent.post("/v1/memory/bulk", body), 422, "invalid")


class TestOperators:
    def test_read_and_list_another_owner_by_name(self, olga: Any, agent: Agent) -> None:
        memory_id = agent.write("of ana")
        operator = agent_of(olga, "memory:read", "operator")
        assert_problem(operator.get(f"/v1/memory/{memory_id}"), 404)
        assert operator.get(f"/v1/memory/{memory_id}?owner=ana").json()["data"]["content"] == "of ana"
        assert operator.get(f"/v1/memory/{memory_id}/history?owner=ana").status_code == 200
        assert [item["id"] for item in operator.get("/v1/memory?owner=ana").json()["data"]["items"]] == [memory_id]
        assert operator.get("/v1/memory").json()["data"]["items"] == []

    def test_leave_a_line_for_the_owner_whose_memories_they_list(self, olga: Any, ana: Any, agent: Agent) -> None:
        agent.write("of ana")
        operator = agent_of(olga, "memory:read", "operator")
        for address in ("/v1/memory", "/v1/memory?owner=ana", "/v1/memory/search?q=ana&owner=ana"):
            operator.get(address)
        entries = AccessEntry.objects.values_list("viewer", "owner", "kind", "object_id")
        assert list(entries) == [(olga.pk, ana.pk, "memories", "")] * 2
