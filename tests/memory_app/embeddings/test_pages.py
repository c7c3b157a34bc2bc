"""`/ops/embeddings/`: provider, states, runs, and the backfill."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory_app.embeddings.selectors import BACKFILL, EMBED, embed_query, load_overview
from memory_app.embeddings.services import embed_pending
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.jobs.models import JobRun
from tests.kit.clock import NOON
from tests.kit.page import text_of
from tests.memory_app.memories.factories import make_many, make_memory

pytestmark = pytest.mark.django_db
PAGE, START = "/ops/embeddings/", "/ops/embeddings/backfill/"


def test_without_a_provider_the_page_says_which_variables_to_set_and_a_backfill_is_refused(operator_page, ana):
    make_memory(ana)
    page = text_of(operator_page.get(PAGE))
    assert "Provider disabled: words only" in page
    for name in ("PROVIDER", "API_KEY", "BASE_URL", "MODEL"):
        assert f"EMBEDDING_{name}" in page
    assert START not in page
    assert "No embedding provider is set" in text_of(operator_page.post(START), 409)
    assert not JobRun.objects.filter(job=BACKFILL).exists()


def test_states_model_and_runs_stand_and_no_text_or_key(operator_page, ana, endpoint, enable):
    make_many(ana, 4)
    make_memory(ana, "ok")
    endpoint.refused = {"Memory number 2"}
    embed_pending(now=NOON)
    JobRun.objects.create(job=BACKFILL, created_at=NOON, state="failed", error="It did not answer.", requested_by="x")
    page = text_of(operator_page.get(PAGE))
    for words in ("openai:text-embedding-3-small", "Embedded", "Failed", "Skipped", "It did not answer."):
        assert words in page
    assert "Memory number" not in page
    assert "sk-test" not in page
    enable("openai", base_url=endpoint.url, model="<b>bigger")
    page = text_of(operator_page.get(PAGE))
    assert "&lt;b&gt;bigger" in page


def test_a_provider_that_did_not_answer_is_told(operator_page, endpoint):
    endpoint.status = 503
    embed_query("altcoin drawdown")
    assert "did not answer a moment ago" in text_of(operator_page.get(PAGE))


def test_a_backfill_is_asked_for_once_and_leaves_its_trace(operator_page, olga, endpoint):
    for _time in range(2):
        assert operator_page.post(START).headers["Location"] == PAGE
    run = JobRun.objects.get(job=BACKFILL)
    assert run.requested_by == f"user:{olga.pk}"
    assert AuditEntry.objects.get(tool_call="job_requested").details == {"run": run.pk, "job": BACKFILL}
    assert "asked for by you" in text_of(operator_page.get(PAGE))


def test_runs_that_writes_ask_for_hide_no_backfill(operator_page, endpoint):
    JobRun.objects.create(job=BACKFILL, created_at=NOON, state="running", requested_by="schedule")
    for minute in range(1, 9):
        at = NOON + timedelta(minutes=minute)
        JobRun.objects.create(job=EMBED, created_at=at, finished_at=at, state="succeeded", requested_by="schedule")
    found = load_overview()
    assert [run.job for run in found.runs] == [EMBED] * 3 + [BACKFILL]
    assert found.under_way == found.runs[-1]


def test_the_page_costs_as_many_queries_with_much_as_with_little(operator_page, ana, endpoint):
    make_memory(ana)
    embed_pending(now=NOON)  # from now on the length of the vectors is known
    operator_page.get(PAGE)
    with CaptureQueriesContext(connection) as few:
        operator_page.get(PAGE)
    make_many(ana, 30)
    embed_pending(now=NOON)
    with CaptureQueriesContext(connection) as many:
        operator_page.get(PAGE)
    assert len(many) == len(few) <= 7, [q["sql"][:150] for q in many]
