"""The log of searches: what it keeps, what it forgets, and that no search ever fails because of it."""

import sqlite3
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memory_app.memories.services import purge_expired
from memory_app.search.core.surfaces import Surface
from memory_app.search.log import MAX_WAIT_MS, delete_expired_searches, log_database, log_search, tools_called_through
from memory_app.search.models import SearchLogEntry, SearchLogHit
from memory_app.snapshot.models import SnapshotMemory
from minara_site.agent.catalogue import call_tool
from minara_site.kernel.core.vocabulary import Category
from minara_site.kernel.db import is_sqlite
from minara_site.kernel.jobs.table import find_job
from minara_site.kernel.ownership import EVERYONE
from profile_app.prompt.services import end_session, start_session
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.memory_app.memories.factories import browser, make_many, make_memory

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def logged():
    """Return every entry with its hits in their order."""
    return [
        (
            entry.door,
            entry.actor,
            entry.query,
            entry.found,
            list(entry.hits.order_by("rank").values_list("memory_id")),
        )
        for entry in SearchLogEntry.objects.order_by("pk")
    ]


def search(owner, ids, *, at=NOON, query="btc stop"):
    log_search(principal=browser(owner), owner=owner, query=query, ids=ids, now=at, door=Surface.PAGE)
    return SearchLogEntry.objects.latest("pk")


class TestKeeps:
    @pytest.mark.database
    def test_one_entry_for_each_door_with_its_hits_in_order(self, ana, page: Client):
        best = make_memory(ana, "btc stop btc stop", category=Category.LESSON)
        second = make_memory(ana, "the stop of a long walk along btc and everything else there is")
        hits = [(best.pk,), (second.pk,)]
        me = browser(ana)
        page.get("/search/", {"q": "btc stop"})
        agent = agent_of(ana)
        agent.get("/v1/memory/search?q=btc+stop")
        call_tool(me, "memory_search", {"query": "btc stop"})
        with tools_called_through(Surface.MCP):
            call_tool(me, "memory_search", {"query": "btc stop"})
        page.get(reverse("search_lab:page"), {"q": "btc stop"})
        call_command("search", "find", "btc", "stop", "--user", "ana", stdout=StringIO())
        doors = [(door, query, found, ids) for door, _actor, query, found, ids in logged()]
        assert doors == [(door, "btc stop", 2, hits) for door in ("page", "api", "tool", "mcp", "page", "command")]
        actors = [actor for _door, actor, *_rest in logged()]
        assert actors[0] == actors[2] == f"user:{ana.pk}"
        assert actors[-1] == "command:search"
        assert actors[1].startswith("key:")

    def test_a_search_that_finds_nothing_too(self, ana, page: Client):
        page.get("/search/", {"q": "nothing"})
        assert logged() == [("page", f"user:{ana.pk}", "nothing", 0, [])]

    def test_only_what_is_shown(self, ana, page: Client):
        make_many(ana, 32)
        page.get("/search/", {"q": "memory"})
        assert SearchLogHit.objects.count() == 30

    def test_no_secret(self, ana):
        entry = search(ana, [], query="my api_key=sk-ant-api03-Zq8Lw2Vt5Rn1Xc7Bm4Kd9Hf3Gs6Jp0")
        assert "Zq8Lw2Vt5Rn1" not in entry.query
        assert len(search(ana, [], query="password: hunter2secret9 " * 25).query) <= 512

    def test_of_a_search_across_everybody_whose_search_it_was(self, ana, olga):
        memory = make_memory(ana)
        log_search(
            principal=browser(olga),
            owner=EVERYONE,
            query="stops",
            ids=[memory.pk],
            now=NOON,
            door=Surface.PAGE,
        )
        assert SearchLogEntry.objects.get().owner_id == olga.pk

    def test_nothing_when_it_is_off(self, ana, page: Client, settings):
        settings.MINARA = settings.MINARA.model_copy(update={"minara_search_log_days": 0})
        make_memory(ana)
        assert page.get("/search/", {"q": "btc"}).status_code == 200
        assert not SearchLogEntry.objects.exists()


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
class TestNeverFailsASearch:
    def test_while_somebody_else_writes_the_file(self, ana, page: Client):
        if not is_sqlite():
            pytest.skip("SQLite locks a whole file; PostgreSQL's inserts wait for nobody")
        make_memory(ana)
        page.get("/search/", {"q": "btc"})
        name = connections[log_database()].settings_dict["NAME"]
        with sqlite3.connect(name, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            with CaptureQueriesContext(connections[log_database()]) as statements:
                log_search(
                    principal=browser(ana),
                    owner=ana,
                    query="btc",
                    ids=[1],
                    now=NOON,
                    door=Surface.PAGE,
                )
            assert statements[1]["sql"] == f"PRAGMA busy_timeout = {MAX_WAIT_MS}"  # the file's own patience is 20 s
            other.execute("ROLLBACK")
        other.close()
        assert SearchLogEntry.objects.count() == 1
        search(ana, [])
        with connections[log_database()].cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout")
            assert cursor.fetchone() == (20_000,)

    def test_while_the_file_is_read_only(self, ana, page: Client):
        if not is_sqlite():
            pytest.skip("a file of SQLite")
        memory = make_memory(ana)
        with connections[log_database()].cursor() as cursor:
            cursor.execute("PRAGMA query_only = ON")
        try:
            answer = page.get("/search/", {"q": "btc"})
        finally:
            with connections[log_database()].cursor() as cursor:
                cursor.execute("PRAGMA query_only = OFF")
        assert f"/memories/{memory.pk}/" in answer.content.decode()
        assert not SearchLogEntry.objects.exists()

    def test_while_the_table_is_locked_on_postgresql(self, ana):
        if is_sqlite():
            pytest.skip("SQLite has no locks of tables")
        import psycopg

        params = connections["default"].get_connection_params()
        wanted = {name: params[name] for name in ("dbname", "user", "password", "host", "port") if params.get(name)}
        with psycopg.connect(**wanted) as other:
            other.execute("LOCK TABLE search_log IN ACCESS EXCLUSIVE MODE")
            log_search(principal=browser(ana), owner=ana, query="btc", ids=[1], now=NOON, door=Surface.PAGE)
            other.rollback()
        assert not SearchLogEntry.objects.exists()


class TestForgets:
    @pytest.mark.database
    def test_what_is_older_than_the_days_one_tick_after_and_not_before(self, ana):
        search(ana, [1, 2], at=NOON)
        tick = timedelta(microseconds=1)
        assert delete_expired_searches(now=NOON + 30 * DAY - tick) == 0
        assert delete_expired_searches(now=NOON + 30 * DAY) == 1
        assert not SearchLogHit.objects.exists()

    @pytest.mark.database
    def test_slice_by_slice_the_oldest_first_and_nothing_the_second_time(self, ana):
        for number in range(5):
            search(ana, [number], at=NOON + number * DAY)
        assert delete_expired_searches(now=NOON + 33 * DAY, slice_size=2) == 4
        assert delete_expired_searches(now=NOON + 33 * DAY, slice_size=2) == 0
        assert SearchLogEntry.objects.get().at == NOON + 4 * DAY

    def test_everything_once_it_is_off(self, ana, settings):
        search(ana, [1])
        settings.MINARA = settings.MINARA.model_copy(update={"minara_search_log_days": 0})
        assert delete_expired_searches(now=NOON) == 1

    def test_as_a_job_of_the_schedule(self):
        job = find_job("why.forget_searches")
        assert job.every == DAY
        assert job.function(now=NOON) == {"forgotten": 0}


@pytest.mark.database
class TestPurge:
    def test_takes_the_hits_and_the_words_of_the_searches_and_the_lines_of_prompts(self, ana, ben):
        gone = make_memory(ana, "quokka whisper", deleted_at=NOON)
        stays = make_memory(ana, "wombat")
        mixed = search(ana, [gone.pk, stays.pk], query="quokka whisper")
        other = search(ben, [stays.pk], query="wombat")
        session = start_session(owner=ana, title="", actor="test", now=NOON).session
        SnapshotMemory.objects.create(session=session, memory_id=gone.pk, frozen_at=NOON)
        assert purge_expired(now=NOON + 31 * DAY) == 1
        mixed.refresh_from_db()
        other.refresh_from_db()
        assert (mixed.query, mixed.found, other.query) == ("", 2, "wombat")
        assert set(SearchLogHit.objects.values_list("memory_id", flat=True)) == {stays.pk}
        assert list(SnapshotMemory.objects.values_list("memory_id", flat=True)) == [stays.pk]


@pytest.mark.database
class TestCarried:
    def test_a_session_keeps_the_ids_of_its_prompt_and_after_its_end_too(self, ana):
        make_many(ana, 60)
        snapshot = start_session(owner=ana, title="", actor="test", now=NOON)
        carried = SnapshotMemory.objects.filter(session=snapshot.session)
        assert set(carried.values_list("memory_id", flat=True)) == set(snapshot.memory_ids)
        assert carried.count() == len(snapshot.memory_ids) == 60
        end_session(owner=ana, session_id=snapshot.pk, actor="test", now=NOON + DAY)
        assert carried.count() == 60
