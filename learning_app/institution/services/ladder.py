"""The ladder: prices score decisions when their windows are over, and cited methodologies count it. Source: S2.

Only the instance's prices score, by the rule of trading cases. What counts: a conclusive score of a standard window of
a run that feeds, for each cited methodology of the decision's own direction, once for a ticker, a window and a UTC day.
Of several runs that day the first conclusive one counts, in the order of window ends and ids. Nothing of this is a
block of the court.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from learning_app.cases.models import CONCLUSIVE
from learning_app.cases.services.rejudge import LONGEST_GAP
from learning_app.cases.services.resolve import is_long_over, judge_move, walk_due
from learning_app.institution.core.ladder import DAYS, day_of, horizon_window
from learning_app.institution.models import OPEN_STATES, InstitutionOutcome, InstitutionReflection, InstitutionRun
from learning_app.institution.services.requests import end_run, request_job
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.services.lifecycle import lock_rows
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from learning_app.vocabulary import InstitutionState, LadderWindow, LifecycleKind, OutcomeState
from minara_site.kernel.db import update_rows
from minara_site.kernel.jobs.leases import find_lease
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.market.changed import read_changed
from minara_site.kernel.market.moves import Move, find_moves, first_quotes
from minara_site.kernel.market.outcome import OutcomeWindow
from minara_site.kernel.market.selectors import find_price

LADDER, REPAIR, REJUDGE = "institution.ladder", "institution.repair", "institution.rejudge"
EVERY, REPAIR_EVERY = timedelta(hours=1), timedelta(minutes=5)
ACTOR = f"job:{LADDER}"
SCORED = (
    *("outcome_state", "pnl_pct", "entry_price", "entry_price_at", "exit_price", "exit_price_at"),
    *("horizon_state", "horizon_pnl_pct", "scored_at"),
)


def run_ladder(*, now: datetime) -> dict[str, Any]:
    """Score what is due. Running it again finds what is left."""
    if not settings.MINARA.institution_learning_enabled:
        return {"off": 1}
    counts: Counter[str] = Counter()
    for batch in list_due_batches(now=now):
        counts.update(score_batch(batch, now=now))
    return dict(counts)


def list_due_batches(*, now: datetime) -> Iterator[list[InstitutionReflection]]:
    """Yield standard windows that are over and not scored, in order of their end and id; never the demo's."""
    rows = InstitutionReflection.objects.filter(
        scored_at__isnull=True,
        due_at__lte=now,
        window__in=list(DAYS),
        run__is_demo=False,
    )
    return walk_due(rows.select_related("run"), "due_at")


def rejudge_changed(*, now: datetime) -> int:
    """Score windows again that changed prices touch, and count anew what they say; return how many changed."""
    changed = 0
    for spans in read_changed(REJUDGE):
        for span in (each for each in spans if each.owner_id is None):
            rows = InstitutionReflection.objects.filter(
                scored_at__isnull=False,
                window__in=list(DAYS),
                run__is_demo=False,
                run__ticker=span.symbol,
                run__decided_at__lte=span.last_at,
                due_at__gte=span.first_at - LONGEST_GAP,
            )
            for batch in walk_due(rows.select_related("run"), "due_at"):
                changed += score_again(batch, now=now)
    return changed


def score_again(batch: Sequence[InstitutionReflection], *, now: datetime) -> int:
    """Score windows by the prices that stand now; what counted otherwise is reversed. Returns how many changed."""
    before = {each.pk: [getattr(each, name) for name in SCORED[:-1]] for each in batch}
    judge(batch, now=now)
    changed = [each for each in batch if before[each.pk] != [getattr(each, name) for name in SCORED[:-1]]]
    if not changed:
        return 0
    with transaction.atomic():
        methods = lock_cited(changed)
        update_rows(InstitutionReflection, SCORED, changed)
        counted = InstitutionOutcome.objects.filter(reflection__in=changed).select_related("reflection__run")
        reversals = []
        for each in counted.order_by("pk"):
            details = {"institution_run": each.reflection.run.uid, "window": each.window}
            events = LifecycleEvent.objects.filter(
                methodology=each.methodology_id,
                kind=LifecycleKind.OUTCOME_RECORDED,
                **{f"details__{name}": value for name, value in details.items()},
            )
            event = events.exclude(details__has_key="reverses").order_by("-pk")[0]
            is_correct = bool(event.details["correct"])
            reversals.append(NewOutcome(each.methodology_id, is_correct, reverses=event.pk, details=details))
        counted.delete()
        feed(changed, methods, reversals, now=now)
    return len(changed)


def lock_cited(scored: Sequence[InstitutionReflection]) -> dict[str, Methodology]:
    """Lock the methodologies that runs cite whose scores count, and return them by public id."""
    cited = {uid for each in scored if each.run.feeds for uid in each.run.cited}
    numbers = Methodology.objects.filter(uid__in=cited).values_list("pk", flat=True)
    return {row.uid: row for row in lock_rows(numbers).values()}


def score_batch(batch: Sequence[InstitutionReflection], *, now: datetime) -> dict[str, int]:
    """Score those windows that a price judges, and count them for cited methodologies, in one transaction."""
    judge(batch, now=now)
    closed = [each for each in batch if each.scored_at]
    with transaction.atomic():
        rows = InstitutionReflection.objects.filter(
            pk__in=[each.pk for each in closed],
            scored_at__isnull=True,
        )
        waiting = set(rows.order_by("pk").select_for_update().values_list("pk", flat=True))
        ours = [each for each in closed if each.pk in waiting]
        methods = lock_cited(closed)
        update_rows(InstitutionReflection, SCORED, ours)
        outcomes = feed(ours, methods, now=now)
    return {"scored": len(ours), "counted": outcomes}


def judge(batch: Sequence[InstitutionReflection], *, now: datetime) -> None:
    """Score windows as the instance's prices say, not stored yet; one stays pending while none can."""
    windows = [
        (
            each.run.ticker,
            OutcomeWindow(decided_at(each), each.due_at),
        )
        for each in batch
    ]
    for each, move in zip(batch, find_moves(windows, now=now), strict=True):
        if move is not None:
            close(each, move, now=now)
        elif is_long_over(each.due_at, now=now):
            each.outcome_state, each.scored_at = OutcomeState.EXPIRED, now
    compare_horizons(
        [each for each in batch if each.window == LadderWindow.MONTH and each.scored_at],
        now=now,
    )


def decided_at(each: InstitutionReflection) -> datetime:
    """Return when the decision was stored."""
    assert each.run.decided_at, "only decisions have a ladder"
    return each.run.decided_at


def close(each: InstitutionReflection, move: Move, *, now: datetime) -> None:
    """Score a window as its move says."""
    each.outcome_state, each.pnl_pct = judge_move(move, each.run.direction)
    entry = move.entry
    each.entry_price, each.entry_price_at = (entry.price, entry.at) if entry else (None, None)
    each.exit_price, each.exit_price_at = move.exit.price, move.exit.at
    each.scored_at = now


def compare_horizons(months: Sequence[InstitutionReflection], *, now: datetime) -> None:
    """Say of windows of 30 days how the decision stood at the end of its own horizon, where that is over."""
    asked = [
        (
            each,
            horizon_window(decided_at(each), each.run.horizon_days or 0),
        )
        for each in months
    ]
    known = [(each, window) for each, window in asked if window is not None]
    moves = find_moves(
        [(each.run.ticker, window) for each, window in known],
        now=now,
    )
    for (each, _window), move in zip(known, moves, strict=True):
        if move is not None:
            each.horizon_state, each.horizon_pnl_pct = judge_move(move, each.run.direction)


def feed(
    scored: Sequence[InstitutionReflection],
    methods: dict[str, Methodology],
    reversals: Sequence[NewOutcome] = (),
    *,
    now: datetime,
) -> int:
    """Count scores for cited methodologies, which are locked, after reversals; return how many counted."""
    keys = InstitutionOutcome.objects.filter(
        methodology__in=[row.pk for row in methods.values()],
        ticker__in={each.run.ticker for each in scored},
        day__in={day_of(decided_at(each)) for each in scored},
    )
    counted = set(keys.values_list("methodology_id", "ticker", "window", "day"))
    new: list[InstitutionOutcome] = []
    outcomes = [*reversals]
    for each in scored:
        if not each.run.feeds or each.outcome_state not in CONCLUSIVE:
            continue
        for row in (methods[uid] for uid in each.run.cited if uid in methods):
            day = day_of(decided_at(each))
            key = (row.pk, each.run.ticker, each.window, day)
            if key in counted or row.direction != each.run.direction:
                continue
            counted.add(key)
            new.append(
                InstitutionOutcome(
                    methodology=row,
                    ticker=each.run.ticker,
                    window=each.window,
                    day=day,
                    reflection=each,
                    at=now,
                )
            )
            details = {"institution_run": each.run.uid, "window": each.window}
            is_correct = each.outcome_state == OutcomeState.CONFIRMED_GOOD
            outcomes.append(NewOutcome(row.pk, is_correct, details=details))
    if outcomes:
        apply_outcomes(outcomes, actor=ACTOR, now=now)
        InstitutionOutcome.objects.bulk_create(new)
    return len(new)


def new_snapshot(
    run: InstitutionRun,
    window: LadderWindow,
    *,
    at: datetime,
    for_run: InstitutionRun | None = None,
) -> InstitutionReflection:
    """Return an unsaved look back at a decision as prices stand at a moment; it counts for nothing."""
    snapshot = InstitutionReflection(
        run=run,
        window=window,
        due_at=at,
        scored_at=at,
        for_run=for_run,
    )
    [entry] = first_quotes([(run.ticker, decided_at(snapshot))], owner_id=None)
    newest = find_price(run.ticker, at=at, owner_id=None, tolerance=at - decided_at(snapshot))
    if entry and newest and entry.at < newest.at:
        close(snapshot, Move(entry, newest), now=at)
    return snapshot


def reflect_by_hand(runs: Sequence[InstitutionRun], *, now: datetime) -> list[InstitutionReflection]:
    """Store a manual look back at each of these decisions; they count for nothing."""
    found = [new_snapshot(run, LadderWindow.MANUAL, at=now) for run in runs]
    return InstitutionReflection.objects.bulk_create(found)


def repair_runs(*, now: datetime) -> int:
    """Go on with runs that no worker has any more, and end those whose job failed or was cancelled."""
    repaired = 0
    for run in InstitutionRun.objects.filter(state__in=OPEN_STATES, is_demo=False).order_by("pk"):
        if find_lease(lease_name(run.pk), now=now):
            continue
        job = JobRun.objects.filter(pk=run.job_run_id).first() if run.job_run_id else None
        if job is not None and job.state in (RunState.QUEUED, RunState.RUNNING):
            continue
        if job is not None and job.state == RunState.FAILED:
            repaired += end_run(run, InstitutionState.FAILED, error=job.error, now=now)
        elif job is not None and job.state == RunState.CANCELLED:
            repaired += end_run(run, InstitutionState.CANCELLED, now=now)
        else:
            with transaction.atomic():
                same = InstitutionRun.objects.filter(
                    pk=run.pk,
                    job_run_id=run.job_run_id,
                    state__in=OPEN_STATES,
                )
                if same.select_for_update().first():  # else its job went on meanwhile
                    request_job(run, now=now)
                    repaired += 1
    return repaired


def lease_name(run_id: int) -> str:
    """Return the name of the lease under which the roles of a run are asked."""
    return f"institution:{run_id}"
