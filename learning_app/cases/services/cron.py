"""The learning cron: resolve, attribute, judge, and leave a heartbeat, also after a failed pass. Source: S2 (audit)."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.capabilities import METHODOLOGY_CANDIDATES, METHODOLOGY_VERDICTS
from learning_app.cases.models import CronRun, TradingCase
from learning_app.cases.services.asking import Pass
from learning_app.cases.services.candidates import propose_candidates
from learning_app.cases.services.rejudge import judge_due_controls, rejudge_changed
from learning_app.cases.services.resolve import BATCH, list_due_batches, resolve_batch
from learning_app.cases.services.verdicts import judge_graduated
from learning_app.court.services.evidence import mark_survivors
from learning_app.methodologies.models import LifecycleEvent
from learning_app.methodologies.services.demote import demote_fallen
from learning_app.vocabulary import LifecycleKind
from minara_site.kernel.errors import Conflict
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.jobs.leases import kept_lease
from minara_site.kernel.jobs.services import Claim, report_progress
from minara_site.kernel.jobs.time_budget import TimeBudget
from minara_site.kernel.llm.gateway import what_is_missing

CRON = "learning.cron"
EVERY = timedelta(hours=6)
ACTOR = f"job:{CRON}"
LEASE_SECONDS = 120
RESOLVE_SECONDS = 120.0
"""After so long a job leaves the rest of the cases to its next run, which begins at once."""
STRESS = timedelta(days=1)
MIN_STRESSED = 10
"""Fewer cases in a day say nothing of the market."""
MAX_ERROR_CHARS = 300

log = structlog.get_logger(__name__)


class AlreadyRunning(Conflict):
    """Another pass works."""

    code = "already_running"


def run_cron(
    *,
    now: datetime,
    requested_by: str,
    claim: Claim | None = None,
) -> dict[str, Any]:
    """Run one pass and return its counts. Raises AlreadyRunning, and whatever the pass raised, after the heartbeat."""
    with kept_lease(CRON, seconds=LEASE_SECONDS, now=now) as lease:
        if lease is None:
            raise AlreadyRunning(_("A pass of the learning cron is running. Wait until it ends."))
        counts: dict[str, Any] = Counter(resolved=0, credited=0, controls=0, demoted=0)
        try:
            counts["rejudged"] = rejudge_changed(now=now)
            resolve_due(counts, now=now, claim=claim)
            counts["survivors"] = mark_survivors(now=now)
            if "rest" not in counts:
                judge(Pass(ACTOR, now, counts, lease, claim))
        except Exception as error:
            write_heartbeat(
                now,
                requested_by,
                counts,
                error=f"{type(error).__name__}: {error}",
            )
            raise
        write_heartbeat(now, requested_by, counts)
    return dict(counts)


def resolve_due(counts: dict[str, Any], *, now: datetime, claim: Claim | None) -> None:
    """Close every case that a price judges now, and judge the controls whose last window is over."""
    total = TradingCase.objects.due(now=now)[: 100 * BATCH].count()
    time_budget = TimeBudget.start(RESOLVE_SECONDS) if claim else TimeBudget()
    for done, batch in enumerate(list_due_batches(now=now), 1):
        if time_budget.is_spent:
            counts["rest"] = 1
            return
        found = resolve_batch(batch, actor=ACTOR, now=now)
        counts["resolved"] += found.cases
        counts["credited"] += found.outcomes
        report_progress(claim, min(done * BATCH, total), total)
    for known in judge_due_controls(now=now):
        counts["controls"] += known
        if time_budget.is_spent:
            return  # the next pass goes on: some may wait for a price, so that none is asked for at once


def judge(run: Pass) -> None:
    """Let a model judge what is in prompts and propose what may come; without one, demote by rule what fell.

    A shadow changes nothing, so that the rule goes on beside it. While markets are under stress there is no verdict.
    """
    now, counts = run.now, run.counts
    has_model = not what_is_missing()
    verdicts = mode_of(METHODOLOGY_VERDICTS) if has_model else Mode.OFF
    if verdicts is not Mode.ON:
        with transaction.atomic():
            counts["demoted"] = demote_fallen(actor=ACTOR, now=now)
    if stress := stress_of(now=now):
        LifecycleEvent.objects.create(
            kind=LifecycleKind.MARKET_STRESS_FREEZE,
            at=now,
            actor=ACTOR,
            details=stress,
        )
        counts["frozen"] = 1
    elif verdicts is not Mode.OFF:
        judge_graduated(run)
    if has_model and mode_of(METHODOLOGY_CANDIDATES) is not Mode.OFF and "stopped" not in counts:
        propose_candidates(run)


def stress_of(*, now: datetime) -> dict[str, int]:
    """Return how many of the cases judged in the last day were decided in high volatility, if most were; else empty."""
    recent = TradingCase.objects.filter(resolved_at__gt=now - STRESS, resolved_at__lte=now, is_demo=False)
    high, total = recent.filter(regime__endswith="_hivol").count(), recent.count()
    return {"high": high, "total": total} if total >= MIN_STRESSED and 2 * high > total else {}


def write_heartbeat(
    started_at: datetime,
    requested_by: str,
    counts: dict[str, Any],
    *,
    error: str = "",
) -> None:
    """Store that a pass ended, and how."""
    CronRun.objects.create(
        started_at=started_at,
        ended_at=max(timezone.now(), started_at),
        requested_by=requested_by,
        is_ok=not error,
        error=error[:MAX_ERROR_CHARS],
        counts=dict(counts),
    )
    log.info("learning_cron_ended", ok=not error, **counts)
