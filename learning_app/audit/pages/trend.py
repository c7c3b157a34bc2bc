"""The course of the composite: one point a day, gaps named, and what changed meanwhile (screens U-13)."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby, pairwise

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from learning_app.audit.core.composite import Band
from learning_app.audit.core.records import Dimension
from learning_app.audit.pages.labels import Change, change_of, score_number
from learning_app.audit.selectors import TrendPoint
from learning_app.audit.texts import BAND_LABELS
from minara_site.web import charts
from minara_site.web.charts import LineChart, Point, Sparkline, Value
from minara_site.web.labels import enumeration
from minara_site.web.moments import number_label

SPARK_PASSES = 30
SIZE = (980, 250)
MAX_NOTES = 4
"""More words than that would lie upon each other; the newest are shown."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The chart of the composite; what its lines across and its gaps mean, for the line below it; the change."""

    chart: LineChart
    remarks: Sequence[str]
    change: Change | None


def draw_trend(
    points: Sequence[TrendPoint], imports: Sequence[tuple[datetime, int]], *, days: int, now: datetime
) -> Trend | None:
    """Return the course of the passes of these days, oldest first; None without one. Of each day its last pass counts.

    The chart begins with the first pass. `imports` are moments with the methodologies that came in.
    """
    by_day = {local_day(point.created_at): point for point in points}
    if not by_day:
        return None
    first, last = min(by_day), local_day(now)
    calendar = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    notes = dict(sorted(notes_by_day(points, imports).items())[-MAX_NOTES:])
    gaps = find_gaps(calendar, by_day)
    named = {gap[len(gap) // 2]: gap_label(gap) for gap in gaps}
    drawn = [point_of(each, by_day.get(each), notes.get(each, ""), named.get(each, "")) for each in calendar]
    bands = [charts.Band(band.name, band.low, band.high, str(BAND_LABELS[Band(band.name)])) for band in charts.BANDS]
    scored = [point.composite for point in by_day.values() if point.composite is not None]
    remarks = [*map(gap_remark, gaps), *(f"{label_of(each)}: {text}" for each, text in notes.items())]
    return Trend(
        charts.line_chart(drawn, summary_of(scored, days), bands=bands, low=0, high=100, size=SIZE),
        remarks,
        change_of(scored[0], scored[-1]) if len(scored) > 1 else None,
    )


def local_day(moment: datetime) -> date:
    """Return the day of a moment in the reader's zone."""
    return timezone.localtime(moment).date()


def label_of(each: date) -> str:
    """Return a day as the axis names it."""
    return date_format(each, _("j M"))


def point_of(each: date, found: TrendPoint | None, note: str, gap: str) -> Point:
    """Return the point of a day; without a pass, or without a score, it is a gap."""
    if found is None or found.composite is None:
        return Point(label_of(each), None, note=note, gap=gap)
    text = enumeration([score_number(found.composite), *([str(BAND_LABELS[Band(found.band)])] if found.band else [])])
    return Point(label_of(each), found.composite, text, note, gap)


def find_gaps(calendar: Sequence[date], known: Collection[date]) -> list[list[date]]:
    """Return each stretch of days without a pass."""
    stretches = groupby(calendar, key=lambda each: each in known)
    return [list(days) for has_pass, days in stretches if not has_pass]


def gap_label(gap: Sequence[date]) -> str:
    """Return how long there was no pass."""
    said = ngettext("no pass, %(days)s day", "no pass, %(days)s days", len(gap))
    return said % {"days": number_label(len(gap))}


def gap_remark(gap: Sequence[date]) -> str:
    """Return from when to when there was no pass."""
    if len(gap) == 1:
        return _("%(day)s: no pass") % {"day": label_of(gap[0])}
    return _("%(first)s to %(last)s: no pass") % {"first": label_of(gap[0]), "last": label_of(gap[-1])}


def notes_by_day(points: Sequence[TrendPoint], imports: Sequence[tuple[datetime, int]]) -> dict[date, str]:
    """Return what changed from one pass to the next, and imports of methodologies, by day."""
    found: dict[date, list[str]] = defaultdict(list)
    imported: dict[date, int] = defaultdict(int)
    for at, count in imports:
        imported[local_day(at)] += count
    for each, count in imported.items():
        said = ngettext("%(count)s methodology imported", "%(count)s methodologies imported", count)
        found[each].append(said % {"count": number_label(count)})
    for before, after in pairwise(points):
        if after.rules_version != before.rules_version:
            found[local_day(after.created_at)].append(_("Guard rules %(version)s") % {"version": after.rules_version})
        if after.product_version != before.product_version:
            found[local_day(after.created_at)].append(_("Minara %(version)s") % {"version": after.product_version})
    return {each: enumeration(texts) for each, texts in found.items()}


def summary_of(scored: Sequence[float], days: int) -> str:
    """Return the sentence that a chart says to those who cannot see it."""
    if not scored:
        return _("No pass of the last %(days)s days had enough data for a composite.") % {"days": days}
    said = _("Composite score over %(days)s days, from %(first)s to %(last)s, between %(low)s and %(high)s")
    numbers = {"first": scored[0], "last": scored[-1], "low": min(scored), "high": max(scored)}
    return said % {"days": days, **{name: score_number(number) for name, number in numbers.items()}}


def draw_spark(points: Sequence[TrendPoint], dimension: Dimension) -> Sparkline | None:
    """Return the course of a dimension over the last 30 passes that scored it; None without one."""
    scores = [(point, point.scores.get(dimension)) for point in points]
    rows = [
        Value(label_of(local_day(point.created_at)), score, score_number(score))
        for point, score in scores
        if score is not None
    ]
    return charts.sparkline(rows[-SPARK_PASSES:], _("%(name)s, last passes") % {"name": dimension})
