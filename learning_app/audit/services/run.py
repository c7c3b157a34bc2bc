"""One pass of the learning audit. Source: S2 (isolation invariants).

It scores inside blocks in which the database refuses every write, gives way to agents between its stages, and writes
one row at its end: a pass that dies leaves none.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _, override

from learning_app.audit.core.composite import combine_scores
from learning_app.audit.core.records import Dimension, DimensionScore, Finding
from learning_app.audit.core.scoring import (
    OBSERVATION,
    REVERSAL_KINDS,
    STATE_CHANGES,
    SYNTHESIS_KINDS,
    score_attribution_integrity,
    score_coverage_health,
    score_cron_health,
    score_graduation_fp_rate,
    score_quarantine_churn,
    score_synthesis_quality,
)
from learning_app.audit.models import AuditReport
from learning_app.audit.selectors import AuditWindow, findings_of, hash_tables, list_reports
from learning_app.audit.texts import advice_text, finding_text
from learning_app.cases.services.cron import AlreadyRunning
from learning_app.vocabulary import LifecycleKind
from minara_site.kernel.db import read_only
from minara_site.kernel.errors import invalid_field
from minara_site.kernel.guard.core import RULES
from minara_site.kernel.jobs.busy import count_in_flight
from minara_site.kernel.jobs.leases import kept_lease
from minara_site.kernel.jobs.services import Claim, report_progress, settle_run

AUDIT_JOB = "audit.pass"
LEASE_SECONDS = 120
MIN_DAYS, MAX_DAYS = 1, 365
MAX_YIELD_SECONDS, YIELD_STEP_SECONDS = 30.0, 1.0

log = structlog.get_logger(__name__)

STAGES: Mapping[Dimension, Callable[[AuditWindow], DimensionScore]] = {
    Dimension.SYNTHESIS_QUALITY: lambda window: score_synthesis_quality(window.events(*SYNTHESIS_KINDS)),
    Dimension.GRADUATION_FP_RATE: lambda window: score_graduation_fp_rate(
        window.events(LifecycleKind.GRADUATED, more_days=OBSERVATION.days),
        window.events(*REVERSAL_KINDS, more_days=OBSERVATION.days),
        window.methods,
        now=window.now,
    ),
    Dimension.ATTRIBUTION_INTEGRITY: lambda window: score_attribution_integrity(window.cases),
    Dimension.COVERAGE_HEALTH: lambda window: score_coverage_health(window.methods),
    Dimension.QUARANTINE_CHURN: lambda window: score_quarantine_churn(window.events(*STATE_CHANGES)),
    Dimension.CRON_HEALTH: lambda window: score_cron_health(
        window.heartbeat,
        window.cases,
        now=window.now,
    ),
}


@dataclass
class Yielding:
    """Gives way to agents between the stages of a pass, for at most 30 seconds in all."""

    wait: Callable[[float], None] = time.sleep
    clock: Callable[[], datetime] = timezone.now
    left: float = field(default=MAX_YIELD_SECONDS)

    def give_way(self) -> None:
        """Wait while something is in flight."""
        while self.left > 0 and count_in_flight(now=self.clock()):
            self.wait(YIELD_STEP_SECONDS)
            self.left -= YIELD_STEP_SECONDS


def check_days(days: int) -> int:
    """Return a usable window in days. Raises Invalid."""
    if not MIN_DAYS <= days <= MAX_DAYS:
        problem = _("Choose a window of %(min)d to %(max)d days.") % {"min": MIN_DAYS, "max": MAX_DAYS}
        raise invalid_field("window_days", problem)
    return days


def run_pass(
    *,
    now: datetime,
    requested_by: str,
    window_days: int | None = None,
    with_hashes: bool = False,
    claim: Claim | None = None,
    yielding: Yielding | None = None,
) -> AuditReport:
    """Score the learning loop, store the report, and settle the job's claim with it.

    Raises Invalid, and AlreadyRunning beside another pass.
    """
    default = settings.MINARA.methodology_audit_window_days
    window = AuditWindow(now, check_days(default if window_days is None else window_days))
    with kept_lease(AUDIT_JOB, seconds=LEASE_SECONDS, now=now) as lease:
        if lease is None:
            raise AlreadyRunning(_("An audit pass is running. Wait until it ends."))
        before = read_hashes() if with_hashes else {}
        scores = score_window(window, claim=claim, yielding=yielding or Yielding())
        after = read_hashes() if with_hashes else {}
        hashes = {table: {"before": value, "after": after[table]} for table, value in before.items()}
        with transaction.atomic():
            if lease.lost.is_set():
                raise AlreadyRunning(_("Another audit pass took over. Nothing of this one was stored."))
            report = store_report(
                window,
                scores,
                hashes=hashes or None,
                requested_by=requested_by,
            )
            if claim:
                settle_run(
                    claim,
                    result={"report": report.pk},
                    now=timezone.now(),
                )
    log.info(
        "audit_pass_ended",
        report=report.pk,
        band=report.band,
        composite=report.composite,
    )
    return report


def score_window(
    window: AuditWindow,
    *,
    claim: Claim | None,
    yielding: Yielding,
) -> dict[Dimension, DimensionScore]:
    """Score each dimension in a block that only reads; between two of them agents come first."""
    scores = {}
    for done, (dimension, score) in enumerate(STAGES.items()):
        report_progress(claim, done, len(STAGES))
        yielding.give_way()
        with read_only():
            scores[dimension] = score(window)
    return scores


def read_hashes() -> dict[str, str]:
    """Return the hashes of the learning tables, read in a block of their own."""
    with read_only():
        return hash_tables()


def store_report(
    window: AuditWindow,
    scores: Mapping[Dimension, DimensionScore],
    *,
    hashes: dict[str, dict[str, str]] | None,
    requested_by: str,
) -> AuditReport:
    """Write the one row of a pass. Texts are English here; pages say them in the reader's language."""
    exact = {dimension: score.score for dimension, score in scores.items()}
    whole = combine_scores(exact, is_learning_on=settings.MINARA.minara_learning_enabled)
    since = first_seen_of(list_reports(now=window.now).filter(window_days=window.days).first())
    with override("en"):
        dimensions = {
            dimension: dimension_record(dimension, score, since=since, now=window.now)
            for dimension, score in scores.items()
        }
    return AuditReport.objects.create(
        created_at=window.now,
        window_days=window.days,
        composite=whole.score,
        band=whole.band or "",
        scores={name: None if score is None else float(score) for name, score in exact.items()},
        dimensions=dimensions,
        dimension_weights_used=dict(whole.weights),
        table_hashes=hashes,
        requested_by=requested_by,
        product_version=product_version(),
        rules_version=RULES.version,
        is_demo=window.has_demo_rows,
    )


def first_seen_of(report: AuditReport | None) -> dict[str, str]:
    """Return since when each finding of a report has been there without a break, by code."""
    return {finding["code"]: finding["first_seen_at"] for finding in findings_of(report)} if report else {}


def dimension_record(
    dimension: Dimension,
    score: DimensionScore,
    *,
    since: Mapping[str, str],
    now: datetime,
) -> dict[str, Any]:
    """Return a dimension as the report keeps it."""
    findings = [finding_record(dimension, each, since=since, now=now) for each in score.findings]
    return {
        "score": None if score.score is None else float(score.score),
        "facts": dict(score.facts),
        "findings": findings,
        "advisory_actions": [advice_text(each.code) for each in score.findings],
    }


def finding_record(
    dimension: Dimension,
    finding: Finding,
    *,
    since: Mapping[str, str],
    now: datetime,
) -> dict[str, Any]:
    """Return a finding as the report keeps it (contract)."""
    return {
        "code": finding.code,
        "dimension": dimension,
        "severity": finding.severity,
        "text": finding_text(finding.code, finding.count, finding.facts),
        "count": finding.count,
        "rows": list(finding.rows),
        "facts": dict(finding.facts),
        "first_seen_at": since.get(finding.code, now.isoformat()),
    }


def product_version() -> str:
    """Return the version of this installation, empty where it is not installed as a package."""
    with suppress(PackageNotFoundError):
        return version("minara")
    return ""
