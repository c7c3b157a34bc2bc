"""`/ops/jobs/`: what operators see of jobs, and what they can do with them."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from minara_site.console.jobs.pages import duration_label
from minara_site.console.jobs.selectors import load_plan
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.jobs import queue, services
from minara_site.kernel.jobs.models import JobRun, RunState, WorkerSeen
from minara_site.kernel.jobs.schedule import find_slot
from tests.kit.page import text_of
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
PURGE = "memories.purge_expired"
HALF_HOUR = timedelta(minutes=30)
HTMX = {"HX-Request": "true"}
MAX_QUERIES = 14


@pytest.fixture(autouse=True)
def no_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker listens here."""
    monkeypatch.setattr(queue, "push", lambda _run_id: True)


def make_run(job: str = PURGE, **fields: Any) -> JobRun:
    now = timezone.now()
    return JobRun.objects.create(**{"job": job, "created_at": now, "enqueued_at": now, **fields})


def planned(job: str = PURGE) -> Any:
    return next(each for each in load_plan(now=timezone.now()) if each.job.name == job)


class TestSchedule:
    def test_names_every_job_in_plain_words_and_says_when_no_worker_was_seen(self, operator_page: Client) -> None:
        page = text_of(operator_page.get("/ops/jobs/"))
        assert "Removes deleted memories and discarded texts for good" in page
        assert "Seals what the audit log has gained" in page
        assert "minara worker</code>" in page
        WorkerSeen.objects.create(name="host:1", seen_at=timezone.now())
        assert "Worker not seen" not in text_of(operator_page.get("/ops/jobs/"))

    def test_a_job_that_ran_comes_again_in_its_next_slot(self) -> None:
        slot = find_slot(HALF_HOUR, timezone.now())
        run = make_run(slot=slot, state=RunState.SUCCEEDED, finished_at=timezone.now())
        plan = planned()
        assert (plan.last, plan.next_at, plan.is_late) == (run, slot + HALF_HOUR, False)

    def test_a_slot_that_passed_without_a_run_is_late(self, operator_page: Client) -> None:
        now = timezone.now()
        old = find_slot(HALF_HOUR, now) - 4 * HALF_HOUR
        make_run(slot=old, state=RunState.SUCCEEDED, finished_at=old, created_at=old)
        plan = planned()
        assert plan.next_at is None
        assert plan.late >= 3 * HALF_HOUR
        assert "1 h late" in text_of(operator_page.get("/ops/jobs/"))

    def test_a_run_that_nobody_takes_is_late(self) -> None:
        now = timezone.now()
        make_run(slot=find_slot(HALF_HOUR, now), created_at=now - timedelta(minutes=3))
        assert planned().is_late
        assert planned().current is not None

    @pytest.mark.database
    def test_the_last_run_is_the_newest_that_is_over(self) -> None:
        now = timezone.now()
        for hours, state in ((3, RunState.SUCCEEDED), (2, RunState.FAILED), (1, RunState.RUNNING)):
            make_run(state=state, created_at=now - timedelta(hours=hours), finished_at=now)
        assert planned().last.state == RunState.FAILED
        assert planned().current.state == RunState.RUNNING

    def test_run_now_asks_for_one_run_and_leaves_a_trace(self, operator_page: Client, olga: Any) -> None:
        for _press in range(2):
            answer = operator_page.post("/ops/jobs/start/", {"job": PURGE})
            run = JobRun.objects.get()
            assert (answer.status_code, answer["Location"]) == (303, f"/ops/jobs/{run.pk}/")
        assert run.requested_by == f"user:{olga.pk}"
        entry = AuditEntry.objects.get(tool_call="job_requested")
        assert (entry.actor, entry.details) == (f"user:{olga.pk}", {"run": run.pk, "job": PURGE})

    def test_run_now_does_not_wait_for_a_run_that_is_to_come(self, operator_page: Client) -> None:
        later = timezone.now() + timedelta(minutes=50)
        run = JobRun.objects.create(job=PURGE, created_at=timezone.now(), not_before=later)
        operator_page.post("/ops/jobs/start/", {"job": PURGE})
        assert JobRun.objects.filter(job=PURGE).count() == 2
        assert "Waits until" in operator_page.get(f"/ops/jobs/{run.pk}/").content.decode()

    @table("name", ["memories.unknown", ""])
    def test_an_unknown_job_is_not_found(self, operator_page: Client, name: str) -> None:
        assert operator_page.post("/ops/jobs/start/", {"job": name}).status_code == 404
        assert not JobRun.objects.exists()


class TestRuns:
    @pytest.mark.database
    def test_lists_the_newest_first_and_filters(self, operator_page: Client) -> None:
        now = timezone.now()
        old = make_run(state=RunState.FAILED, error="Free some disk.", created_at=now - timedelta(days=9))
        new = make_run(
            "audit_log.seal",
            state=RunState.SUCCEEDED,
            started_at=now,
            finished_at=now + timedelta(seconds=12),
        )
        page = text_of(operator_page.get("/ops/jobs/"))
        assert re.findall(r'id="run-(\d+)"', page) == [str(new.pk), str(old.pk)]
        assert "Free some disk." in page
        assert "12 s" in page
        for query, kept in (
            (f"job={PURGE}", [old]),
            ("state=succeeded", [new]),
            (f"after={now - timedelta(days=2):%Y-%m-%d}", [new]),
            (f"before={now - timedelta(days=2):%Y-%m-%d}", [old]),
        ):
            rows = re.findall(
                r'id="run-(\d+)"',
                text_of(operator_page.get(f"/ops/jobs/?{query}", headers=HTMX)),
            )
            assert rows == [str(run.pk) for run in kept], query

    def test_asks_as_often_for_many_rows(self, operator_page: Client) -> None:
        def count() -> int:
            with CaptureQueriesContext(connection) as queries:
                text_of(operator_page.get("/ops/jobs/"))
            return len(queries)

        make_run(requested_by="user:1")
        count()  # the first look of a session asks more
        few = count()
        for number in range(30):
            make_run(requested_by=f"user:{number}", state=list(RunState)[number % 5])
        assert few == count() <= MAX_QUERIES


class TestRun:
    def test_shows_what_was_counted_and_how_long_it_took(self, operator_page: Client) -> None:
        now = timezone.now()
        run = make_run(
            state=RunState.SUCCEEDED,
            started_at=now,
            finished_at=now + timedelta(seconds=0.44),
            result={"purged": 7, "no_lesson": 2, "failed": ["BTC/USDT", "ETH/USDT"]},
            attempts=2,
            requested_by="role:cron",
        )
        page = text_of(operator_page.get(f"/ops/jobs/{run.pk}/"))
        assert '<dt>purged</dt><dd class="typed">7</dd>' in page
        assert "0.4 s" in page
        assert "2 of 5" in page
        assert "a role, on a schedule" in page
        assert "<dt>without a lesson</dt>" in page
        assert ">BTC/USDT, ETH/USDT<" in page
        assert "hx-get" not in page.split('id="progress"')[1].split(">")[0]

    def test_a_failure_says_what_to_do_and_can_be_tried_again(self, operator_page: Client) -> None:
        run = make_run(state=RunState.FAILED, error="Free some disk.", attempts=5)
        assert "Free some disk." in text_of(operator_page.get(f"/ops/jobs/{run.pk}/"))
        assert operator_page.post(f"/ops/jobs/{run.pk}/retry/").status_code == 303
        run.refresh_from_db()
        assert (run.state, run.attempts, run.error) == (RunState.QUEUED, 0, "")
        assert AuditEntry.objects.get(tool_call="job_retried").details == {"run": run.pk, "job": PURGE}

    def test_a_waiting_run_is_cancelled_at_once(self, operator_page: Client) -> None:
        run = make_run()
        assert "Worker not seen" in text_of(operator_page.get(f"/ops/jobs/{run.pk}/"))
        operator_page.post(f"/ops/jobs/{run.pk}/cancel/")
        run.refresh_from_db()
        assert run.state == RunState.CANCELLED
        assert AuditEntry.objects.get(tool_call="job_cancelled").details["is_over"] is True

    def test_a_running_one_is_asked_to_stop(self, operator_page: Client) -> None:
        run = make_run()
        claim = services.claim_run(run.pk, worker="host:1:2", now=timezone.now())
        services.report_progress(claim, 1_200, 4_000)
        operator_page.post(f"/ops/jobs/{run.pk}/cancel/")
        page = text_of(operator_page.get(f"/ops/jobs/{run.pk}/"))
        assert "was asked to stop" in page
        assert "1,200 of 4,000" in page
        assert f"/ops/jobs/{run.pk}/cancel/" not in page
        with pytest.raises(services.Cancelled):
            services.report_progress(claim, 1_300, 4_000)

    def test_one_that_cannot_stop_says_so(self, operator_page: Client) -> None:
        run = make_run("access.clear_expired_sessions", state=RunState.RUNNING, started_at=timezone.now())
        assert "cannot stop half-way" in text_of(operator_page.get(f"/ops/jobs/{run.pk}/"))

    @table(("state", "act"), [("succeeded", "cancel"), ("succeeded", "retry"), ("running", "retry")])
    def test_what_is_over_or_runs_refuses(self, operator_page: Client, state: str, act: str) -> None:
        run = make_run(state=state)
        answer = operator_page.post(f"/ops/jobs/{run.pk}/{act}/")
        assert answer["Location"] == f"/ops/jobs/{run.pk}/"
        assert f"This run is {state}" in text_of(operator_page.get(f"/ops/jobs/{run.pk}/"))
        assert not AuditEntry.objects.exists()


class TestPolling:
    def test_a_run_under_way_asks_again_with_a_tiny_answer(self, operator_page: Client) -> None:
        run = make_run(state=RunState.RUNNING, done=3, total=12)
        assert 'hx-trigger="every 2s"' in text_of(operator_page.get(f"/ops/jobs/{run.pk}/"))
        answer = operator_page.get(f"/ops/jobs/{run.pk}/progress/", headers=HTMX)
        assert 'hx-trigger="every 2s"' in answer.content.decode()
        assert "3 of 12" in answer.content.decode()
        assert len(answer.content) < 1_000
        assert "HX-Refresh" not in answer
        without_scripts = operator_page.get(f"/ops/jobs/{run.pk}/progress/")
        assert without_scripts["Location"] == f"/ops/jobs/{run.pk}/"

    def test_one_that_is_over_loads_the_page_anew_and_asks_no_more(self, operator_page: Client) -> None:
        run = make_run(state=RunState.SUCCEEDED)
        answer = operator_page.get(f"/ops/jobs/{run.pk}/progress/", headers=HTMX)
        assert answer["HX-Refresh"] == "true"
        assert "hx-trigger" not in answer.content.decode()


@table(
    ("seconds", "words"),
    [(-1, "0.0 s"), (0.04, "0.0 s"), (9.96, "10.0 s"), (12.4, "12 s"), (61, "1 min"), (7200, "2 h")],
)
def test_a_span_has_the_precision_that_it_needs(seconds: float, words: str) -> None:
    assert duration_label(timedelta(seconds=seconds)) == words
