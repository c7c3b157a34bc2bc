"""A database that is full, read-only or too slow: every door says 503 and when to come back (trust R-42, W-20)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, ProgrammingError, connection
from django.test import Client

from memory_app.memories.models import Memory
from minara_site.kernel import db
from minara_site.kernel.errors import Conflict
from minara_site.kernel.files.models import StoredPart
from minara_site.kernel.files.services import PART_BYTES, store_file
from minara_site.kernel.instance.services import check_secret_key
from profile_app.documents.models import Document
from tests.agent.mcp.test_door import request, send
from tests.kit.api import agent_of, assert_problem
from tests.kit.clock import NOON
from tests.kit.site import SERVER_URL
from tests.kit.visitor import visitor

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
ON_SQLITE = pytest.mark.skipif(bool(SERVER_URL), reason="a limit of pages is SQLite's")
ON_POSTGRESQL = pytest.mark.skipif(not SERVER_URL, reason="of a server")
LONG = "All of it is kept here. " * 1_300


def run(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone() if cursor.description else None


@contextmanager
def read_only_database() -> Iterator[None]:
    """Let the engine itself refuse every write."""
    setting = "PRAGMA query_only = {}" if db.is_sqlite() else "SET default_transaction_read_only = {}"
    connection.ensure_connection()
    mode, connection.transaction_mode = getattr(connection, "transaction_mode", None), None
    run(setting.format("on"))
    try:
        yield
    finally:
        run(setting.format("off"))
        connection.transaction_mode = mode


@contextmanager
def full_disk() -> Iterator[None]:
    """Let SQLite find no room for another page."""
    run("VACUUM")
    run(f"PRAGMA max_page_count = {run('PRAGMA page_count')[0]}")
    try:
        yield
    finally:
        run("PRAGMA max_page_count = 1073741823")


def count_rows() -> list[int]:
    return [model.objects.count() for model in (Memory, Document, StoredPart)]


def test_every_door_asks_to_come_back_from_a_read_only_database_and_then_works(ana: Any) -> None:
    agent, page = agent_of(ana), visitor(ana)
    doors = {
        "page": lambda: page.post("/memories/new/", {"statement": "a"}),
        "sign-in": lambda: Client(raise_request_exception=False).post(
            "/login",
            {"login": "ana", "password": "correct horse battery"},
        ),
        "api": lambda: agent.post("/v1/memory", {"statement": "b"}),
        "tool": lambda: agent.tool("memory_write", {"category": "lesson", "content": "c"}),
    }
    call = request("tools/call", name="memory_write", arguments={"category": "lesson", "content": "d"})
    before = count_rows()
    with read_only_database():
        answers = {name: door() for name, door in doors.items()}
        tool_result = send(agent.key, call).json()["result"]
        assert Client().get("/healthz").status_code == 200
        assert agent.get("/v1/memory").status_code == 200
        assert count_rows() == before
    assert {name: (answer.status_code, answer["Retry-After"]) for name, answer in answers.items()} == dict.fromkeys(
        doors,
        (503, "5"),
    )
    assert "stores nothing now" in assert_problem(answers["api"], 503, "unavailable")["detail"]
    assert "stores nothing now" in answers["page"].content.decode()
    assert (tool_result["isError"], "stores nothing now" in tool_result["content"][0]["text"]) == (True, True)
    assert [door().status_code for door in doors.values()] == [303, 302, 201, 200]
    assert send(agent.key, call).json()["result"]["isError"] is False


@ON_SQLITE
def test_a_full_disk_leaves_no_half_row_nor_half_file(ana: Any) -> None:
    agent, page = agent_of(ana), visitor(ana)
    before = count_rows()
    with full_disk():
        answers = [
            agent.put("/v1/workspace/MEMORY.md", {"content": LONG}),
            page.post("/workspace/MEMORY.md/save/", {"content": LONG, "version": "0"}),
        ]
        with pytest.raises(OperationalError, match="full"):
            store_file([bytes(PART_BYTES)] * 3, now=NOON, expires_at=NOON)
        assert count_rows() == before
    assert [(answer.status_code, answer["Retry-After"]) for answer in answers] == [(503, "5")] * 2
    assert agent.put("/v1/workspace/MEMORY.md", {"content": LONG}).status_code == 200


def test_a_wrong_statement_is_a_fault_of_ours() -> None:
    with pytest.raises((OperationalError, ProgrammingError)) as caught:
        run("SELECT nothing FROM nowhere")
    assert not db.is_unavailable(caught.value)


@ON_POSTGRESQL
def test_a_statement_that_takes_too_long_is_stopped_and_asks_to_come_back(ana: Any) -> None:
    agent = agent_of(ana)
    with psycopg.connect(SERVER_URL, dbname=connection.settings_dict["NAME"]) as other:
        other.execute("LOCK TABLE memories IN ACCESS EXCLUSIVE MODE")
        run("SET statement_timeout = 300")
        answer = agent.post("/v1/memory", {"statement": "a"})
        run("SET statement_timeout = 0")
    assert answer["Retry-After"] == "5"
    assert "too long" in assert_problem(answer, 503, "unavailable")["detail"]
    assert agent.post("/v1/memory", {"statement": "a"}).status_code == 201


@ON_POSTGRESQL
def test_another_secret_key_is_refused_until_somebody_says_that_it_counts(settings: Any) -> None:
    check_secret_key()
    settings.SECRET_KEY = "another"
    with pytest.raises(Conflict, match="secret_key"):
        check_secret_key()
    check_secret_key(is_new=True)
    check_secret_key()
