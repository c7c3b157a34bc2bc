"""One report: its dimensions with formula, weight and change against another pass, and the rows of a finding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from learning_app.audit.core.composite import Band, band_of
from learning_app.audit.core.records import Dimension
from learning_app.audit.models import AuditReport
from learning_app.audit.pages.labels import Change, change_of, finding_label, score_label, score_number
from learning_app.audit.pages.trend import draw_spark
from learning_app.audit.selectors import TrendPoint, dimensions_of, findings_of
from learning_app.audit.texts import BAND_LABELS, FORMULAS, NAMES, weight_percent
from learning_app.cases.models import CASE_KIND, CronRun, TradingCase
from learning_app.cases.pages.labels import OUTCOMES
from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.models import Methodology
from learning_app.methodology_pages.pages.labels import state_label
from learning_app.vocabulary import OutcomeState
from minara_site.kernel.plain_text import parse_number
from minara_site.web.charts import Sparkline
from minara_site.web.filters import Text

BAND_ICONS = {
    Band.HEALTHY: "check",
    Band.WATCH: "eye",
    Band.DEGRADED: "warn",
    Band.ALARM: "stop",
    Band.DISABLED: "missing",
}
CRON_KIND = "cron_run"


@dataclass(frozen=True, slots=True)
class BandBadge:
    """A band with its icon and word."""

    band: Band

    @property
    def css(self) -> str:
        return "band-none" if self.band is Band.DISABLED else f"band-{self.band}"

    @property
    def icon(self) -> str:
        return BAND_ICONS[self.band]

    @property
    def word(self) -> Text:
        return BAND_LABELS[self.band]


def badge_of(band: str | Band | None) -> BandBadge | None:
    """Return the badge of a band, None without one."""
    return BandBadge(Band(band)) if band else None


@dataclass(frozen=True, slots=True)
class DimensionView:
    """A dimension of a report; `before` is its score in the report that it is compared with.

    `spread_percent` is the weight that the other dimensions took over because this one has no score.
    """

    name: str
    score: float | None
    text: str
    weight_percent: float | None
    spread_percent: int
    before: float | None
    findings: int
    spark: Sparkline | None

    @property
    def number(self) -> str:
        return score_number(self.score)

    @property
    def before_number(self) -> str:
        return score_number(self.before)

    @property
    def change(self) -> Change | None:
        return change_of(self.before, self.score)

    @property
    def badge(self) -> BandBadge | None:
        return badge_of(band_of(self.score))

    @property
    def title(self) -> Text:
        return NAMES[Dimension(self.name)] if self.is_known else self.name

    @property
    def formula(self) -> str | Promise | Any:
        return FORMULAS[Dimension(self.name)] if self.is_known else ""

    @property
    def is_known(self) -> bool:
        """Whether this version scores it."""
        return self.name in set(Dimension)


def shape_dimensions(
    report: AuditReport,
    *,
    before: AuditReport | None = None,
    trend: Sequence[TrendPoint] = (),
) -> list[DimensionView]:
    """Return the dimensions of a report as it has them."""
    compared = dimensions_of(before) if before else {}
    return [
        DimensionView(
            name=name,
            score=found["score"],
            text=score_label(name, found),
            weight_percent=percent_of(report.dimension_weights_used.get(name)),
            spread_percent=weight_percent(Dimension(name)) if name in set(Dimension) else 0,
            before=compared.get(name, {}).get("score"),
            findings=len(found["findings"]),
            spark=draw_spark(trend, Dimension(name)) if trend and name in set(Dimension) else None,
        )
        for name, found in dimensions_of(report).items()
    ]


def percent_of(share: float | None) -> float | None:
    """Return a share in percent."""
    return None if share is None else 100 * share


def worst_first(views: Sequence[DimensionView]) -> list[DimensionView]:
    """Return the dimensions with the lowest score first, those without one last."""
    return sorted(views, key=lambda view: (view.score is None, view.score))


def hashes_equal(report: AuditReport) -> bool | None:
    """Say whether every learning table was the same after the pass; None where nobody asked for the hashes."""
    if not report.table_hashes:
        return None
    return all(each["before"] == each["after"] for each in report.table_hashes.values())


@dataclass(frozen=True, slots=True)
class FindingChanges:
    """The sentences of findings that only the later report has, and only the earlier."""

    new: Sequence[str]
    gone: Sequence[str]


def compare_findings(report: AuditReport, before: AuditReport) -> FindingChanges:
    """Return which findings came and went between two reports."""
    now, then = ({each["code"]: finding_label(each) for each in findings_of(one)} for one in (report, before))
    new = [text for code, text in now.items() if code not in then]
    return FindingChanges(
        new,
        [text for code, text in then.items() if code not in now],
    )


@dataclass(frozen=True, slots=True)
class ObjectRow:
    """An object that a finding names: its words, where it stands, when, and its address; gone ones have none."""

    label: str
    state: Text
    at: datetime | None
    url: str = ""


def shape_rows(names: Sequence[str]) -> list[ObjectRow]:
    """Return the objects of a finding in its order. At most three queries."""
    wanted: dict[str, list[str]] = {}
    for name in names:
        kind, _colon, key = name.partition(":")
        wanted.setdefault(kind, []).append(key)
    found: Mapping[str, ObjectRow] = {
        **methodology_objects(wanted.get(METHODOLOGY_KIND, ())),
        **case_objects(wanted.get(CASE_KIND, ())),
        **run_objects(wanted.get(CRON_KIND, ())),
    }
    return [found.get(name) or ObjectRow(name, _("no longer there"), None) for name in names]


def methodology_objects(uids: Sequence[str]) -> dict[str, ObjectRow]:
    """Return methodologies by `methodology:<uid>`, secrets masked: the reader is not their writer."""
    rows = list(Methodology.objects.filter(uid__in=uids)) if uids else []
    for row in rows:
        row.mask()
    return {
        f"{METHODOLOGY_KIND}:{row.uid}": ObjectRow(
            row.name,
            state_label(row)[1],
            row.updated_at,
            reverse("methodologies:one", args=[row.uid]) + "#h-events",
        )
        for row in rows
    }


def case_objects(keys: Sequence[str]) -> dict[str, ObjectRow]:
    """Return trading cases by `trading_case:<id>`."""
    rows = TradingCase.objects.filter(pk__in=filter(None, map(parse_number, keys))) if keys else ()
    return {
        f"{CASE_KIND}:{row.pk}": ObjectRow(
            f"#{row.pk} {row.asset}",
            OUTCOMES[OutcomeState(row.outcome_state)],
            row.decided_at,
            reverse("cases:one", args=[row.pk]),
        )
        for row in rows
    }


def run_objects(keys: Sequence[str]) -> dict[str, ObjectRow]:
    """Return passes of the learning cron by `cron_run:<id>`."""
    rows = CronRun.objects.filter(pk__in=filter(None, map(parse_number, keys))) if keys else ()
    return {
        f"{CRON_KIND}:{row.pk}": ObjectRow(
            _("Learning cron, %(who)s") % {"who": row.requested_by},
            _("Done") if row.is_ok else row.error,
            row.ended_at,
            reverse("jobs:list") + "?job=learning.cron",
        )
        for row in rows
    }
