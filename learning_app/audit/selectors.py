"""Reads of the audit: what a pass scores, the hashes of the tables, reports, and their findings over time."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from django.conf import settings
from django.db.models import Count, Model, Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_aware
from django.utils.translation import gettext as _

from learning_app.audit.core.records import (
    CaseCounts,
    CaseRecord,
    EventRecord,
    HeartbeatRecord,
    MethodologyRecord,
    Severity,
)
from learning_app.audit.core.scoring import count_cases
from learning_app.audit.models import Acknowledgement, AuditReport
from learning_app.cases.models import CaseHint, CronRun, TradingCase
from learning_app.cases.services.verdicts import UNCOUNTED
from learning_app.court.services.evidence import MARK_LOST
from learning_app.institution.models import InstitutionOutcome
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.querysets import trust_rules
from learning_app.methodologies.services.demote import find_by_one_owner
from learning_app.vocabulary import LifecycleKind, OutcomeState
from minara_site.kernel.core.assets import AssetClass
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.jobs.models import JobRun, RunState

CHUNK = 2_000
MAX_TREND, MAX_TREND_DAYS, MAX_CHOICES, MAX_IMPORTS = 1_000, 366, 60, 200
TABLES: tuple[type[Model], ...] = (Methodology, LifecycleEvent, TradingCase, CaseHint)
"""The tables of learning that a pass reads, and that no pass changes (S2)."""


@dataclass(frozen=True)
class AuditWindow:
    """What a pass reads: rows of the days up to `now`, and nothing that says it is from later."""

    now: datetime
    days: int

    @property
    def since(self) -> datetime:
        return self.now - timedelta(days=self.days)

    @cached_property
    def methods(self) -> list[MethodologyRecord]:
        """Every methodology as it is now."""
        by_one, by_ladder = find_by_one_owner(), find_by_ladder()
        rows = Methodology.objects.order_by("pk").values_list(
            "pk", "uid", "asset_class", "times_used", "quarantine", "held_at", "decay_at"
        )
        return [
            MethodologyRecord(
                uid,
                AssetClass(asset_class),
                uses,
                not quarantine and held is None,
                held is not None,
                decay is not None,
                pk in by_one,
                pk in by_ladder,
            )
            for pk, uid, asset_class, uses, quarantine, held, decay in rows
        ]

    @cached_property
    def uids(self) -> dict[int, str]:
        """The public ids of the methodologies."""
        return dict(Methodology.objects.values_list("pk", "uid"))

    def events(
        self,
        *kinds: LifecycleKind,
        more_days: int = 0,
    ) -> Iterator[EventRecord]:
        """Yield events of these kinds in the window, and of `more_days` before it, in order of time.

        One of a methodology that is gone is left out, and one that says that a corrected price took a mark away.
        """
        uids = self.uids
        rows = LifecycleEvent.objects.filter(
            kind__in=kinds,
            at__gte=self.since - timedelta(days=more_days),
            at__lte=self.now,
        ).exclude(details__has_key=MARK_LOST)
        rows = rows.annotate(is_uncounted=Q(details__has_key=UNCOUNTED)).order_by("at", "pk")
        for pk, number, kind, at, reason, is_uncounted in rows.values_list(
            "pk", "methodology_id", "kind", "at", "reason_text", "is_uncounted"
        ).iterator(chunk_size=CHUNK):
            if number is None or number in uids:
                yield EventRecord(
                    pk,
                    None if number is None else uids[number],
                    kind,
                    at,
                    reason,
                    is_uncounted,
                )

    @cached_property
    def cases(self) -> CaseCounts:
        """The cases that closed in the window, and the overdue ones, counted."""
        closed = Q(resolved_at__gte=self.since, resolved_at__lte=self.now)
        rows = TradingCase.objects.filter(closed | Q(outcome_state=OutcomeState.PENDING)).order_by("pk")
        columns = rows.values_list("pk", "outcome_state", "decided_at", "window_ends_at", "gap")
        return count_cases(
            (CaseRecord(*row) for row in columns.iterator(chunk_size=CHUNK)),
            now=self.now,
        )

    @cached_property
    def heartbeat(self) -> HeartbeatRecord | None:
        """The newest heartbeat of the learning cron."""
        runs = CronRun.objects.filter(ended_at__lte=self.now).order_by("-ended_at", "-pk")
        found = runs.values_list("pk", "ended_at", "is_ok").first()
        return HeartbeatRecord(*found) if found else None

    @property
    def has_demo_rows(self) -> bool:
        """Whether rows of the demo are among what is read."""
        return Methodology.objects.filter(is_demo=True).exists() or TradingCase.objects.filter(is_demo=True).exists()


def find_by_ladder() -> set[int]:
    """Return which methodologies are at the bar, but not without the outcomes of institution runs."""
    is_right, rules = Q(reflection__outcome_state=OutcomeState.CONFIRMED_GOOD), trust_rules()
    counted = InstitutionOutcome.objects.filter(methodology__quarantine=0).values("methodology")
    counted = counted.annotate(used=Count("pk"), right=Count("pk", is_right))
    outcomes, found = {each["methodology"]: (each["used"], each["right"]) for each in counted}, set()
    for row in Methodology.objects.filter(pk__in=outcomes):
        trust = replace(row.trust, hands=(outcomes[row.pk],))
        if trust.is_at_bar(rules) and not trust.less_each()[0].is_at_bar(rules):
            found.add(row.pk)
    return found


def hash_tables() -> dict[str, str]:
    """Return SHA-256 over every column of every row of the learning tables, by table."""
    return {model._meta.db_table: hash_rows(model.objects.all()) for model in TABLES}  # type: ignore[attr-defined]  # noqa: SLF001


def hash_rows(rows: "QuerySet[Any]") -> str:
    """Return SHA-256 over every column of these rows, in order of their primary keys."""
    found = hashlib.sha256()
    for row in rows.order_by("pk").values_list().iterator(chunk_size=CHUNK):
        found.update(repr(row).encode())
    return found.hexdigest()


def count_deferrals(job: str, *, limit: int) -> int:
    """Return how many of the newest ended runs of the audit's cron deferred the pass, one after another."""
    ended = JobRun.objects.filter(job=job, state=RunState.SUCCEEDED).order_by("-created_at", "-pk")
    results = list(ended.values_list("result", flat=True)[:limit])
    return next(
        (place for place, result in enumerate(results) if not (result or {}).get("deferred")),
        len(results),
    )


def list_reports(*, now: datetime | None = None) -> "QuerySet[AuditReport]":
    """Return the reports, the newest first; one that says it is from the future waits until then."""
    return AuditReport.objects.filter(created_at__lte=now or timezone.now()).order_by("-created_at", "-pk")


def usual_reports(*, now: datetime | None = None) -> "QuerySet[AuditReport]":
    """Return those of the setting's window, by which days compare; before the first of these, all."""
    rows = list_reports(now=now)
    usual = rows.filter(window_days=settings.MINARA.methodology_audit_window_days)
    return usual if usual.exists() else rows


def newest_report() -> AuditReport | None:
    """Return the report of the last pass."""
    return list_reports().first()


def get_report(report_id: int | None) -> AuditReport:
    """Return one report, the newest without an id. Raises NotFound."""
    return or_not_found(
        newest_report() if report_id is None else AuditReport.objects.filter(pk=report_id).first(),
        _("There is no such audit report. `minara learning audit run` makes one."),
    )


def find_report_before(report: AuditReport) -> AuditReport | None:
    """Return the pass of the same window before this one."""
    earlier = Q(created_at__lt=report.created_at) | Q(created_at=report.created_at, pk__lt=report.pk)
    return list_reports().filter(earlier, window_days=report.window_days).first()


def list_report_choices(report: AuditReport) -> list[AuditReport]:
    """Return the newest passes that a report can be compared with, without their findings."""
    return list(list_reports().exclude(pk=report.pk).only("pk", "created_at", "composite")[:MAX_CHOICES])


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One pass of the trend, without its findings; `band` is empty where no dimension had a score."""

    id: int
    created_at: datetime
    window_days: int
    composite: float | None
    band: str
    scores: dict[str, float | None]
    product_version: str
    rules_version: str


def load_trend(
    *,
    since: datetime,
    until: datetime,
    limit: int,
    window_days: int | None = None,
) -> list[TrendPoint]:
    """Return the newest passes from `since` to `until`, at most `limit`, oldest first; of one window where it is given.

    One query.
    """
    rows = list_reports(now=until).filter(created_at__gte=since)
    rows = rows.filter(window_days=window_days) if window_days else rows
    columns = ("pk", "created_at", "window_days", "composite", "band", "scores", "product_version", "rules_version")
    return [TrendPoint(*row) for row in rows.values_list(*columns)[:limit]][::-1]


def trend_record(points: Sequence[TrendPoint], *, days: int) -> dict[str, Any]:
    """Return a trend as API and commands answer it."""
    names = ("id", "created_at", "window_days", "composite", "band", "scores")
    items = [{name: getattr(point, name) for name in names} | {"band": point.band or None} for point in points]
    return {"days": days, "items": items}


def list_acknowledged() -> dict[str, Acknowledgement]:
    """Return the acknowledgements that are not undone, by code."""
    return {each.code: each for each in Acknowledgement.objects.filter(ended_at=None)}


def report_record(report: AuditReport) -> dict[str, Any]:
    """Return a report as API and commands answer it (contract)."""
    return {
        "id": report.pk,
        "created_at": report.created_at,
        "window_days": report.window_days,
        "composite": report.composite,
        "band": report.band or None,
        "dimensions": dimensions_of(report),
        "dimension_weights_used": report.dimension_weights_used,
        "table_hashes": report.table_hashes,
        "requested_by": report.requested_by,
    }


def dimensions_of(report: AuditReport) -> dict[str, dict[str, Any]]:
    """Return the dimensions of a report by name, each whole whatever version wrote it."""
    return {
        name: {
            "score": found.get("score"),
            "facts": found.get("facts") or {},
            "findings": [read_finding(each, name, report) for each in found.get("findings") or [] if each.get("code")],
            "advisory_actions": found.get("advisory_actions") or [],
        }
        for name, found in report.dimensions.items()
    }


def read_finding(
    found: Mapping[str, Any],
    dimension: str,
    report: AuditReport,
) -> dict[str, Any]:
    """Return a finding whole whatever version wrote it; a severity that this version does not know is low."""
    since = parse_datetime(str(found.get("first_seen_at"))) or report.created_at
    severity = found.get("severity")
    return {
        "code": str(found["code"]),
        "dimension": dimension,
        "severity": severity if severity in set(Severity) else Severity.LOW.value,
        "text": str(found.get("text", "")),
        "count": int(found.get("count") or 0),
        "rows": [str(row) for row in found.get("rows") or []],
        "facts": found.get("facts") or {},
        "first_seen_at": (since if is_aware(since) else since.replace(tzinfo=UTC)).isoformat(),
    }


def findings_of(report: AuditReport, *, severity: str | None = None) -> list[dict[str, Any]]:
    """Return the findings of a report, the most urgent first, then by dimension as the report has them."""
    order = {name: place for place, name in enumerate(Severity)}
    found = [finding for one in dimensions_of(report).values() for finding in one["findings"]]
    kept = [finding for finding in found if severity in (None, finding["severity"])]
    return sorted(kept, key=lambda finding: order[finding["severity"]])


def list_imports(*, since: datetime, until: datetime) -> list[tuple[datetime, int]]:
    """Return the newest moments of this time at which methodologies were imported, and how many each."""
    rows = LifecycleEvent.objects.filter(
        kind=LifecycleKind.IMPORTED,
        at__gte=since,
        at__lte=until,
    )
    counted = rows.order_by("-at").values("at").annotate(count=Count("pk"))
    return list(counted.values_list("at", "count")[:MAX_IMPORTS])
