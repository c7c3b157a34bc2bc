"""`/ops/doctor/`: the report, a dry run, and the repair that was looked at."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory_app.doctor.services import choose_fixes
from memory_app.edges.models import MemoryEdge
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.jobs import queue, runner
from minara_site.kernel.jobs.models import JobRun, WorkerSeen
from tests.memory_app.memories.factories import make_many, make_memory

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
MAX_QUERIES = 20


@pytest.fixture(autouse=True)
def no_queue(monkeypatch):
    """No worker listens here."""
    monkeypatch.setattr(queue, "push", lambda _run_id: True)


def main_of(answer):
    assert answer.status_code == 200, answer.content
    return answer.content.decode().split("<main")[1]


def ask(operator_page, **data):
    """Ask for a dry run and let a worker do it; return the address of its page."""
    answer = operator_page.post("/ops/doctor/look/", data)
    assert answer.status_code == 303
    runner.execute(int(answer["Location"].rstrip("/").rpartition("/")[2]))
    return answer["Location"]


def test_says_what_is_wrong_and_what_to_do_or_that_nothing_is(operator_page):
    page = main_of(operator_page.get("/ops/doctor/"))
    assert "Needs repair" in page
    assert "minara worker" in page
    WorkerSeen.objects.create(name="host:1", seen_at=timezone.now())
    page = main_of(operator_page.get("/ops/doctor/"))
    assert "Healthy" in page
    assert "Nothing was repaired yet" in page


def test_costs_the_same_however_much_is_stored(operator_page, ana):
    def count():
        with CaptureQueriesContext(connection) as queries:
            operator_page.get("/ops/doctor/")
        return len(queries)

    make_memory(ana, "Bought BTC")
    operator_page.get("/")  # the first visit is noted
    few = count()
    make_many(ana, 40)
    assert count() == few <= MAX_QUERIES


def test_the_anonymous_report_is_a_file_of_buckets(operator_page, ana):
    make_memory(ana, "Bought BTC")
    answer = operator_page.get("/ops/doctor/anonymous.json")
    assert answer["Content-Disposition"] == 'attachment; filename="minara-doctor-anonymous.json"'
    record = json.loads(answer.content)
    counts = [line["count"] for section in record["sections"] for line in section["lines"] if "count" in line]
    assert set(counts) <= {"0", "1-9", "10-99", "100-999", "1k-9k", "10k+"}
    assert "BTC" not in answer.content.decode()


def test_look_then_apply_then_nothing_is_left(operator_page, ana, olga):
    memory = make_memory(ana, "Bought BTC")
    MemoryEdge.objects.all().delete()
    seen = ask(operator_page, only=["edges"])
    assert not AuditEntry.objects.filter(tool_call__startswith="doctor.").exists()
    page = main_of(operator_page.get(seen))
    for words in ("edges to add", f'href="/memories/{memory.pk}/"', "Apply repairs"):
        assert words in page
    asked = operator_page.post(f"{seen}apply/")
    run = JobRun.objects.latest("pk")
    assert asked["Location"] == f"/ops/doctor/runs/{run.pk}/"
    assert "It waits for a worker" in main_of(operator_page.get(asked["Location"]))
    runner.execute(run.pk)
    assert "edges added" in main_of(operator_page.get(asked["Location"]))
    entry = AuditEntry.objects.get(tool_call__startswith="doctor.")
    assert (entry.tool_call, entry.actor) == ("doctor.fix.edges", f"user:{olga.pk}")
    assert "There is nothing to repair" in main_of(operator_page.get(ask(operator_page, only=["edges"])))
    assert "Doctor added missing edges" in operator_page.get("/ops/audit-log/").content.decode()


def test_an_unknown_fix_is_told_and_without_a_choice_the_default_set_is_looked_at(operator_page):
    answer = operator_page.post("/ops/doctor/look/", {"only": "graduation"})
    assert answer.status_code == 422
    assert "There is no fix graduation" in answer.content.decode()
    assert not JobRun.objects.exists()
    ask(operator_page)
    assert JobRun.objects.latest("pk").arguments["names"] == choose_fixes(())


def test_nothing_is_applied_that_nobody_has_looked_at(operator_page):
    waiting = operator_page.post("/ops/doctor/look/", {"only": "edges"})["Location"]
    assert operator_page.post(f"{waiting}apply/").status_code == 409
    runner.execute(JobRun.objects.latest("pk").pk)
    applied = operator_page.post(f"{waiting}apply/")["Location"]
    runner.execute(JobRun.objects.latest("pk").pk)
    assert operator_page.post(f"{applied}apply/").status_code == 409


def test_the_page_of_a_run_asks_again_until_it_is_over(operator_page):
    seen = operator_page.post("/ops/doctor/look/", {"only": "edges"})["Location"]
    fragment = operator_page.get(seen, headers=HTMX)
    assert f'hx-get="{seen}"' in fragment.content.decode()
    assert f'<noscript><a href="{seen}">' in fragment.content.decode(), "a link for those without scripts alone"
    runner.execute(JobRun.objects.latest("pk").pk)
    assert operator_page.get(seen, headers=HTMX)["HX-Refresh"] == "true"


def test_a_run_of_another_job_is_none_of_the_doctors(operator_page):
    other = JobRun.objects.create(job="memories.purge_expired", created_at=timezone.now())
    assert operator_page.get(f"/ops/doctor/runs/{other.pk}/").status_code == 404
    assert operator_page.post(f"/ops/doctor/runs/{other.pk}/apply/").status_code == 404
