"""Judging cases when their window has closed, and again when prices around it change. Sources: S2, court.md.

Only the instance's prices move counters. Where they do not judge, an owner's own may close a case: on a symbol of
which the instance had a price only when it would expire, elsewhere as soon as they judge it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Model, Q, QuerySet

from learning_app.cases.models import INSTANCE, OWNER, TradingCase
from learning_app.cases.regime import find_regimes
from learning_app.cases.services.settle import settle
from learning_app.court.core import MAX_CONTROLLED_HOURS
from learning_app.court.services.controls import find_controls, key_of
from learning_app.vocabulary import OutcomeState
from minara_site.kernel.db import update_rows
from minara_site.kernel.market.moves import Move, find_moves
from minara_site.kernel.market.outcome import WAIT_FOR_PRICE, Direction, Outcome, change_pct, judge_change

T = TypeVar("T", bound=Model)
BATCH = 500
MAX_BEFORE = 20
STATE_OF = {
    Outcome.RIGHT: OutcomeState.CONFIRMED_GOOD,
    Outcome.WRONG: OutcomeState.CONFIRMED_BAD,
    Outcome.UNCLEAR: OutcomeState.INCONCLUSIVE,
}
JUDGED = (
    *("outcome_state", "judged_by", "gap", "pnl_pct"),
    *("entry_price", "entry_price_at", "exit_price", "exit_price_at", "control_id"),
)
RESOLVED = (*JUDGED, "regime", "resolved_at")


@dataclass(frozen=True, slots=True)
class Resolved:
    """How many cases were closed, and how many outcomes were counted."""

    cases: int = 0
    outcomes: int = 0


def list_due_batches(*, now: datetime) -> Iterator[list[TradingCase]]:
    """Yield the pending cases whose window is over, in order of its end and their id."""
    return walk_due(TradingCase.objects.due(now=now), "window_ends_at")


def walk_due(rows: "QuerySet[T]", ends: str) -> Iterator[list[T]]:
    """Yield rows in batches, in order of the end of their windows (the column `ends`) and their id."""
    due, place = rows.order_by(ends, "pk"), Q()
    while batch := list(due.filter(place)[:BATCH]):
        ended_at, number = getattr(batch[-1], ends), batch[-1].pk
        yield batch
        later = Q((f"{ends}__gt", ended_at)) | Q(pk__gt=number)
        place = Q((f"{ends}__gte", ended_at)) & later  # a range that the index walks


def resolve_batch(
    batch: Sequence[TradingCase],
    *,
    actor: str,
    now: datetime,
) -> Resolved:
    """Close those of the cases that a price judges, and count what they say once, in one transaction."""
    judge(batch, now=now)
    closed = [case for case in batch if case.outcome_state != OutcomeState.PENDING]
    for case, regime in zip(closed, find_regimes(closed), strict=True):
        case.regime, case.resolved_at = regime, now
    return store_judged(closed, TradingCase.objects.pending(), RESOLVED, actor=actor, now=now)


def judge_again(
    batch: Sequence[TradingCase],
    *,
    actor: str,
    now: datetime,
) -> Resolved:
    """Judge closed cases by the prices that stand now, and count anew what they say otherwise.

    What was judged stays so where no price does, where only its owner's do and the instance's did, and what expired
    where they leave a gap. What was said before is kept.
    """
    before = {case.pk: judged_values(case) for case in batch}
    judge(batch, now=now)
    changed = [case for case in batch if is_judged_otherwise(case, *before[case.pk])]
    for case in changed:
        state, _by, _gap, pnl_pct, *_prices = before[case.pk]
        said = {"until": now.isoformat(), "outcome_state": state, "pnl_pct": pnl_pct}
        case.judged_before = [*case.judged_before, said][-MAX_BEFORE:]
    closed = TradingCase.objects.exclude(outcome_state=OutcomeState.PENDING)
    return store_judged(changed, closed, (*JUDGED, "judged_before"), actor=actor, now=now)


def is_judged_otherwise(case: TradingCase, state: object, by: object, *rest: object) -> bool:
    """Say whether prices now say of a case what replaces what they said before."""
    if case.outcome_state in {OutcomeState.PENDING, OutcomeState.EXPIRED}:
        return False
    if (case.gap and state == OutcomeState.EXPIRED) or (case.had_price and by == INSTANCE != case.judged_by):
        return False
    return judged_values(case) != [state, by, *rest]


def judged_values(case: TradingCase) -> list[object]:
    """Return what prices said of a case; of their moments and of itself nothing else."""
    return [getattr(case, name) for name in JUDGED if name != "control_id"]


def store_judged(
    cases: Sequence[TradingCase],
    among: "QuerySet[TradingCase]",
    names: Sequence[str],
    *,
    actor: str,
    now: datetime,
) -> Resolved:
    """Store these columns of cases, as far as they are still `among` those, with their controls, and settle them."""
    if not cases:
        return Resolved()
    with transaction.atomic():
        rows = among.filter(pk__in=[case.pk for case in cases])
        found = set(rows.order_by("pk").select_for_update().values_list("pk", flat=True))
        ours = [case for case in cases if case.pk in found]
        link_controls(ours)
        update_rows(TradingCase, names, ours)
        counted = settle([case.pk for case in ours], actor=actor, now=now)
    return Resolved(len(ours), counted)


def link_controls(cases: Sequence[TradingCase]) -> None:
    """Give each clear case that may have one its control. Needs a transaction."""
    controlled = [case for case in cases if case.is_clear and case.horizon_hours <= MAX_CONTROLLED_HOURS]
    for is_demo in {case.is_demo for case in controlled}:
        keys = {case.pk: key_of(case.asset, case.horizon_hours, case.window_ends_at) for case in controlled}
        found = find_controls(keys.values(), is_demo=is_demo)
        for case in controlled:
            if case.is_demo == is_demo:
                case.control_id = found[keys[case.pk]].pk


def judge(cases: Sequence[TradingCase], *, now: datetime) -> None:
    """Judge cases as prices do, not stored yet; one is pending while none can."""
    windows = [(case.asset, case.window) for case in cases]
    unjudged = []
    for case, move in zip(cases, find_moves(windows, now=now), strict=True):
        if move is None:
            leave_open(case, now=now)
        else:
            close(case, move, by=INSTANCE)
        if move is None or move.gap:
            unjudged.append(case)
    for case, move in find_own_moves(unjudged, now=now):
        if move is not None and not (case.gap and move.gap):
            close(case, move, by=OWNER)


def find_own_moves(cases: Sequence[TradingCase], *, now: datetime) -> Iterator[tuple[TradingCase, Move | None]]:
    """Yield cases with the move by which their owner's own prices may close them, None without one."""
    asking: defaultdict[int, list[TradingCase]] = defaultdict(list)
    for case in cases:
        if case.had_price and not is_expired(case, now=now):
            yield case, None
        else:
            asking[case.owner_id].append(case)
    for owner_id, own in asking.items():
        windows = [(case.asset, case.window) for case in own]
        yield from zip(own, find_moves(windows, owner_id=owner_id, now=now), strict=True)


def is_expired(case: TradingCase, *, now: datetime) -> bool:
    """Say whether no price has come for a week after the window, or after the recording of a replay."""
    begun = max(case.window_ends_at, case.created_at) if case.replayed else case.window_ends_at
    return is_long_over(begun, now=now)


def is_long_over(window_ends_at: datetime, *, now: datetime) -> bool:
    """Say whether no price has come for a week after a window."""
    return now > window_ends_at + WAIT_FOR_PRICE


def leave_open(case: TradingCase, *, now: datetime) -> None:
    """Leave a case pending, or close it as expired, without prices."""
    case.outcome_state = OutcomeState.EXPIRED if is_expired(case, now=now) else OutcomeState.PENDING
    case.judged_by, case.gap, case.pnl_pct, case.control_id = "", "", None, None
    case.entry_price = case.entry_price_at = case.exit_price = case.exit_price_at = None


def judge_move(move: Move, direction: Direction) -> tuple[OutcomeState, float | None]:
    """Return what a move says of a decision in this direction, and the change in percent in that direction."""
    if move.gap or move.entry is None:
        return OutcomeState.INCONCLUSIVE, None
    change = change_pct(move.entry.price, move.exit.price)
    judged = judge_change(change, direction, band_pct=settings.MINARA.noise_band_pct)
    return STATE_OF[judged.outcome], judged.pnl_pct


def close(case: TradingCase, move: Move, *, by: str) -> None:
    """Close a case as the move judges it."""
    case.outcome_state, case.pnl_pct = judge_move(move, Direction(case.direction))
    entry = move.entry
    case.entry_price, case.entry_price_at = (entry.price, entry.at) if entry else (None, None)
    case.exit_price, case.exit_price_at = move.exit.price, move.exit.at
    case.gap, case.judged_by = move.gap or "", by
    case.control_id = None
