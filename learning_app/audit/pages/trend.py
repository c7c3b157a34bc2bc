"""The course of the composite: one point a day, gaps named, and what changed meanwhile (screens U-13)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import groupby, pairwise

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import get_language, gettext as _, ngettext

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
    """The chart of the composite; what its lines across and its gaps mean; the change, and since which day."""

    chart: LineChart
    remarks: Sequence[str]
    change: Change | None
    since: str


def draw_trend(
    points: Sequence[TrendPoint],
    imports: Sequence[tuple[datetime, int]],
    *,
    days: int,
    now: datetime,
) -> Trend | None:
    """Return the course of the passes of these days, oldest first; None without one. Of each day its last pass counts.

    The chart begins with the first pass, and ends today or, before today's pass, with the last one. `imports` are
    moments with the methodologies that came in.
    """
    by_day = {local_day(point.created_at): point for point in points}
    if not by_day:
        return None
    first, last, today = min(by_day), max(by_day), local_day(now)
    end = today if today - last > timedelta(days=1) else last
    calendar = [first + timedelta(days=number) for number in range((end - first).days + 1)]
    found = notes_by_day(points, imports)
    notes = {each: found[each] for each in [each for each in calendar if each in found][-MAX_NOTES:]}
    gaps = find_gaps(calendar, by_day)
    named = {gap.days[len(gap.days) // 2]: gap.label for gap in gaps}
    drawn = [
        point_of(
            each,
            by_day.get(each),
            notes.get(each, ""),
            named.get(each, ""),
        )
        for each in calendar
    ]
    bands = [
        charts.Band(
            band.name,
            band.low,
            band.high,
            str(BAND_LABELS[Band(band.name)]),
        )
        for band in charts.BANDS
    ]
    scored = [(each, point.composite) for each, point in by_day.items() if point.composite is not None]
    scores = [score for _day, score in scored]
    remarks = [
        *(gap.remark for gap in gaps),
        *(f"{label_of(each)}: {text}" for each, text in notes.items()),
    ]
    return Trend(
        charts.line_chart(
            drawn,
            summary_of(scores, days),
            bands=bands,
            low=0,
            high=100,
            size=SIZE,
        ),
        remarks,
        change_of(scores[0], scores[-1]) if len(scores) > 1 else None,
        label_of(scored[0][0]) if scored else "",
    )


def local_day(moment: datetime) -> date:
    """Return the day of a moment in the reader's zone."""
    return timezone.localtime(moment).date()


def label_of(each: date) -> str:
    """Return a day as the axis names it."""
    return write_day(each, get_language() or "")


@lru_cache(maxsize=2_000)
def write_day(each: date, language: str) -> str:
    """Return a day in the active language, which is the key's; a page names the same days again and again."""
    return date_format(each, _("j M"))


def point_of(
    each: date,
    found: TrendPoint | None,
    note: str,
    gap: str,
) -> Point:
    """Return the point of a day; without a pass, or without a score, it is a gap."""
    if found is None or found.composite is None:
        return Point(label_of(each), None, note=note, gap=gap)
    text = enumeration(
        [
            score_number(found.composite),
            *([str(BAND_LABELS[Band(found.band)])] if found.band else []),
        ]
    )
    return Point(label_of(each), found.composite, text, note, gap)


@dataclass(frozen=True, slots=True)
class Gap:
    """Days in a row without a pass, or whose passes had no composite."""

    days: Sequence[date]
    has_passes: bool

    @property
    def label(self) -> str:
        """Return what the chart says below the gap."""
        if self.has_passes:
            return _("not enough data")
        said = ngettext(
            "no pass, %(days)s day",
            "no pass, %(days)s days",
            len(self.days),
        )
        return said % {"days": number_label(len(self.days))}

    @property
    def remark(self) -> str:
        """Return from when to when."""
        what = _("not enough data") if self.has_passes else _("no pass")
        if len(self.days) == 1:
            return f"{label_of(self.days[0])}: {what}"
        span = _("%(first)s to %(last)s") % {"first": label_of(self.days[0]), "last": label_of(self.days[-1])}
        return f"{span}: {what}"


def find_gaps(calendar: Sequence[date], by_day: Mapping[date, TrendPoint]) -> list[Gap]:
    """Return each stretch of days without a pass, or without a composite."""

    def state_of(each: date) -> tuple[bool, bool]:
        point = by_day.get(each)
        return point is not None, point is not None and point.composite is not None

    stretches = groupby(calendar, key=state_of)
    return [Gap(list(days), has_passes) for (has_passes, has_score), days in stretches if not has_score]


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
    numbers = {
        "first": scored[0],
        "last": scored[-1],
        "low": min(scored),
        "high": max(scored),
    }
    return said % {"days": days, **{name: score_number(number) for name, number in numbers.items()}}


def draw_spark(points: Sequence[TrendPoint], dimension: Dimension) -> Sparkline | None:
    """Return the course of a dimension over the last 30 passes that scored it; None without one."""
    scores = [(point, point.scores.get(dimension)) for point in points]
    rows = [
        Value(label_of(local_day(point.created_at)), score, score_number(score))
        for point, score in scores
        if score is not None
    ]
    return charts.sparkline(
        rows[-SPARK_PASSES:],
        _("%(name)s, last passes") % {"name": dimension},
    )
