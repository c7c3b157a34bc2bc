"""What cases that were judged, or judged again, make of their blocks: counters, tallies, evidence. Source: court.md.

A block counts by its first clear case, once no earlier one is open. What counted otherwise before is reversed: an
outcome that compensates it, and the right one. The court counts a block once all its cases are closed and the controls
of the clear ones are known.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean
from typing import Any

from django.db.models import Q

from learning_app.cases.models import CaseHint, TradingCase
from learning_app.court.core import MAX_CONTROLLED_HOURS, log_e, log_factors
from learning_app.court.models import Block
from learning_app.court.services.evidence import count_blocks
from learning_app.methodologies.core.lifecycle import BEGINNINGS
from learning_app.methodologies.models import LifecycleEvent, Tally
from learning_app.methodologies.services.lifecycle import lock_rows
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from learning_app.vocabulary import LifecycleKind, OutcomeState
from minara_site.kernel.db import update_rows

COUNTED = ("counted_case", "is_right")
SETTLED = (*COUNTED, "is_waiting", "score", "chance", "known_at")
PLACED = ("hand", "starts_at", "ends_at", "decided_at", "recorded_at", "is_replayed")


@dataclass(slots=True)
class Settlement:
    """What is to be written for some blocks."""

    outcomes: list[NewOutcome] = field(default_factory=list)
    hints: list[CaseHint] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    moved: list[Block] = field(default_factory=list)

    def write(self, *, actor: str, now: datetime) -> int:
        """Write it; return how many outcomes were counted. Needs a transaction."""
        update_rows(Block, SETTLED, self.blocks)
        update_rows(Block, PLACED, self.moved)
        update_rows(CaseHint, ("credited_at", "word"), self.hints)
        if self.outcomes:
            apply_outcomes(self.outcomes, actor=actor, now=now)
        changed = [*self.blocks, *self.moved]
        count_tallies({block.methodology_id for block in changed})
        count_blocks({block.methodology_id for block in changed if not block.is_own}, actor=actor, now=now)
        return sum(outcome.reverses is None for outcome in self.outcomes)


def settle(cases: Iterable[int], *, actor: str, now: datetime) -> int:
    """Settle the blocks and words that cases touch; return how many outcomes were counted. Needs a transaction."""
    touched = CaseHint.objects.filter(case__in=list(cases))
    keys = touched.values_list("block_id", "own_block_id")
    words = list(touched.filter(word__isnull=False))
    return settle_blocks({key for pair in keys for key in pair if key}, words, actor=actor, now=now)


def settle_blocks(
    keys: Collection[int],
    words: Sequence[CaseHint] = (),
    *,
    actor: str,
    now: datetime,
) -> int:
    """Settle these blocks, and what operators said of cases; return how many outcomes were counted.

    The methodologies are locked before any row of theirs changes. Needs a transaction.
    """
    numbers = Block.objects.filter(pk__in=keys).values_list("methodology_id", flat=True)
    lock_rows([*numbers, *(hint.methodology_id for hint in words)])
    found = Settlement()
    for block, hints in load_blocks(keys):
        settle_block(block, hints, found, now=now)
    for hint in words:
        settle_word(hint, found)
    return found.write(actor=actor, now=now)


def load_blocks(keys: Collection[int]) -> list[tuple[Block, list[CaseHint]]]:
    """Return blocks with their hints by case, in the order in which they end; of erased cases none. Two queries."""
    blocks = Block.objects.in_bulk(list(keys))
    hints = CaseHint.objects.filter(Q(block__in=keys) | Q(own_block__in=keys)).select_related("case__control")
    of_block: defaultdict[int, list[CaseHint]] = defaultdict(list)
    for hint in hints.defer("case__decision", "case__asset_text").order_by("case_id"):
        for key in (hint.block_id, hint.own_block_id):
            if key is not None and key in blocks:
                of_block[key].append(hint)
    return sorted(
        ((blocks[key], found) for key, found in of_block.items()),
        key=lambda pair: (pair[0].ends_at, pair[0].case_id, pair[0].pk),
    )


def settle_block(block: Block, hints: Sequence[CaseHint], found: Settlement, *, now: datetime) -> None:
    """Fill in what a block says now, and note what that changes."""
    before, cases = [getattr(block, name) for name in SETTLED], [hint.case for hint in hints]
    if cases[0].pk == block.case_id and place_block(block, cases):  # else the first one was erased
        found.moved.append(block)
    counting = find_counting(cases)
    block.counted_case, block.is_right = (counting.pk, counting.is_right) if counting else (None, None)
    weigh_block(block, cases)
    after = [getattr(block, name) for name in SETTLED]
    if before != after:
        found.blocks.append(block)
    if block.is_own:
        return
    for hint in hints:
        if (hint.case_id == block.counted_case) != (hint.credited_at is not None):
            hint.credited_at = None if hint.credited_at else now
            found.hints.append(hint)
    if before[:2] != after[:2]:
        count_again(block, *before[:2], found=found)


def place_block(block: Block, cases: Sequence[TradingCase]) -> bool:
    """Fill in what a block has of its first case, and the end of its longest window; say whether that is new."""
    first, before = cases[0], [getattr(block, name) for name in PLACED]
    block.hand, block.is_replayed = first.hand, first.replayed
    block.decided_at, block.recorded_at = first.decided_at, first.created_at
    block.starts_at, block.ends_at = first.window.starts_at, max(case.window_ends_at for case in cases)
    return before != [getattr(block, name) for name in PLACED]


def find_counting(cases: Sequence[TradingCase]) -> TradingCase | None:
    """Return the first clear case of a block, in the order of ids, once no earlier one is open."""
    for case in cases:
        if case.outcome_state == OutcomeState.PENDING:
            return None
        if case.is_clear:
            return case
    return None


def count_again(
    block: Block,
    was_counted: int | None,
    was_right: bool | None,  # noqa: FBT001 - as the block had it
    *,
    found: Settlement,
) -> None:
    """Note the outcome that a block counts now, and the reversal of what it counted before.

    What counted before the counters began anew is neither reversed nor counted again.
    """
    number, hand = block.methodology_id, block.hand
    if was_counted is not None:
        event = find_event(number, was_counted)
        if event is None:
            return
        found.outcomes.append(NewOutcome(number, bool(was_right), was_counted, hand, reverses=event))
    if block.is_right is not None:
        found.outcomes.append(NewOutcome(number, block.is_right, block.counted_case, hand))


def find_event(number: int, case_id: int) -> int | None:
    """Return the event of the outcome of a case that counts, None when the counters began anew since."""
    of_method = LifecycleEvent.objects.filter(methodology=number).order_by("-pk")
    begun = of_method.filter(kind__in=BEGINNINGS).values_list("pk", flat=True).first()
    events = of_method.filter(case_id=case_id, kind=LifecycleKind.OUTCOME_RECORDED, pk__gt=begun or 0)
    return events.exclude(details__has_key="reverses").values_list("pk", flat=True).first()


def weigh_block(block: Block, cases: Sequence[TradingCase]) -> None:
    """Fill in what the court counts of a block, nothing while it is not known or has no control."""
    controlled = [case for case in cases if case.is_clear and case.horizon_hours <= MAX_CONTROLLED_HOURS]
    is_open = any(case.outcome_state == OutcomeState.PENDING for case in cases)
    block.is_waiting = bool(controlled) and (is_open or any(case.control_known_at is None for case in controlled))
    block.score = block.chance = block.known_at = None
    said = [] if is_open or block.is_waiting else [case for case in controlled if case.chance is not None]
    if said:
        block.score = fmean(case.is_right for case in said)
        block.chance = fmean(case.chance or 0.0 for case in said)
        block.known_at = max(at for case in said for at in (case.exit_price_at, case.control_known_at) if at)


def settle_word(hint: CaseHint, found: Settlement) -> None:
    """Note where a price contradicts what an operator said of a case: the price's outcome takes its place."""
    case, number = hint.case, hint.methodology_id
    if case.is_clear and case.is_right != hint.word:
        if event := find_event(number, case.pk):
            found.outcomes.append(NewOutcome(number, bool(hint.word), case.pk, reverses=event))
            found.outcomes.append(NewOutcome(number, case.is_right, case.pk))
        hint.word = case.is_right
        found.hints.append(hint)


def count_tallies(numbers: Collection[int]) -> None:
    """Count anew what each hand has of methodologies by their blocks, and its own evidence. Needs a transaction."""
    found: dict[tuple[int, int], Tally] = {}
    logs: defaultdict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    blocks: Any = Block.objects.filter(methodology__in=numbers, is_right__isnull=False)
    for number, hand, is_own, is_right, score, chance in blocks.values_list(
        "methodology_id", "hand", "is_own", "is_right", "score", "chance"
    ):
        tally = found.setdefault((number, hand), Tally(methodology_id=number, hand=hand))
        if not is_own:
            tally.used, tally.right = tally.used + 1, tally.right + is_right
            continue
        tally.own_used, tally.own_right = tally.own_used + 1, tally.own_right + is_right
        if score is not None:
            small, large = log_factors(score, chance)
            logs[number, hand][0] += small
            logs[number, hand][1] += large
    for key, products in logs.items():
        found[key].own_log_e = log_e(products)
    Tally.objects.filter(methodology__in=numbers).delete()
    Tally.objects.bulk_create(found.values())
