"""Resolving cases when their window has closed, and crediting what was shown with them. Sources: S2, decisions.

Only the instance's prices move counters. An owner's own price closes that owner's case and counts for nobody; it is
asked where the instance knew no price at the decision, else only once the instance's has not come for a week.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from learning_app.cases.models import INSTANCE, OWNER, CaseHint, TradingCase
from learning_app.court.services import Observation, add_blocks
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes, lock_rows
from learning_app.vocabulary import OutcomeState
from minara_site.kernel.core.assets import group_of
from minara_site.kernel.db import update_rows
from minara_site.kernel.market.moves import Move, find_move, find_moves
from minara_site.kernel.market.outcome import (
    WAIT_FOR_PRICE,
    Direction,
    Outcome,
    OutcomeWindow,
    change_pct,
    judge_change,
    tolerance_of,
)
from minara_site.kernel.market.selectors import find_price

BATCH = 500
STATE_OF = {
    Outcome.RIGHT: OutcomeState.CONFIRMED_GOOD,
    Outcome.WRONG: OutcomeState.CONFIRMED_BAD,
    Outcome.UNCLEAR: OutcomeState.INCONCLUSIVE,
}
CONCLUSIVE = frozenset({OutcomeState.CONFIRMED_GOOD, OutcomeState.CONFIRMED_BAD})
RESOLVED = (
    "outcome_state",
    "judged_by",
    "pnl_pct",
    "entry_price",
    "entry_price_at",
    "exit_price",
    "exit_price_at",
    "resolved_at",
)


@dataclass(frozen=True, slots=True)
class Resolved:
    """How many cases were closed, and how many outcomes were credited."""

    cases: int = 0
    outcomes: int = 0


def list_due_batches(*, now: datetime) -> Iterator[list[TradingCase]]:
    """Yield the pending cases whose window is over, in order of its end and their id."""
    due = TradingCase.objects.pending().filter(window_ends_at__lte=now).order_by("window_ends_at", "pk")
    place = Q()
    while batch := list(due.filter(place)[:BATCH]):
        yield batch
        last = batch[-1]
        later = Q(window_ends_at__gt=last.window_ends_at) | Q(pk__gt=last.pk)
        place = Q(window_ends_at__gte=last.window_ends_at) & later  # a range that the index walks


def resolve_batch(batch: Sequence[TradingCase], *, actor: str, now: datetime) -> Resolved:
    """Close those of the cases that a price judges, and credit their hints once, in one transaction."""
    windows = [(case.asset, OutcomeWindow(case.decided_at, case.window_ends_at)) for case in batch]
    judged = [
        judge(case, window, move, now=now)
        for case, (_symbol, window), move in zip(batch, windows, find_moves(windows, now=now), strict=True)
    ]
    closed = [case for case in judged if case.outcome_state != OutcomeState.PENDING]
    if not closed:
        return Resolved()
    with transaction.atomic():
        rows = TradingCase.objects.pending().filter(pk__in=[case.pk for case in closed])
        pending = set(rows.order_by("pk").select_for_update().values_list("pk", flat=True))
        ours = [case for case in closed if case.pk in pending]
        update_rows(TradingCase, RESOLVED, ours)
        credited = credit(ours, actor=actor, now=now)
        judge_blocks(ours)
    return Resolved(len(ours), credited)


def judge(case: TradingCase, window: OutcomeWindow, instance_move: Move | None, *, now: datetime) -> TradingCase:
    """Return the case as prices judge it, not stored yet; it stays pending while none can."""
    if instance_move is not None:
        return close(case, instance_move, by=INSTANCE, now=now)
    if may_ask_owner(case, window, now=now):
        move = find_move(case.asset, window, owner_id=case.owner_id, now=now)
        if move is not None:
            return close(case, move, by=OWNER, now=now)
    if now > window.ends_at + WAIT_FOR_PRICE:
        case.outcome_state, case.resolved_at = OutcomeState.EXPIRED, now
    return case


def may_ask_owner(case: TradingCase, window: OutcomeWindow, *, now: datetime) -> bool:
    """Say whether an owner's own price may close a case: the instance cannot judge it, or has not for a week."""
    if now > window.ends_at + WAIT_FOR_PRICE:
        return True
    tolerance = tolerance_of(window.length, group_of(case.asset))
    return find_price(case.asset, at=window.starts_at, owner_id=None, tolerance=tolerance) is None


def close(case: TradingCase, move: Move, *, by: str, now: datetime) -> TradingCase:
    """Return the case as the move judges it, not stored yet."""
    change = change_pct(move.before.price, move.after.price)
    judged = judge_change(change, Direction(case.direction), band_pct=settings.MINARA.noise_band_pct)
    case.outcome_state, case.pnl_pct = STATE_OF[judged.outcome], judged.pnl_pct
    case.entry_price, case.entry_price_at = move.before.price, move.before.at
    case.exit_price, case.exit_price_at = move.after.price, move.after.at
    case.judged_by, case.resolved_at = by, now
    return case


def credit(cases: Sequence[TradingCase], *, actor: str, now: datetime) -> int:
    """Count the outcomes of cases that the instance's prices judged, each hint once; return how many."""
    counting = {case.pk: case for case in cases if counts(case)}
    waiting = CaseHint.objects.filter(case__in=counting, is_credited=True, credited_at__isnull=True)
    lock_rows(waiting.values_list("methodology_id", flat=True))  # an operator may credit one of them at this moment
    hints = list(waiting.all())
    by_case: defaultdict[int, list[CaseHint]] = defaultdict(list)
    for hint in hints:
        hint.credited_at = now
        by_case[hint.case_id].append(hint)
    outcomes = [
        NewOutcome(hint.methodology_id, case.outcome_state == OutcomeState.CONFIRMED_GOOD, pk)
        for pk, case in counting.items()
        for hint in sorted(by_case[pk], key=lambda hint: hint.position)
    ]
    if outcomes:
        apply_outcomes(outcomes, actor=actor, now=now)
        update_rows(CaseHint, ("credited_at",), hints)
    return len(outcomes)


def counts(case: TradingCase) -> bool:
    """Say whether the outcome of a case counts for methodologies."""
    return case.outcome_state in CONCLUSIVE and case.judged_by == INSTANCE and not case.backdated


def judge_blocks(cases: Sequence[TradingCase]) -> None:
    """Hand the court the blocks that these cases complete; one without a conclusive case says nothing."""
    touched = CaseHint.objects.filter(case__in=[case.pk for case in cases], block_at__isnull=False)
    numbers = set(touched.values_list("methodology_id", flat=True))
    unjudged = CaseHint.objects.filter(methodology__in=numbers, block_at__isnull=False, is_judged=False)
    blocks: defaultdict[tuple[int, datetime], list[CaseHint]] = defaultdict(list)
    for hint in unjudged.select_related("case").order_by("case_id"):
        assert hint.block_at is not None
        blocks[hint.methodology_id, hint.block_at].append(hint)
    complete = {
        key: hints
        for key, hints in blocks.items()
        if all(hint.case.outcome_state != OutcomeState.PENDING for hint in hints)
    }
    judged = [hint for hints in complete.values() for hint in hints]
    for hint in judged:
        hint.is_judged = True
    update_rows(CaseHint, ("is_judged",), judged)
    ordered = sorted(complete.items(), key=lambda item: (end_of(item[1]), item[0]))
    observations = (observe(number, [hint.case for hint in hints]) for (number, _at), hints in ordered)
    add_blocks([each for each in observations if each])


def end_of(hints: Sequence[CaseHint]) -> datetime:
    """Return when the last window of a block closes."""
    return max(hint.block_ends_at for hint in hints if hint.block_ends_at)


def observe(number: int, cases: Sequence[TradingCase]) -> Observation | None:
    """Return what the conclusive cases of a block say together, None without one."""
    said = [case for case in cases if counts(case)]
    if not said:
        return None
    score = sum(case.outcome_state == OutcomeState.CONFIRMED_GOOD for case in said) / len(said)
    at = max(case.window_ends_at for case in said)
    return Observation(number, score=score, base_rate=sum(case.base_rate for case in said) / len(said), at=at)
