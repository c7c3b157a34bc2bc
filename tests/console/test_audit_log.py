"""`/ops/audit-log/`: every act in words, found by who, what, whose and when, with the state of the chain."""

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from minara_site.access.keys.services import create_key
from minara_site.access.policy import Scope
from minara_site.console.audit_log import export
from minara_site.console.audit_log.pages import by_actor, by_request
from minara_site.kernel.audit_log import tasks
from minara_site.kernel.audit_log.models import AuditEntry, AuditSeal
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.jobs import queue, runner
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.shell.owners import user_filter
from tests.kernel.audit_log.conftest import tamper  # noqa: F401 - a fixture
from tests.kit.page import text_of
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
HTMX = {"HX-Request": "true"}
MAX_QUERIES = 16


@pytest.fixture(autouse=True)
def no_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker listens here."""
    monkeypatch.setattr(queue, "push", lambda _run_id: True)


def note(tool_call: str = "memory_write", *, actor: str = "job:probe", **fields: Any) -> AuditEntry:
    return record_audit(**{"now": timezone.now(), "actor": actor, "tool_call": tool_call, **fields})


def rows(client: Client, query: str) -> list[int]:
    return [
        int(pk) for pk in re.findall(r'id="entry-(\d+)"', text_of(client.get(f"/ops/audit-log/?{query}", headers=HTMX)))
    ]


class TestList:
    def test_says_in_words_who_did_what_to_whose_data(self, operator_page: Client, ana: Any) -> None:
        key = create_key(
            user=ana,
            scopes=[Scope.MEMORY_READ],
            label="laptop",
            now=timezone.now(),
            actor="user:1",
        )
        note("memory_removed", actor=f"key:{key.prefix}", owner_id=ana.pk, details={"memories": [{}, {}, {}]})
        at = timezone.now().replace(hour=9, minute=5, second=7)
        note("something_new", owner_id=987_654, reasoning="because of <this>", now=at)
        page = text_of(operator_page.get("/ops/audit-log/"))
        assert " 09:05:07</time>" in page
        assert "Memories deleted" in page
        assert "3 rows" in page
        assert f"laptop, API key {key.prefix}" in page
        assert "something_new" in page
        assert "because of &lt;this&gt;" in page
        assert ">gone<" in page

    @pytest.mark.database
    def test_finds_by_who_what_whose_and_when(self, operator_page: Client, ana: Any, ben: Any) -> None:
        now = timezone.now()
        one = note("memory_write", actor=f"user:{ana.pk}", owner_id=ana.pk, now=now - timedelta(days=5)).pk
        two = note("memory_edited", actor="key:abcd1234", owner_id=ana.pk).pk
        three = note("memory_write", owner_id=ben.pk).pk
        for query, kept in (
            ("", [three, two, one]),
            ("actor=ana", [one]),
            (f"actor=user:{ana.pk}", [one]),
            ("actor=key:abcd1234", [two]),
            ("actor=nobody", []),
            ("act=memory_write", [three, one]),
            ("act=memory_write&act=memory_edited", [three, two, one]),
            ("owner=ana", [two, one]),
            ("owner=nobody", []),
            (f"after={now - timedelta(days=2):%Y-%m-%d}", [three, two]),
            (f"before={now - timedelta(days=2):%Y-%m-%d}&owner=ana", [one]),
        ):
            assert rows(operator_page, query) == kept, query

    @pytest.mark.database
    @table("value", ["\0", "a\ud800b", "' OR 1=1 --", "user:", "9" * 400, "x" * 600, "%", "名前"])
    def test_any_text_is_a_filter_that_finds_nothing_or_a_notice(self, operator_page: Client, value: str) -> None:
        note()
        for name in ("actor", "owner", "request", "act", "after"):
            query = urlencode({name: value}, errors="surrogatepass")
            assert operator_page.get(f"/ops/audit-log/?{query}").status_code == 200

    def test_leads_from_an_act_to_all_of_its_request(self, operator_page: Client, ana: Any) -> None:
        operator_page.post("/settings/theme/", {"theme": "dark"})
        with_request = AuditEntry.objects.exclude(request_id="").get()
        note()
        page = text_of(operator_page.get("/ops/audit-log/"))
        assert f"?request={with_request.request_id}" in page
        assert rows(operator_page, f"request={with_request.request_id}") == [with_request.pk]

    def test_asks_as_often_for_many_rows(self, operator_page: Client, ana: Any) -> None:
        def count() -> int:
            with CaptureQueriesContext(connection) as queries:
                text_of(operator_page.get("/ops/audit-log/"))
            return len(queries)

        note(actor="user:1", owner_id=ana.pk)
        note(actor="key:abcd1234", owner_id=ana.pk)
        count()  # the first look of a session asks more
        few = count()
        for number in range(40):
            note(actor=f"user:{number}", owner_id=ana.pk)
        assert few == count() <= MAX_QUERIES

    @table(
        ("narrowed", "index"),
        [
            (lambda rows: rows, "audit_log_newest"),
            (lambda rows: by_actor(rows, "key:abcd1234"), "audit_log_actor_newest"),
            (lambda rows: by_request(rows, "req-1"), "audit_log_request"),
            (lambda rows: user_filter("owner", "Owner").narrow(rows, "ana"), "audit_log_owner_newest"),
            (lambda rows: rows.filter(tool_call__in=("memory_write",)), "audit_log_tool"),
        ],
    )
    @pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL chooses by what the table holds")
    def test_each_filter_walks_an_index(self, ana: Any, narrowed: Any, index: str) -> None:
        plan = narrowed(AuditEntry.objects.all()).order_by("-at", "-id")[:51].explain()
        assert index in plan


class TestEntry:
    def test_shows_everything_that_was_recorded(self, operator_page: Client, ana: Any) -> None:
        entry = note("memory_edited", owner_id=ana.pk, reasoning="„weil“", details={"id": 7, "sha256": "f00"})
        page = text_of(operator_page.get(f"/ops/audit-log/{entry.pk}/"))
        assert "<h1>Memory edited</h1>" in page
        assert "&quot;sha256&quot;: &quot;f00&quot;" in page
        assert "„weil“" in page
        assert "not yet" in page
        tasks.seal(now=timezone.now())
        assert f"seal {AuditSeal.objects.get().pk}" in text_of(operator_page.get(f"/ops/audit-log/{entry.pk}/"))


def check_now(operator_page: Client) -> JobRun:
    """Press the button, and do what the worker does."""
    assert operator_page.post("/ops/audit-log/check/").status_code == 303
    run = JobRun.objects.filter(job=tasks.VERIFY).latest("pk")
    runner.execute(run.pk)
    return run


class TestChain:
    def test_says_how_far_the_log_is_sealed_and_when_entries_wait_too_long(self, operator_page: Client) -> None:
        assert "Nothing yet" in text_of(operator_page.get("/ops/audit-log/"))
        note(now=timezone.now() - timedelta(minutes=16))
        assert "for more than 15 minutes" in text_of(operator_page.get("/ops/audit-log/"))
        entry = note()
        tasks.seal(now=timezone.now())
        note()
        page = text_of(operator_page.get("/ops/audit-log/"))
        assert f"up to entry {entry.pk}," in page
        assert "the newest seal fits" in page
        assert AuditSeal.objects.get().sha256 in page
        assert "for more than 15 minutes" not in page

    def test_a_check_is_asked_for_shown_while_it_runs_and_kept(self, operator_page: Client, olga: Any) -> None:
        note()
        tasks.seal(now=timezone.now())
        operator_page.post("/ops/audit-log/check/")
        run = JobRun.objects.get()
        assert (run.job, run.requested_by) == (tasks.VERIFY, f"user:{olga.pk}")
        assert AuditEntry.objects.filter(tool_call="job_requested").count() == 1
        for page in (
            text_of(operator_page.get("/ops/audit-log/")),
            text_of(operator_page.get("/ops/audit-log/chain/", headers=HTMX)),
        ):
            assert 'hx-trigger="every 2s"' in page
            assert '<a id="check-run"' in page  # the focus finds it again in the panel that takes this one's place
        runner.execute(run.pk)
        assert operator_page.get("/ops/audit-log/chain/")["Location"] == "/ops/audit-log/"  # without scripts
        panel = text_of(operator_page.get("/ops/audit-log/chain/", headers=HTMX))
        assert "Every seal fits (entries: 1, seals: 1)." in panel
        assert "hx-trigger" not in panel

    def test_an_entry_that_was_changed_raises_the_alarm(self, operator_page: Client, tamper: Any) -> None:  # noqa: F811
        entry = note()
        tasks.seal(now=timezone.now())
        tamper("UPDATE audit_log SET actor = 'user:2' WHERE id = %s", entry.pk)
        page = text_of(operator_page.get("/ops/audit-log/"))
        assert "The log was changed" in page
        assert "an entry was changed" in page
        assert check_now(operator_page).pk
        assert JobRun.objects.get().state == RunState.FAILED
        assert "broken at seal" in text_of(operator_page.get("/ops/audit-log/"))


class TestExport:
    def read(self, operator_page: Client, path: str) -> str:
        answer = operator_page.get(path)
        assert "attachment" in answer["Content-Disposition"]
        return b"".join(answer.streaming_content).decode()

    def test_a_table_begins_no_formula(self, operator_page: Client, ana: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(export, "SLICE", 2)
        for reason in ("=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "plain", "two\nlines, „quoted“"):
            note("memory_edited", owner_id=ana.pk, reasoning=reason)
        note("memory_write")
        head, *lines = csv.reader(io.StringIO(self.read(operator_page, "/ops/audit-log/export.csv?act=memory_edited")))
        assert head == list(export.COLUMNS)
        reasons = [line[head.index("reasoning")] for line in lines]
        assert reasons == ["two\nlines, „quoted“", "plain", "'@SUM(A1)", "'-1", "'+1", "'=HYPERLINK(1)"]
        assert {line[head.index("owner_id")] for line in lines} == {str(ana.pk)}

    @table(("cell", "kept"), [("\tx", "'\tx"), ("\rx", "'\rx"), (-9.7, -9.7), (None, None), ("", "")])
    def test_numbers_stay_numbers(self, cell: Any, kept: Any) -> None:
        assert export.safe_cell(cell) == kept

    def test_json_keeps_every_column(self, operator_page: Client, ana: Any) -> None:
        assert json.loads(self.read(operator_page, "/ops/audit-log/export.json?owner=nobody")) == []
        entry = note("memory_edited", owner_id=ana.pk, reasoning="理由", details={"id": 7})
        note()
        kept = json.loads(self.read(operator_page, "/ops/audit-log/export.json?owner=ana"))
        assert [(each["id"], each["reasoning"], each["details"]) for each in kept] == [(entry.pk, "理由", {"id": 7})]
