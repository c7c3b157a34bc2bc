"""Rows that a pass reads, and reports that pages read."""

from datetime import timedelta
from typing import Any

from learning_app.audit.models import AuditReport
from learning_app.cases.models import CronRun, TradingCase
from learning_app.institution.models import InstitutionOutcome
from learning_app.methodologies.models import LifecycleEvent, Methodology
from tests.kit.clock import NOON
from tests.learning_app.rows import make_case, make_methodology, make_run


def make_event(
    row: Methodology | None,
    kind: str,
    *,
    hours: float = 24,
    reason: str = "",
    **fields: Any,
) -> None:
    """Make a lifecycle event so many hours before noon."""
    at = NOON - timedelta(hours=hours)
    defaults = {"actor": "test", "details": {}, "reason_text": reason}
    LifecycleEvent.objects.create(methodology=row, kind=kind, at=at, **(defaults | fields))


def make_heartbeat(*, hours: float = 1, **fields: Any) -> CronRun:
    """Make a heartbeat of the learning cron that ended so many hours before noon."""
    at = NOON - timedelta(hours=hours)
    return CronRun.objects.create(
        **({"started_at": at, "ended_at": at, "requested_by": "test", "is_ok": True} | fields)
    )


def make_closed(
    owner: Any,
    state: str = "confirmed_good",
    *,
    hours: float = 30,
    **fields: Any,
) -> TradingCase:
    """Make a case that closed a day after it was decided."""
    resolved_at = NOON - timedelta(hours=hours - 24)
    return make_case(owner, hours=hours, outcome_state=state, resolved_at=resolved_at, **fields)


def make_ladder_outcomes(owner: Any, row: Methodology, *, right: int, wrong: int = 0) -> None:
    """Make what committees said of a methodology, a day each; its counters have it already."""
    for state, days in (("confirmed_good", range(right)), ("confirmed_bad", range(right, right + wrong))):
        reflection = make_run(owner, feeds=True, cited=[row.uid]).reflections.get(window="1d")
        reflection.outcome_state, reflection.scored_at = state, NOON
        reflection.save()
        InstitutionOutcome.objects.bulk_create(
            InstitutionOutcome(
                methodology=row,
                ticker="BTC",
                window="1d",
                day=(NOON - timedelta(days=number)).date(),
                reflection=reflection,
                at=NOON,
            )
            for number in days
        )


def make_loop(owner: Any) -> Methodology:
    """Make a learning loop of which each dimension has a score; return the methodology that oscillates."""
    row = make_methodology(correct=18, used=20, quarantine=0)
    for hours, kind, reason in (
        *((750, "graduated", ""), (90, "reflection_adjusted", "flag: it fails")),
        *((60, "reflection_adjusted", "recovery: it holds"), (50, "demoted", ""), (40, "graduated", "")),
    ):
        make_event(row, kind, hours=hours, reason=reason)
    make_closed(owner)
    make_closed(owner, "expired", hours=40)
    make_case(owner, hours=20 * 24, horizon=24)
    make_heartbeat()
    return row


def make_report(
    *,
    days: float = 0,
    composite: float | None = 74.8,
    band: str = "watch",
    **fields: Any,
) -> AuditReport:
    """Make a report so many days before noon; `findings` are those of coverage_health."""
    found = [finding(**each) for each in fields.pop("findings", ())]
    dimension = {"score": composite, "facts": {}, "findings": found, "advisory_actions": []}
    defaults = {
        "created_at": NOON - timedelta(days=days),
        "window_days": 30,
        "scores": {"coverage_health": composite},
        "dimensions": {"coverage_health": dimension},
        "dimension_weights_used": {} if composite is None else {"coverage_health": 1.0},
        "requested_by": "job:audit.cron",
        "product_version": "1",
        "rules_version": "1",
    }
    return AuditReport.objects.create(composite=composite, band=band, **(defaults | fields))


def finding(code: str = "cases_overdue", **fields: Any) -> dict[str, Any]:
    """Return a finding as a report keeps it."""
    defaults = {
        "dimension": "coverage_health",
        "severity": "medium",
        "text": "as it was written",
        "count": 3,
        "rows": [],
        "facts": {"days": 14},
        "first_seen_at": NOON.isoformat(),
    }
    return {"code": code, **defaults, **fields}
