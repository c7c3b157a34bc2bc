"""The causes of alerts that exist now, read from the tables of their rooms; nothing here writes.

Facts are numbers, moments and names of the product: of what users write only symbols and names of methodologies are
among them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.conf import settings
from django.db.models import Count, Min

from learning_app.audit.core.composite import Band
from learning_app.audit.selectors import list_reports
from learning_app.cases.models import CronRun, TradingCase
from learning_app.cases.services.cron import EVERY
from learning_app.court.services.evidence import JUDGED_ANEW
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.preferences.models import Preference
from learning_app.vocabulary import LifecycleKind
from memory_app.writes.selectors.anomalies import load_held
from minara_site.console.models import Alert, AlertKind
from minara_site.kernel.backup.selectors import load_last_backup
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.selectors import OWNER_ACT
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import OVER
from minara_site.kernel.jobs.table import load_jobs
from minara_site.kernel.llm.selectors import load_budget
from minara_site.kernel.market.doubts import load_doubted
from minara_site.kernel.ownership import EVERYONE

HEARTBEAT_LATE = 2 * EVERY
BUDGET_SHARE = 0.9
WAITS_LONG = timedelta(days=2)
FAILED_IN_A_ROW = 3
MAX_NAMES = 5
WORST_LAST = (Band.HEALTHY, Band.WATCH, Band.DEGRADED, Band.ALARM)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an operator is needed: `name` is the same for as long as it is the same cause."""

    name: str
    kind: AlertKind
    facts: dict[str, Any] = field(default_factory=dict)


def find_causes(*, now: datetime) -> dict[str, Cause]:
    """Return every cause that exists now by its name."""
    rooms = (
        find_band_change(now),
        find_heartbeat(now),
        find_budgets(now),
        find_waiting(now),
        find_backup(now),
        find_held_writes(now),
        find_symbols_read_again(),
        find_doubted_prices(),
        find_judged_anew(),
    )
    found = chain(*rooms, find_failing_jobs())
    return {cause.name: cause for cause in found}


def find_band_change(now: datetime) -> Iterator[Cause]:
    """Yield that the band of the learning audit fell, until it is back, or an operator has closed the alert.

    It fell when the last other band before the newest one was better, however many passes came between two looks, and
    at the first report of the newest band. What was closed for that report is not opened again. Passes of another
    window than the setting's, and those without a band, say nothing.
    """
    days = settings.MINARA.methodology_audit_window_days
    reports = list_reports(now=now).filter(window_days=days, band__in=WORST_LAST)
    newest = reports.first()
    if newest is None:
        return
    last = Alert.objects.filter(kind=AlertKind.BAND).order_by("-opened_at", "-pk").first()
    is_open = last is not None and last.closed_at is None
    band, previous = Band(newest.band), reports.exclude(band=newest.band).first()
    fell_at = None
    if previous and is_worse(band, Band(previous.band)):
        fell_at = reports.filter(created_at__gt=previous.created_at, band=newest.band).last() or newest
    before = Band(last.facts["before"]) if last and is_open else Band(previous.band) if previous else None
    report = fell_at.pk if fell_at else last.facts["report"] if last and is_open else None
    if before is None or not is_worse(band, before) or (last and not is_open and last.facts["report"] == report):
        return
    yield Cause(
        "band",
        AlertKind.BAND,
        {"before": before.value, "band": band.value, "report": report},
    )


def is_worse(band: Band, than: Band) -> bool:
    """Say whether a band is worse than another."""
    return WORST_LAST.index(band) > WORST_LAST.index(than)


def find_heartbeat(now: datetime) -> Iterator[Cause]:
    """Yield that the learning cron ended no pass within 12 hours; without any pass only if a case is due."""
    ended_at = (
        CronRun.objects.filter(ended_at__lte=now)
        .order_by("-ended_at", "-pk")
        .values_list("ended_at", flat=True)
        .first()
    )
    if ended_at is None:
        is_late = TradingCase.objects.pending().filter(window_ends_at__lte=now).exists()
    else:
        is_late = ended_at < now - HEARTBEAT_LATE
    if is_late:
        yield Cause(
            "heartbeat",
            AlertKind.HEARTBEAT,
            {"ended_at": ended_at.isoformat() if ended_at else None},
        )


def find_budgets(now: datetime) -> Iterator[Cause]:
    """Yield each budget window of which 90 % is spent or reserved."""
    for status in load_budget(now=now):
        totals, window = status.totals, status.window
        if totals.is_beyond(BUDGET_SHARE):
            percent = int(100 * totals.committed / totals.cap) if totals.cap else 100
            facts = {
                "category": window.category,
                "period": window.span.value,
                "percent": percent,
            }
            yield Cause(f"budget:{window.category}:{window.span.value}", AlertKind.BUDGET, facts)


def find_waiting(now: datetime) -> Iterator[Cause]:
    """Yield each kind of held texts, and the proposals, of which some wait for longer than two days.

    A text that only its owner lets in waits for its owner, not for an operator.
    """
    long_ago = now - WAITS_LONG
    own = [kind.name for kind in stored_kinds().values() if kind.release_act == OWNER_ACT]
    holds = Hold.objects.open().filter(held_at__lte=long_ago).exclude(kind__in=own)
    for row in holds.values("kind").annotate(count=Count("pk"), oldest=Min("held_at")).order_by("kind"):
        facts = {
            "stored_kind": row["kind"],
            "count": row["count"],
            "oldest": row["oldest"].isoformat(),
        }
        yield Cause(f"hold:{row['kind']}", AlertKind.HOLD, facts)
    proposals = Preference.objects.proposed().filter(created_at__lte=long_ago)
    found = proposals.aggregate(count=Count("pk"), oldest=Min("created_at"))
    if found["count"]:
        facts = {"count": found["count"], "oldest": found["oldest"].isoformat()}
        yield Cause("proposals", AlertKind.PROPOSAL, facts)


def find_backup(now: datetime) -> Iterator[Cause]:
    """Yield that the newest backup of the schedule failed, or that two were due since the last."""
    last = load_last_backup(now=now)
    if last.error or last.is_late:
        yield Cause(
            "backup",
            AlertKind.BACKUP,
            {"made_at": last.made_at.isoformat() if last.made_at else None},
        )


def find_held_writes(now: datetime) -> Iterator[Cause]:
    """Yield each agent many of whose texts were held, for 24 hours."""
    for each in load_held(owner=EVERYONE, now=now):
        facts = {name: getattr(each, name) for name in ("writer", "count", "of", "seconds")}
        yield Cause(f"writes:{each.writer}", AlertKind.WRITES, facts)


def find_symbols_read_again() -> Iterator[Cause]:
    """Yield that an upgrade read stored symbols again, until an operator closes the alert that it left."""
    for alert in Alert.objects.open().filter(kind=AlertKind.SYMBOLS):
        yield Cause(alert.cause, AlertKind.SYMBOLS, alert.facts)


def find_doubted_prices() -> Iterator[Cause]:
    """Yield that prices of the instance are in doubt, until none is."""
    count, newest = load_doubted(1)
    for row in newest:
        yield Cause("prices", AlertKind.PRICES, {"count": count, "symbol": row.symbol})


def find_judged_anew() -> Iterator[Cause]:
    """Yield that methodologies left prompts when an upgrade judged their cases anew; not again once it was closed."""
    last = Alert.objects.filter(kind=AlertKind.JUDGED).order_by("pk").last()
    if last and last.closed_at:
        return
    fallen = LifecycleEvent.objects.filter(kind=LifecycleKind.DEMOTED, details__has_key=JUDGED_ANEW)
    rows = Methodology.objects.filter(pk__in=fallen.values("methodology")).order_by("pk")
    names = ["" if row.held_at else mask(row.name) for row in rows[:MAX_NAMES]]
    if names:
        yield Cause("judged", AlertKind.JUDGED, {"count": rows.count(), "names": names})


def find_failing_jobs() -> Iterator[Cause]:
    """Yield each job of this version whose last three runs failed. One short query a job, answered by an index."""
    for name in load_jobs():
        ended = JobRun.objects.filter(job=name, state__in=OVER).order_by("-created_at", "-pk")
        newest = list(ended.values_list("pk", "state")[:FAILED_IN_A_ROW])
        if len(newest) == FAILED_IN_A_ROW and {state for _pk, state in newest} == {RunState.FAILED}:
            yield Cause(
                f"job:{name}",
                AlertKind.JOB,
                {"job": name, "run": newest[0][0]},
            )
