"""The audit's cron: opt-in, once a day, deferred while agents are busy, and forced after twelve deferrals."""

from datetime import timedelta
from functools import partial

import pytest

from learning_app.audit.models import AuditReport
from learning_app.audit.services import run
from learning_app.audit.services.cron import ACTOR, CRON, EVERY, run_cron
from learning_app.audit.services.run import AUDIT_JOB
from minara_site.kernel.jobs.busy import clear_busy, mark_busy
from minara_site.kernel.jobs.leases import acquire_lease
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.runner import execute
from minara_site.kernel.jobs.services import request_run
from tests.kit.clock import NOON
from tests.learning_app.audit.rows import make_report

pytestmark = pytest.mark.django_db


@pytest.fixture
def enabled(settings):
    settings.MINARA = settings.MINARA.model_copy(update={"methodology_audit_cron_enabled": True})


def look(at=NOON):
    """Run the job as a worker does, and return its result."""
    made = request_run(CRON, {}, now=at, requested_by="schedule")
    execute(made.pk)
    made.refresh_from_db()
    assert made.state == RunState.SUCCEEDED, made.error
    return made.result


def test_it_is_off_unless_it_is_switched_on():
    assert run_cron(now=NOON) == {"off": 1}
    assert not AuditReport.objects.exists()


@pytest.mark.usefixtures("enabled")
def test_it_runs_once_a_day_whatever_passes_run_by_hand():
    make_report(requested_by="user:1", days=0.1)
    assert run_cron(now=NOON)["report"]
    assert run_cron(now=NOON + EVERY) == {"not_due": 1}
    assert run_cron(now=NOON + timedelta(hours=23, minutes=50)) == {"not_due": 1}
    assert run_cron(now=NOON + timedelta(hours=23, minutes=59))["report"]
    assert AuditReport.objects.filter(requested_by=ACTOR).count() == 2


@pytest.mark.usefixtures("enabled")
def test_it_defers_while_agents_are_busy_and_until_they_were_idle_for_a_minute():
    mark_busy("agent", activity="turn", seconds=60, now=NOON)
    assert run_cron(now=NOON) == {"deferred": 1, "busy": 1}
    clear_busy("agent", now=NOON)
    assert run_cron(now=NOON + timedelta(seconds=59)) == {"deferred": 1, "idle_too_short": 1}
    assert run_cron(now=NOON + timedelta(seconds=60))["report"]


@pytest.mark.usefixtures("enabled", "frozen")
def test_after_twelve_deferrals_in_a_row_it_runs_beside_a_busy_agent(monkeypatch):
    monkeypatch.setattr(run, "Yielding", partial(run.Yielding, left=0))  # the clock stands still: it would wait
    mark_busy("agent", activity="chat", seconds=86_400, now=NOON - timedelta(minutes=1))
    assert [look() for _number in range(12)] == [{"deferred": 1, "busy": 1}] * 12
    assert look()["report"] == AuditReport.objects.get().pk
    assert look() == {"not_due": 1}


@pytest.mark.usefixtures("enabled", "frozen")
def test_beside_another_pass_it_is_dropped():
    acquire_lease(AUDIT_JOB, holder="somebody", seconds=60, now=NOON)
    assert look() == {"result": "dropped"}
    arguments = {"window_days": 30, "with_hashes": False, "requested_by": "user:1"}
    made = request_run(AUDIT_JOB, arguments, now=NOON, requested_by="user:1")
    execute(made.pk)
    assert JobRun.objects.get(pk=made.pk).result == {"result": "dropped"}
    assert not AuditReport.objects.exists()


@pytest.mark.usefixtures("frozen")
def test_a_pass_settles_its_run_with_its_report():
    arguments = {"window_days": 7, "with_hashes": True, "requested_by": "user:1"}
    made = request_run(AUDIT_JOB, arguments, now=NOON, requested_by="user:1")
    execute(made.pk)
    report = AuditReport.objects.get()
    assert JobRun.objects.get(pk=made.pk).result == {"report": report.pk}
    assert (report.window_days, report.requested_by, len(report.table_hashes)) == (7, "user:1", 4)
