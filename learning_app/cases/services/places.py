"""Which of the cases just recorded count, once, for the instance and for their owner. Source: court.md (counting once).

A case counts when its window meets no other that counts; what was recorded first keeps its time, whatever becomes of
it.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from learning_app.cases.models import CaseHint, TradingCase
from learning_app.court.core import LOG_LOW, find_met, is_same_bet
from learning_app.court.models import Block
from learning_app.methodologies.core.lifecycle import INSTANCE_HAND
from learning_app.methodologies.models import Methodology, Tally
from learning_app.methodologies.services.lifecycle import lock_rows
from learning_app.vocabulary import HORIZON_HOURS, Timeframe, Uncounted
from minara_site.kernel.db import update_rows

Recorded = tuple[TradingCase, Sequence[Methodology]]


def store_hints(recorded: Sequence[Recorded]) -> list[CaseHint]:
    """Store the hints of stored cases, each with its block where it counts. Needs a transaction."""
    hints = [
        CaseHint(case=case, methodology=row, position=position)
        for case, hinted in recorded
        for position, row in enumerate(hinted)
    ]
    if hints:
        place_hints(hints)
        CaseHint.objects.bulk_create(hints)
    return hints


def place_hints(hints: Sequence[CaseHint]) -> None:
    """Fill in which blocks these hints belong to, in their order, and store those. Needs a transaction."""
    lock_rows(hint.methodology_id for hint in hints)
    for hint in hints:
        hint.why = hint.own_why = why_not(hint)
    counting = [hint for hint in hints if not hint.why]
    if not counting:
        return
    places, low = Places.load(counting), find_low_evidence(counting)
    for hint in counting:
        hint.own_block, hint.own_met_case = places.take(hint, is_own=True)
        if hint.own_block is None:
            hint.own_why = Uncounted.OVERLAPS
        if (hint.methodology_id, hint.case.hand) in low:
            hint.why = Uncounted.LOW_EVIDENCE
            continue
        hint.block, hint.met_case = places.take(hint, is_own=False)
        if hint.block is None:
            hint.why = Uncounted.OVERLAPS
    Block.objects.bulk_create(places.new)
    update_rows(Block, ("ends_at",), places.longer)
    for hint in counting:  # what was assigned before it was stored had no id yet
        hint.block, hint.own_block = hint.block, hint.own_block


def why_not(hint: CaseHint) -> str:
    """Return why a case cannot count for a methodology, whoever else decided what; empty when it may."""
    case, row = hint.case, hint.methodology
    if row.direction != case.direction:
        return Uncounted.OTHER_DIRECTION
    if case.backdated:
        return Uncounted.BACKDATED
    if not case.had_price:
        return Uncounted.NO_INSTANCE_PRICE
    return Uncounted.LONGER_THAN_TIMEFRAME if case.horizon_hours > HORIZON_HOURS[Timeframe(row.timeframe)] else ""


def find_low_evidence(hints: Sequence[CaseHint]) -> set[tuple[int, int]]:
    """Return which hands take no place of which methodologies: their evidence is below a half, another's above 1."""
    keys = {(hint.methodology_id, hint.case.hand) for hint in hints if hint.case.hand != INSTANCE_HAND}
    tallies = Tally.objects.filter(methodology__in={number for number, _hand in keys})
    found = tallies.filter(hand__in={hand for _number, hand in keys}, own_log_e__lt=LOG_LOW)
    low = keys & set(found.values_list("methodology_id", "hand")) if keys else set()
    if not low:
        return set()
    good = set(tallies.filter(own_log_e__gt=0).values_list("methodology_id", flat=True))
    return {(number, hand) for number, hand in low if number in good}


@dataclass(slots=True)
class Places:
    """The blocks of some methodologies around a time, in order: the instance's (None) and those of hands.

    `longer` are those that a case made end later.
    """

    blocks: defaultdict[tuple[int, int | None], list[Block]] = field(default_factory=lambda: defaultdict(list))
    new: list[Block] = field(default_factory=list)
    longer: list[Block] = field(default_factory=list)

    @classmethod
    def load(cls, hints: Sequence[CaseHint]) -> "Places":
        """Return the blocks that these hints may meet. Two queries."""
        windows, found = [hint.case.window for hint in hints], cls()
        near = Block.objects.filter(
            methodology__in={hint.methodology_id for hint in hints},
            ends_at__gt=min(window.starts_at for window in windows),
            starts_at__lt=max(window.ends_at for window in windows),
        ).order_by("starts_at")
        own = near.filter(is_own=True, hand__in={hint.case.hand for hint in hints})
        for block in (*near.filter(is_own=False), *own):
            found.blocks[block.methodology_id, block.hand if block.is_own else None].append(block)
        return found

    def take(self, hint: CaseHint, *, is_own: bool) -> tuple[Block | None, int | None]:
        """Return the block of a hint, a new one or that of the same bet, else the case that holds the time."""
        case, window = hint.case, hint.case.window
        blocks = self.blocks[hint.methodology_id, case.hand if is_own else None]
        met = find_met(blocks, window.starts_at, window.ends_at)
        if not met:
            block = Block(
                methodology=hint.methodology,
                is_own=is_own,
                hand=case.hand,
                case_id=case.pk,
                starts_at=window.starts_at,
                ends_at=window.ends_at,
                decided_at=case.decided_at,
                recorded_at=case.created_at,
                is_replayed=case.replayed,
            )
            insort(blocks, block, key=start_of)
            self.new.append(block)
            return block, None
        first = met[0]
        is_same = is_same_bet(first, decided_at=case.decided_at, recorded_at=case.created_at, hand=case.hand)
        if len(met) > 1 or not is_same:
            return None, first.case_id
        if window.ends_at > first.ends_at:
            first.ends_at = window.ends_at
            if first.pk:
                self.longer.append(first)
        return first, None


def start_of(block: Block) -> datetime:
    """Return when a block begins."""
    return block.starts_at
