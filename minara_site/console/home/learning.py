"""What the home page says of learning: what waits for a person, whether the learning cron works, new outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, QuerySet, Subquery

from learning_app.cases.models import CronRun, TradingCase
from learning_app.cases.pages.lists import CaseRow
from learning_app.cases.selectors import list_rows
from learning_app.cases.services.cron import EVERY
from learning_app.methodologies.models import Methodology
from learning_app.vocabulary import OutcomeState
from minara_site.access.models import User
from minara_site.kernel.counts import CountOf, RowCount
from minara_site.kernel.market.outcome import WAIT_FOR_PRICE

CRON_LATE = 2 * EVERY
NEWEST_JUDGED = 3


@dataclass(frozen=True, slots=True)
class Learning:
    """Methodologies that wait for a person and cases that no pass has closed, each with the oldest; the last pass.

    `is_late` says that cases are due and no pass ended within 12 hours.
    """

    waiting: RowCount
    waiting_since: datetime | None
    overdue: RowCount
    overdue_since: datetime | None
    last_run_at: datetime | None
    has_failed: bool
    is_late: bool


def learning_columns(now: datetime) -> dict[str, Any]:
    """Return what `Learning` is read from, as columns."""
    methodologies, cases = Methodology.objects, TradingCase.objects.pending()
    overdue = cases.filter(window_ends_at__lt=now - WAIT_FOR_PRICE)
    runs = CronRun.objects.filter(ended_at__lte=now).order_by("-ended_at", "-pk")
    return {
        "methodologies_waiting": CountOf(methodologies.needs_person()),
        "unread_since": first_of(methodologies.unread(), "created_at"),
        "kept_back_since": first_of(methodologies.kept_back(), "updated_at"),
        "cases_overdue": CountOf(overdue),
        "cases_since": first_of(overdue, "window_ends_at"),
        "cases_due": Exists(cases.filter(window_ends_at__lte=now)),
        "cron_at": Subquery(runs.values("ended_at")[:1]),
        "cron_ok": Subquery(runs.values("is_ok")[:1]),
    }


def first_of(rows: "QuerySet[Any]", field: str) -> Subquery:
    """Return the earliest moment of these rows, as a column."""
    return Subquery(rows.order_by(field).values(field)[:1])


def read_learning(row: Mapping[str, Any], *, now: datetime) -> Learning:
    """Return what `learning_columns` found."""
    last_run_at = row["cron_at"]
    waiting_since = [since for since in (row["unread_since"], row["kept_back_since"]) if since]
    return Learning(
        waiting=RowCount.of(row["methodologies_waiting"]),
        waiting_since=min(waiting_since, default=None),
        overdue=RowCount.of(row["cases_overdue"]),
        overdue_since=row["cases_since"],
        last_run_at=last_run_at,
        has_failed=row["cron_ok"] is False,
        is_late=row["cases_due"] and (last_run_at is None or last_run_at < now - CRON_LATE),
    )


def list_newest_judged(owner: User) -> list[CaseRow]:
    """Return the newest decisions of an owner that prices have judged. Two queries."""
    judged = (
        list_rows(owner)
        .exclude(outcome_state__in=[OutcomeState.PENDING, OutcomeState.EXPIRED])
        .order_by("-decided_at", "-pk")
    )
    return [CaseRow(case) for case in judged[:NEWEST_JUDGED]]
