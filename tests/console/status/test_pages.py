"""The state of the instance, for operators and for scrapers."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memory
from minara_site.access.keys.services import create_key
from minara_site.access.models import User
from minara_site.access.policy import Scope
from minara_site.console.status import selectors
from minara_site.console.status.metrics import Metric, Sample, written
from minara_site.console.status.selectors import load_status
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.host import Storage
from minara_site.kernel.jobs.models import JobRun, WorkerSeen
from minara_site.kernel.jobs.services import record_broker_seen
from minara_site.kernel.jobs.table import load_jobs
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
PAGE, METRICS = "/ops/status/", "/metrics"
LINE = re.compile(r'(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [0-9.e+-]+)')


def job_name():
    return min(job.name for job in load_jobs().values() if job.every)


def run(state, moment, **fields):
    return JobRun.objects.create(job=job_name(), state=state, created_at=moment, finished_at=moment, **fields)


def facts_on(response):
    assert response.status_code == 200
    return {str(fact.label): fact for section in response.context["sections"] for fact in section.facts}


@pytest.fixture
def key(olga):
    """A key of Olga's for the scraper."""
    made = create_key(user=olga, scopes=[Scope.OPERATOR], now=timezone.now(), actor="test")
    return {"Authorization": f"Bearer {made.text}"}


def test_says_how_the_instance_is(operator_page, ana):
    now = timezone.now()
    draft = Draft(Category.PERSONALIZATION, "I hold ETH", Provenance(Source.USER_MANUAL, "test"))
    write_memory(owner_id=ana.pk, draft=draft, now=now)
    Memory.objects.update(rules_version="old")
    run("queued", now - timedelta(minutes=6))
    run("failed", now, error="Ask an operator.")
    response = operator_page.get(PAGE)
    facts = facts_on(response)
    assert (facts["Workers"].value, facts["Workers"].tone) == ("0", "bad")
    assert (facts["Runs that wait"].value, facts["Runs that wait"].tone) == ("1", "watch")
    assert (facts["Job runner"].value, facts["Job runner"].tone) == ("django-q2", "bad")
    record_broker_seen(now=now)
    assert facts_on(operator_page.get(PAGE))["Job runner"].tone == "good"
    assert (facts["Failed in 7 days"].value, facts["Judged by older rules"].value) == ("1", "1")
    assert (facts["Search index, newest memories"].tone, facts["Migrations"].tone) == ("good", "good")
    assert "Ask an operator." in response.content.decode()
    assert "before it is judged again" in facts["Judged by older rules"].hint
    WorkerSeen.objects.create(name="host:1", seen_at=now)
    assert facts_on(operator_page.get(PAGE))["Workers"].tone == "good"


@table(
    ("free", "total", "tone"),
    [(90, 100, "good"), (9, 100, "watch"), (900, 100_000, "watch"), (3_000, 10**9, "good"), (99, 10**9, "bad")],
)
def test_warns_before_the_disk_is_full_and_says_from_where_on(operator_page, monkeypatch, free, total, tone):
    storage = Storage(1, 1, 1, disk_free=free * 1024**2, disk_total=total * 1024**2)
    monkeypatch.setattr(selectors, "read_storage", lambda: storage)
    fact = facts_on(operator_page.get(PAGE))["Free on the disk of the data folder"]
    assert fact.tone == tone
    assert "Warns below a tenth of the disk or 2 GB" in fact.hint
    assert ("Make room in" in fact.hint) == (tone != "good")


@pytest.mark.database
def test_finds_a_search_index_that_is_out_of_step(operator_page, ana):
    draft = Draft(Category.PERSONALIZATION, "I hold ETH", Provenance(Source.USER_MANUAL, "test"))
    write_memory(owner_id=ana.pk, draft=draft, now=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM search_document")
    fact = facts_on(operator_page.get(PAGE))["Search index, newest memories"]
    assert fact.tone == "bad"
    assert "has no search document" in fact.hint


def test_says_when_the_last_backup_was_made_and_warns_when_it_is_late_or_failed(
    operator_page, client, key, tmp_path, settings
):
    def shown():
        fact = facts_on(operator_page.get(PAGE))["Last backup"]
        return fact.value, fact.tone, fact.hint

    assert shown() == ("none yet", "", "The schedule is off. Set MINARA_BACKUP_DIR, or run: minara backup FILE")
    settings.MINARA = settings.MINARA.model_copy(update={"minara_backup_dir": tmp_path})
    assert shown() == ("none yet", "watch", str(tmp_path))
    now = timezone.now()
    record_audit(
        now=now - timedelta(days=2, hours=1),
        actor="test",
        tool_call="backup.made",
        details={"bytes": 2048},
    )
    assert shown()[:2] == ("2.0\xa0KB", "bad")
    record_audit(now=now - timedelta(hours=1), actor="test", tool_call="backup.made", details={"bytes": 2048})
    assert shown() == ("2.0\xa0KB", "good", str(tmp_path))
    assert "minara_backup_age_seconds 36" in client.get(METRICS, headers=key).content.decode()
    JobRun.objects.create(job="backup.make", state="failed", created_at=now, finished_at=now, error="Make room.")
    assert shown()[1:] == ("bad", "Make room.")


@pytest.mark.database
def test_knows_of_each_scheduled_job_its_newest_run_and_success(now, olga):
    old, failed = run("succeeded", now - timedelta(hours=2)), run("failed", now)
    run("running", now + timedelta(minutes=1))
    ran = {each.job.name: each for each in load_status(now=now).jobs}
    assert ran.keys() == {job.name for job in load_jobs().values() if job.every}
    assert ran[job_name()].last == failed
    assert ran[job_name()].succeeded_at == old.finished_at


def test_takes_as_many_queries_for_many_rows(operator_page, now, django_assert_max_num_queries):
    JobRun.objects.bulk_create(JobRun(job=job_name(), state="failed", created_at=now) for _ in range(50))
    User.objects.bulk_create(User(username=f"user{number}") for number in range(50))
    with django_assert_max_num_queries(24):
        assert operator_page.get(PAGE).status_code == 200


class TestMetrics:
    def test_answer_an_operators_key_in_the_format_of_prometheus(self, client, key):
        WorkerSeen.objects.create(name="host:1", seen_at=timezone.now())
        run("queued", timezone.now())
        response = client.get(METRICS, headers=key)
        assert response.status_code == 200
        assert response["Content-Type"].startswith("text/plain; version=0.0.4")
        lines = response.content.decode().splitlines()
        assert [line for line in lines if not LINE.fullmatch(line)] == []
        for line in ("minara_workers 1", 'minara_job_runs{state="queued"} 1', "minara_migrations_waiting 0"):
            assert line in lines
        assert 'minara_rebuild_due_seconds{flow="trading_summary"} 0.0' in lines
        assert any(line.startswith('minara_info{version="') for line in lines)

    def test_are_closed_to_sessions_and_to_other_keys(self, operator_page, olga):
        for headers in ({}, {"Authorization": "Basic b2xnYTp4"}, {"Authorization": "Bearer nothing"}):
            response = operator_page.get(METRICS, headers=headers)
            assert (response.status_code, response["Content-Type"]) == (401, "application/problem+json")
        key = create_key(user=olga, scopes=[Scope.MEMORY_READ], now=timezone.now(), actor="test").text
        assert operator_page.get(METRICS, headers={"Authorization": f"Bearer {key}"}).status_code == 403

    def test_escape_what_would_end_a_label(self):
        text = written([Metric("a", "b", [Sample(1, {"job": 'x"\n\\'})]), Metric("none", "c", [])])
        assert text == '# HELP a b\n# TYPE a gauge\na{job="x\\"\\n\\\\"} 1\n'


def test_says_which_models_are_asked_or_what_is_missing(operator_page, settings):
    fact = facts_on(operator_page.get(PAGE))["Models"]
    assert (fact.value, fact.tone, fact.hint) == ("none", "", "No model can be called: set ANTHROPIC_API_KEY.")
    settings.MINARA = settings.MINARA.model_copy(update={"anthropic_base_url": "http://127.0.0.1:1"})
    fact = facts_on(operator_page.get(PAGE))["Models"]
    assert fact.tone == "watch"
    assert "without ANTHROPIC_API_KEY" in fact.hint
    settings.MINARA = settings.MINARA.model_copy(update={"anthropic_api_key": "canary-key"})
    response = operator_page.get(PAGE)
    fact = facts_on(response)["Models"]
    assert (fact.value, fact.tone, fact.hint) == ("claude-haiku-5-5, claude-sonnet-5-5", "good", "")
    assert "canary-key" not in response.content.decode()
