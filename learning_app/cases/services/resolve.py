"""Resolving cases when their window has closed, and crediting what was shown with them. Sources: S2, decisions.

Only the instance's prices move counters. An owner's own price closes that owner's case and counts for nobody; it is
asked where the instance knew no price at the decision, else only once the instance's has not come for a week.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Model, Q, QuerySet

from learning_app.cases.models import INSTANCE, OWNER, CaseHint, TradingCase
from learning_app.court.services import Observation, add_blocks
from learning_app.methodologies.services.lifecycle import lock_rows
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from learning_app.vocabulary import OutcomeState
from minara_site.kernel.db import update_rows
from minara_site.kernel.market.moves import Move, find_moves, find_starts
from minara_site.kernel.market.outcome import (
    WAIT_FOR_PRICE,
    Direction,
    Outcome,
    OutcomeWindow,
    change_pct,
    judge_change,
)

T = TypeVar("T", bound=Model)
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
    return walk_due(
        TradingCase.objects.pending().filter(window_ends_at__lte=now),
        "window_ends_at",
    )


def walk_due(rows: "QuerySet[T]", ends: str) -> Iterator[list[T]]:
    """Yield rows in batches, in order of the end of their windows (the column `ends`) and their id."""
    due, place = rows.order_by(ends, "pk"), Q()
    while batch := list(due.filter(place)[:BATCH]):
        yield batch
        last = batch[-1]
        ended_at = getattr(last, ends)
        later = Q((f"{ends}__gt", ended_at)) | Q(pk__gt=last.pk)
        place = Q((f"{ends}__gte", ended_at)) & later  # a range that the index walks


def resolve_batch(
    batch: Sequence[TradingCase],
    *,
    actor: str,
    now: datetime,
) -> Resolved:
    """Close those of the cases that a price judges, and credit their hints once, in one transaction."""
    judge(batch, now=now)
    closed = [case for case in batch if case.outcome_state != OutcomeState.PENDING]
    if not closed:
        return Resolved()
    with transaction.atomic():
        rows = TradingCase.objects.pending().filter(pk__in=[case.pk for case in closed])
        pending = set(rows.order_by("pk").select_for_update().values_list("pk", flat=True))
        ours = [case for case in closed if case.pk in pending]
        hinted = CaseHint.objects.filter(case__in=pending).values_list("methodology_id", flat=True)
        lock_rows(hinted)  # before a hint changes: operators credit and decide on them in this order too
        update_rows(TradingCase, RESOLVED, ours)
        credited = credit(ours, actor=actor, now=now)
        judge_blocks(ours, actor=actor, now=now)
    return Resolved(len(ours), credited)


def judge(cases: Sequence[TradingCase], *, now: datetime) -> None:
    """Close cases as prices judge them, not stored yet; one stays pending while none can."""
    for case, move in zip(
        cases,
        find_moves(list(map(window_of, cases)), now=now),
        strict=True,
    ):
        if move is not None:
            close(case, move, by=INSTANCE, now=now)
    unjudged = [case for case in cases if case.outcome_state == OutcomeState.PENDING]
    for case, move in find_own_moves(unjudged, now=now):
        if move is not None:
            close(case, move, by=OWNER, now=now)
        elif is_long_over(case.window_ends_at, now=now):
            case.outcome_state, case.resolved_at = OutcomeState.EXPIRED, now


def window_of(case: TradingCase) -> tuple[str, OutcomeWindow]:
    """Return the symbol of a case and the window in which it is judged."""
    return case.asset, OutcomeWindow(case.decided_at, case.window_ends_at)


def find_own_moves(cases: Sequence[TradingCase], *, now: datetime) -> Iterator[tuple[TradingCase, Move | None]]:
    """Yield the cases that an owner's own prices may close, with what those say: where the instance cannot judge."""
    asking: defaultdict[int, list[TradingCase]] = defaultdict(list)
    for case, start in zip(
        cases,
        find_starts(list(map(window_of, cases))),
        strict=True,
    ):
        if start is None or is_long_over(case.window_ends_at, now=now):
            asking[case.owner_id].append(case)
    for owner_id, own in asking.items():
        yield from zip(
            own,
            find_moves(list(map(window_of, own)), owner_id=owner_id, now=now),
            strict=True,
        )


def is_long_over(window_ends_at: datetime, *, now: datetime) -> bool:
    """Say whether no price has come for a week after the window."""
    return now > window_ends_at + WAIT_FOR_PRICE


def judge_move(move: Move, direction: Direction) -> tuple[OutcomeState, float]:
    """Return what a move says of a decision in this direction, and the change in percent in that direction."""
    change = change_pct(move.before.price, move.after.price)
    judged = judge_change(change, direction, band_pct=settings.MINARA.noise_band_pct)
    return STATE_OF[judged.outcome], judged.pnl_pct


def close(case: TradingCase, move: Move, *, by: str, now: datetime) -> None:
    """Close a case as the move judges it."""
    case.outcome_state, case.pnl_pct = judge_move(move, Direction(case.direction))
    case.entry_price, case.entry_price_at = move.before.price, move.before.at
    case.exit_price, case.exit_price_at = move.after.price, move.after.at
    case.judged_by, case.resolved_at = by, now


def credit(cases: Sequence[TradingCase], *, actor: str, now: datetime) -> int:
    """Count the outcomes of cases that the instance's prices judged, each hint once; return how many.

    The methodologies are locked.
    """
    counting = {case.pk: case for case in cases if counts(case)}
    hints = list(
        CaseHint.objects.filter(
            case__in=counting,
            is_credited=True,
            credited_at__isnull=True,
        )
    )
    by_case: defaultdict[int, list[CaseHint]] = defaultdict(list)
    for hint in hints:
        hint.credited_at = now
        by_case[hint.case_id].append(hint)
    outcomes = [
        NewOutcome(
            hint.methodology_id,
            case.outcome_state == OutcomeState.CONFIRMED_GOOD,
            pk,
        )
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


def judge_blocks(cases: Sequence[TradingCase], *, actor: str, now: datetime) -> None:
    """Hand the court the blocks that these cases complete; one without a conclusive case says nothing."""
    hints = CaseHint.objects.filter(block_at__isnull=False, is_judged=False)
    touched = set(hints.filter(case__in=[case.pk for case in cases]).values_list("methodology_id", "block_at"))
    numbers, moments = {number for number, _at in touched}, {at for _number, at in touched}
    same = hints.filter(methodology__in=numbers, block_at__in=moments).select_related("case").defer("case__decision")
    blocks: defaultdict[tuple[int, datetime], list[CaseHint]] = defaultdict(list)
    for hint in same.order_by("case_id"):
        assert hint.block_at is not None
        if (key := (hint.methodology_id, hint.block_at)) in touched:
            blocks[key].append(hint)
    complete = {
        key: hints
        for key, hints in blocks.items()
        if all(hint.case.outcome_state != OutcomeState.PENDING for hint in hints)
    }
    judged = [hint for hints in complete.values() for hint in hints]
    for hint in judged:
        hint.is_judged = True
    update_rows(CaseHint, ("is_judged",), judged)
    ordered = sorted(
        complete.items(),
        key=lambda item: (end_of(item[1]), item[0]),
    )
    observations = (observe(number, [hint.case for hint in hints]) for (number, _at), hints in ordered)
    add_blocks([each for each in observations if each], actor=actor, now=now)


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
    return Observation(
        number,
        score=score,
        base_rate=sum(case.base_rate for case in said) / len(said),
        at=at,
    )
