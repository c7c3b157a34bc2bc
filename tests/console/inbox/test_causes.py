"""Which causes exist: each at its bound and one tick beside it."""

from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from learning_app.audit.models import AuditReport
from learning_app.court.services.evidence import JUDGED_ANEW
from learning_app.methodologies.models import Methodology
from minara_site.console.inbox.causes import find_causes
from minara_site.console.inbox.services import close_alert, refresh_alerts, reopen_alert
from minara_site.console.models import Alert
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.llm.core import Span
from minara_site.kernel.llm.models import BudgetWindow
from minara_site.kernel.llm.selectors import load_budget
from profile_app.documents.core import DocumentKind
from tests.console.quarantine.test_pages import hold_text
from tests.kernel.market.rows import put_points
from tests.kit.clock import NOON
from tests.kit.tables import Faults
from tests.learning_app.audit.rows import make_event, make_heartbeat, make_report
from tests.learning_app.rows import make_case, make_methodology, make_preference

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
TICK, TWO_DAYS = timedelta(microseconds=1), timedelta(days=2)
SECRET = "sk-ant-api03-" + "Zk3Vq8Lr" * 11 + "AA"


def names() -> set[str]:
    return set(find_causes(now=NOON))


def facts(name: str) -> dict[str, Any]:
    return find_causes(now=NOON)[name].facts


def run(job: str, *states: RunState) -> None:
    """Make runs of a job, the newest first."""
    for number, state in enumerate(states):
        JobRun.objects.create(job=job, state=state, created_at=NOON - timedelta(hours=number))


@pytest.mark.database
def test_an_instance_in_order_has_no_cause(ana: Any) -> None:
    hold_text(ana)
    make_preference(ana, state="proposed")
    assert names() == set()


def test_a_heartbeat_is_late_after_twelve_hours_and_without_any_when_a_case_is_due(ana: Any) -> None:
    make_case(ana, hours=1)
    assert names() == set()
    make_case(ana, hours=24, horizon=24)
    assert facts("heartbeat") == {"ended_at": None}
    beat = make_heartbeat(hours=12, is_ok=False)
    assert names() == set()
    type(beat).objects.update(ended_at=NOON - timedelta(hours=12) - TICK)
    assert facts("heartbeat") == {"ended_at": "2026-06-11T23:59:59.999999+00:00"}


def test_a_budget_is_a_cause_from_ninety_percent_of_a_cap_on(settings: Any) -> None:
    windows = {(each.window.category, each.window.span): each for each in load_budget(now=NOON)}
    for category, span, share in (
        ("learning", Span.DAY, Decimal("0.9")),
        ("agent", Span.MONTH, Decimal("1.2")),
        ("workflow", Span.DAY, Decimal("0.8999")),
    ):
        status = windows[category, span]
        spent = (status.totals.cap or Decimal(0)) * share
        BudgetWindow.objects.create(category=category, window=status.window.name, spent_usd=spent)
    assert names() == {"budget:learning:day", "budget:agent:month"}
    assert facts("budget:agent:month") == {"category": "agent", "period": "month", "percent": 120}


@pytest.mark.database
def test_held_texts_and_proposals_are_causes_after_two_days_one_for_each_kind(ana: Any, ben: Any) -> None:
    old, older = NOON - TWO_DAYS, NOON - TWO_DAYS * 2
    holds = [hold_text(ana, f"{n}\u200b", at=at).pk for n, at in enumerate((old, older, old + TICK, older, older))]
    Hold.objects.filter(pk=holds[3]).update(kind="learning")
    Hold.objects.filter(pk=holds[4]).update(kind=DocumentKind.CUSTOM_PROMPT)  # only its owner lets it in
    for owner, state, at in ((ana, "proposed", old), (ben, "proposed", older), (ana, "rejected", older)):
        make_preference(owner, state=state, created_at=at)
    make_preference(ana, state="proposed", created_at=old + TICK)
    assert names() == {"hold:memory", "hold:learning", "proposals"}
    assert facts("hold:memory") == {"stored_kind": "memory", "count": 2, "oldest": older.isoformat()}
    assert facts("proposals") == {"count": 2, "oldest": older.isoformat()}


def test_an_agent_whose_texts_are_held_is_a_cause_for_a_day(ana: Any) -> None:
    day_ago = NOON - timedelta(days=1)
    for number in range(5):
        hold_text(ana, f"{number}\u200b", at=day_ago + timedelta(seconds=number))
    assert facts("writes:key:abcd1234") == {"writer": "key:abcd1234", "count": 5, "of": 5, "seconds": 4}
    Hold.objects.filter(held_at=day_ago).update(held_at=day_ago - TICK)
    Hold.objects.filter(held_at=day_ago + timedelta(seconds=1)).update(held_at=day_ago - TICK)
    Hold.objects.filter(held_at=day_ago + timedelta(seconds=2)).update(held_at=day_ago - TICK)
    assert names() == set()


def test_a_job_is_a_cause_when_its_last_three_runs_failed() -> None:
    failed, done, cancelled = RunState.FAILED, RunState.SUCCEEDED, RunState.CANCELLED
    run("market.fetch", RunState.RUNNING, RunState.QUEUED, failed, failed, failed, done)
    run("facts.judge", failed, failed)
    run("guard.rescan", failed, failed, cancelled, failed)
    run("roles.reflect", done, failed, failed, failed)
    run("a.job.of.another.version", failed, failed, failed)
    assert names() == {"job:market.fetch"}
    newest = JobRun.objects.filter(job="market.fetch", state=failed).latest("created_at")
    assert facts("job:market.fetch") == {"job": "market.fetch", "run": newest.pk}


def test_prices_in_doubt_are_one_cause_until_none_of_the_instance_is(ana: Any) -> None:
    put_points((0, "100"), (0.5, "9000"), owner=ana, now=NOON)
    assert names() == set()
    put_points((0, "100"), (0.5, "9000"), now=NOON)
    put_points((0, "7"), (0.2, "900"), (0.4, "7"), symbol="SOL", now=NOON)
    assert facts("prices") == {"count": 2, "symbol": "BTC"}
    put_points((0.6, "9000"), now=NOON)
    assert facts("prices") == {"count": 1, "symbol": "SOL"}
    put_points((0.2, "8"), symbol="SOL", now=NOON)
    assert names() == set()


def test_a_fallen_band_is_a_cause_until_it_is_back_and_not_twice_for_one_report() -> None:
    """Reports come one after the other, or several (+) between two runs of the job; an operator closes the alert."""
    faults = Faults()
    for bands, expected in (
        ("healthy", None),
        ("watch healthy", None),
        ("healthy watch", ("healthy", "watch")),
        ("healthy watch watch", ("healthy", "watch")),
        ("healthy watch alarm", ("healthy", "alarm")),
        ("healthy watch alarm closed", None),
        ("healthy watch+watch", ("healthy", "watch")),
        ("healthy+disabled+alarm", ("healthy", "alarm")),
        ("healthy disabled alarm", ("healthy", "alarm")),
        ("healthy alarm watch", ("healthy", "watch")),
        ("watch alarm watch", None),
        ("watch alarm healthy", None),
        ("healthy watch healthy degraded", ("healthy", "degraded")),
        ("healthy disabled", None),
        ("healthy watch disabled", ("healthy", "watch")),
        ("healthy watch closed", None),
        ("healthy watch closed watch", None),
        ("healthy watch closed alarm", ("watch", "alarm")),
    ):
        with faults.row(bands):
            for number, band in enumerate(bands.split()):
                if band == "closed":
                    Alert.objects.open().update(closed_at=NOON)
                else:
                    for later, each in enumerate(band.split("+")):
                        make_report(created_at=NOON + timedelta(days=number, hours=later), band=each)
                refresh_alerts(now=NOON + timedelta(days=number, hours=3))
            found = [(each.facts["before"], each.facts["band"]) for each in Alert.objects.open()]
            assert found == ([expected] if expected else [])
        Alert.objects.all().delete()
        AuditReport.objects.all().delete()
    faults.show()


@pytest.mark.database
def test_what_left_prompts_when_cases_were_judged_anew_is_a_cause_until_it_is_closed_and_never_again() -> None:
    rows = [make_methodology(name=f"Method {letter}") for letter in "abcdefg"]
    make_event(rows[0], "demoted", details={})
    make_event(rows[0], "requantized_by_judge", details={JUDGED_ANEW: 1})
    assert names() == set()
    for row in rows[1:]:
        make_event(row, "demoted", details={JUDGED_ANEW: 1})
    Methodology.objects.filter(pk=rows[2].pk).update(held_at=NOON)
    Methodology.objects.filter(pk=rows[3].pk).update(name=f"Key {SECRET}")
    shown = facts("judged")["names"]
    assert (facts("judged")["count"], shown[:2], shown[3:]) == (6, ["Method b", ""], ["Method e", "Method f"])
    assert SECRET not in shown[2]
    assert refresh_alerts(now=NOON) == {"opened": 1, "closed": 0}
    assert refresh_alerts(now=NOON) == {"opened": 0, "closed": 0}
    alert = Alert.objects.get(kind="judged")
    close_alert(alert_id=alert.pk, actor="user:1", now=NOON)
    later = NOON + timedelta(days=91)
    assert refresh_alerts(now=later) == {"opened": 0, "closed": 0}, "what was closed is remembered"
    reopen_alert(alert_id=alert.pk, actor="user:1", now=later)
    assert refresh_alerts(now=later) == {"opened": 0, "closed": 0}
    assert Alert.objects.open().get() == alert


def test_a_backup_is_late_after_two_slots_or_when_the_job_failed_since_and_never_without_a_folder(
    tmp_path: Any,
    settings: Any,
) -> None:
    made = partial(record_audit, actor="test", tool_call="backup.made", details={"bytes": 1})
    made(now=NOON - TWO_DAYS - TICK)
    assert names() == set()
    settings.MINARA = settings.MINARA.model_copy(update={"minara_backup_dir": tmp_path})
    assert facts("backup") == {"made_at": "2026-06-10T11:59:59.999999+00:00"}
    made(now=NOON - TWO_DAYS)
    assert names() == set()
    run("backup.make", RunState.FAILED)
    JobRun.objects.update(error="Make room.")
    assert names() == {"backup"}
    made(now=NOON + TICK)
    assert names() == set()
