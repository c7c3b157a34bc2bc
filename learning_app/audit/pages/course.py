"""The drawn part of `/audit/`: the course of the composite and the six cards; kept, because a report never changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.cache import cache
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from learning_app.audit.models import AuditReport
from learning_app.audit.pages.labels import Change
from learning_app.audit.pages.report import shape_dimensions, worst_first
from learning_app.audit.pages.trend import draw_trend
from learning_app.audit.selectors import MAX_TREND, list_imports, load_trend

KEPT_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Course:
    """The chart and the cards as HTML, what its lines and gaps mean; how the composite changed since a day."""

    chart: SafeString
    cards: SafeString
    remarks: Sequence[str]
    change: Change | None
    since: str


def load_course(report: AuditReport, *, days: int, now: datetime) -> Course:
    """Return the course of so many days up to the newest report, drawn once for each language, zone and day."""
    seen = (report.pk, report.created_at.timestamp(), report.composite, days)
    reader = (
        get_language(),
        timezone.get_current_timezone_name(),
        timezone.localtime(now).date(),
    )
    key = "audit-course:" + ":".join(str(part).replace(" ", "_") for part in (*seen, *reader))
    found: Course | None = cache.get(key)
    if found is None:
        found = draw_course(report, days=days, now=now)
        cache.set(key, found, KEPT_SECONDS)
    return found


def draw_course(report: AuditReport, *, days: int, now: datetime) -> Course:
    """Draw it. Two queries."""
    since = now - timedelta(days=days)
    points = load_trend(
        since=since,
        until=now,
        limit=MAX_TREND,
        window_days=report.window_days,
    )
    trend = draw_trend(
        points,
        list_imports(since=since, until=now),
        days=days,
        now=now,
    )
    views = worst_first(shape_dimensions(report, trend=points))
    return Course(
        render_to_string("learning_app/audit/_chart.html", {"trend": trend}),
        render_to_string("learning_app/audit/_cards.html", {"views": views, "report": report}),
        trend.remarks if trend else (),
        trend.change if trend else None,
        trend.since if trend else "",
    )
