"""`/ops/doctor/`: the report, a dry run, and the repair that was looked at."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory_app.edges.models import MemoryEdge
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.jobs import queue, runner
from minara_site.kernel.jobs.models import JobRun, WorkerSeen
from tests.kit.tables import table
from tests.memory_app.memories.factories import make_many, make_memory

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
MOST_QUERIES = 22


@pytest.fixture(autouse=True)
def no_queue(monkeypatch):
    """No worker listens here."""
    monkeypatch.setattr(queue, "push", lambda _run_id: True)


@pytest.fixture
def operator(client, olga):
    client.force_login(olga)
    return client


def main_of(answer):
    assert answer.status_code == 200, answer.content
    return answer.content.decode().split("<main")[1]


def ask(operator, **data):
    """Ask for a dry run and let a worker do it; return the address of its page."""
    answer = operator.post("/ops/doctor/look/", data)
    assert answer.status_code == 303
    runner.execute(int(answer["Location"].rstrip("/").rpartition("/")[2]))
    return answer["Location"]


def test_a_healthy_instance_says_so(operator):
    WorkerSeen.objects.create(name="host:1", seen_at=timezone.now())
    page = main_of(operator.get("/ops/doctor/"))
    assert "Healthy" in page
    assert "Nothing was repaired yet" in page


def test_what_is_wrong_stands_in_words_with_what_to_do(operator):
    page = main_of(operator.get("/ops/doctor/"))
    assert "Needs repair" in page
    assert "minara worker" in page


def test_costs_the_same_however_much_is_stored(operator, ana):
    def count():
        with CaptureQueriesContext(connection) as queries:
            operator.get("/ops/doctor/")
        return len(queries)

    make_memory(ana, "Bought BTC")
    operator.get("/")  # the first visit is noted
    few = count()
    make_many(ana, 40)
    assert count() == few <= MOST_QUERIES


def test_the_anonymous_report_is_a_file_of_buckets(operator, ana):
    make_memory(ana, "Bought BTC")
    answer = operator.get("/ops/doctor/anonymous.json")
    assert answer["Content-Disposition"] == 'attachment; filename="minara-doctor-anonymous.json"'
    record = json.loads(answer.content)
    counts = [line["count"] for section in record["sections"] for line in section["lines"] if "count" in line]
    assert set(counts) <= {"0", "1-9", "10-99", "100-999", "1k-9k", "10k+"}
    assert "BTC" not in answer.content.decode()


def test_look_then_apply_then_nothing_is_left(operator, ana, olga):
    memory = make_memory(ana, "Bought BTC")
    MemoryEdge.objects.all().delete()
    seen = ask(operator, only=["edges"])
    assert not AuditEntry.objects.filter(tool_call__startswith="doctor.").exists()
    page = main_of(operator.get(seen))
    for words in ("edges to add", f'href="/memories/{memory.pk}/"', "Apply this"):
        assert words in page
    asked = operator.post(f"{seen}apply/")
    run = JobRun.objects.latest("pk")
    assert asked["Location"] == f"/ops/doctor/runs/{run.pk}/"
    assert "It waits for a worker" in main_of(operator.get(asked["Location"]))
    runner.execute(run.pk)
    assert "edges added" in main_of(operator.get(asked["Location"]))
    entry = AuditEntry.objects.get(tool_call__startswith="doctor.")
    assert (entry.tool_call, entry.actor) == ("doctor.fix.edges", f"user:{olga.pk}")
    assert "There is nothing to repair" in main_of(operator.get(ask(operator, only=["edges"])))
    assert "Doctor added missing edges" in operator.get("/ops/audit-log/").content.decode()


def test_without_a_choice_the_default_set_is_looked_at(operator):
    ask(operator)
    assert JobRun.objects.latest("pk").arguments["names"] == ["edges", "embeddings"]


def test_an_unknown_fix_is_told_and_nothing_is_asked_for(operator):
    answer = operator.post("/ops/doctor/look/", {"only": "methodology_demotion"})
    assert answer.status_code == 422
    assert "comes with its tables" in answer.content.decode()
    assert not JobRun.objects.exists()


def test_nothing_is_applied_that_nobody_has_looked_at(operator):
    waiting = operator.post("/ops/doctor/look/", {"only": "edges"})["Location"]
    assert operator.post(f"{waiting}apply/").status_code == 409
    runner.execute(JobRun.objects.latest("pk").pk)
    applied = operator.post(f"{waiting}apply/")["Location"]
    runner.execute(JobRun.objects.latest("pk").pk)
    assert operator.post(f"{applied}apply/").status_code == 409


def test_the_page_of_a_run_asks_again_until_it_is_over(operator):
    seen = operator.post("/ops/doctor/look/", {"only": "edges"})["Location"]
    fragment = operator.get(seen, headers=HTMX)
    assert f'hx-get="{seen}"' in fragment.content.decode()
    assert f'<noscript> <a href="{seen}">' in fragment.content.decode(), "a link for those without scripts alone"
    runner.execute(JobRun.objects.latest("pk").pk)
    assert operator.get(seen, headers=HTMX)["HX-Refresh"] == "true"


def test_a_run_of_another_job_is_none_of_the_doctors(operator):
    other = JobRun.objects.create(job="memories.purge_expired", created_at=timezone.now())
    assert operator.get(f"/ops/doctor/runs/{other.pk}/").status_code == 404
    assert operator.post(f"/ops/doctor/runs/{other.pk}/apply/").status_code == 404


@table("path", ["/ops/doctor/", "/ops/doctor/anonymous.json"])
def test_is_not_for_owners(client, ana, path):
    client.force_login(ana)
    assert client.get(path).status_code == 403
