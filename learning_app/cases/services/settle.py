"""What cases that were judged, or judged again, make of their blocks: counters, tallies, evidence. Source: court.md.

A block counts by its first clear case, once no earlier one is open. What counted otherwise before is reversed: an
outcome that compensates it, and the right one, between which the rule is not asked. The court counts a block once all
its cases are closed and the controls of the clear ones are known.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean

from django.db.models import Q

from learning_app.cases.models import CaseHint, TradingCase
from learning_app.court.core import MAX_CONTROLLED_HOURS, log_e, log_factors
from learning_app.court.models import Block
from learning_app.court.services.evidence import count_blocks
from learning_app.methodologies.core.lifecycle import INSTANCE_HAND
from learning_app.methodologies.models import LifecycleEvent, Methodology, Tally
from learning_app.methodologies.services.lifecycle import lock_rows
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from learning_app.vocabulary import LifecycleKind, OutcomeState
from minara_site.kernel.db import update_rows

SETTLED = ("counted_case", "is_right", "is_waiting", "score", "chance", "known_at", "counted_at")
OWN = ("own_used", "own_right", "own_log_small", "own_log_large")


@dataclass(slots=True)
class Settlement:
    """What is to be written for some blocks: outcomes, hints, and what the court and the owners' tallies gain."""

    outcomes: list[NewOutcome] = field(default_factory=list)
    hints: list[CaseHint] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    added: list[Block] = field(default_factory=list)
    changed: set[int] = field(default_factory=set)
    own: defaultdict[tuple[int, int], list[float]] = field(default_factory=lambda: defaultdict(lambda: [0.0] * 4))


def settle(cases: Iterable[int], *, actor: str, now: datetime) -> int:
    """Settle the blocks and words that these cases touch; return how many outcomes were counted. Needs a transaction.

    The methodologies are locked here, before any row of theirs changes.
    """
    touched = CaseHint.objects.filter(case__in=list(cases))
    touched = touched.filter(Q(block__isnull=False) | Q(own_block__isnull=False) | Q(word__isnull=False))
    keys = list(touched.values_list("methodology_id", "block_id", "own_block_id", "pk", "word"))
    if not keys:
        return 0
    lock_rows(number for number, *_rest in keys)
    blocks = {key for _number, block, own, _pk, _word in keys for key in (block, own) if key}
    found = Settlement()
    for block, hints in load_blocks(blocks):
        settle_block(block, hints, found, now=now)
    settle_words([pk for _number, _block, _own, pk, word in keys if word is not None], found, now=now)
    write(found, actor=actor, now=now)
    return sum(outcome.reverses is None for outcome in found.outcomes)


def load_blocks(keys: Collection[int]) -> Iterable[tuple[Block, list[CaseHint]]]:
    """Return blocks with their hints by case, in the order in which they were resolved. Three queries."""
    blocks = Block.objects.in_bulk(list(keys))
    hints = CaseHint.objects.filter(Q(block__in=keys) | Q(own_block__in=keys)).select_related("case__control")
    of_block: defaultdict[int, list[CaseHint]] = defaultdict(list)
    for hint in hints.defer("case__decision", "case__asset_text").order_by("case_id"):
        for key in (hint.block_id, hint.own_block_id):
            if key is not None and key in blocks:
                of_block[key].append(hint)
    return sorted(
        ((block, of_block[key]) for key, block in blocks.items()),
        key=lambda pair: (pair[0].ends_at, pair[0].case_id, pair[0].pk),
    )


def settle_block(block: Block, hints: Sequence[CaseHint], found: Settlement, *, now: datetime) -> None:
    """Fill in what a block says now, and note what that changes."""
    before = [getattr(block, name) for name in SETTLED]
    counting = find_counting([hint.case for hint in hints])
    was = (block.counted_case, block.is_right)
    block.counted_case, block.is_right = (counting.pk, counting.is_right) if counting else (None, None)
    if was != (block.counted_case, block.is_right):
        if block.is_own:
            count_own(block, found, was_right=was[1])
        else:
            count_again(block, was, hints, found, now=now)
    factors = known_factors(block)
    weigh_block(block, [hint.case for hint in hints], now=now)
    if block.is_own:
        tally = found.own[block.methodology_id, block.hand]
        for place, (new, old) in enumerate(zip(known_factors(block), factors, strict=True), 2):
            tally[place] += new - old
    elif before[3:6] != [block.score, block.chance, block.known_at]:
        if before[5] is None:
            found.added.append(block)
        else:
            found.changed.add(block.methodology_id)
    if before != [getattr(block, name) for name in SETTLED]:
        found.blocks.append(block)


def find_counting(cases: Sequence[TradingCase]) -> TradingCase | None:
    """Return the first clear case of a block, in the order of ids, once no earlier one is open."""
    for case in cases:
        if case.outcome_state == OutcomeState.PENDING:
            return None
        if case.is_clear:
            return case
    return None


def count_own(block: Block, found: Settlement, *, was_right: bool | None) -> None:
    """Note what the owner's own counters gain."""
    tally = found.own[block.methodology_id, block.hand]
    for is_right, sign in ((was_right, -1), (block.is_right, 1)):
        if is_right is not None:
            tally[0] += sign
            tally[1] += sign * is_right


def count_again(
    block: Block,
    was: tuple[int | None, bool | None],
    hints: Sequence[CaseHint],
    found: Settlement,
    *,
    now: datetime,
) -> None:
    """Note the outcome that a block counts now, and the reversal of what it counted before."""
    case_id, is_right = was
    for hint in hints:
        is_counted = hint.case_id == block.counted_case
        if is_counted != (hint.credited_at is not None):
            hint.credited_at = now if is_counted else None
            found.hints.append(hint)
    if case_id is not None and is_right is not None:
        found.outcomes.append(
            NewOutcome(
                block.methodology_id,
                is_right,
                case_id,
                block.hand,
                reverses=find_event(block.methodology_id, case_id),
                is_last=block.is_right is None,
            )
        )
    if block.is_right is not None:
        found.outcomes.append(NewOutcome(block.methodology_id, block.is_right, block.counted_case, block.hand))


def find_event(number: int, case_id: int) -> int:
    """Return the event of the outcome of a case that counts. It is there."""
    events = LifecycleEvent.objects.filter(methodology=number, case_id=case_id, kind=LifecycleKind.OUTCOME_RECORDED)
    found: int = events.exclude(details__has_key="reverses").order_by("-pk").values_list("pk", flat=True)[0]
    return found


def weigh_block(block: Block, cases: Sequence[TradingCase], *, now: datetime) -> None:
    """Fill in what the court counts of a block, nothing while it is not known or has no control."""
    clear = [case for case in cases if case.is_clear]
    is_open = any(case.outcome_state == OutcomeState.PENDING for case in cases)
    controlled = [case for case in clear if case.horizon_hours <= MAX_CONTROLLED_HOURS]
    waiting = [case for case in controlled if case.control is None or case.control.known_at is None]
    block.is_waiting = bool(controlled) and (is_open or bool(waiting))
    weighed = [] if is_open or waiting else [case for case in controlled if case.chance is not None]
    if not weighed:
        block.score = block.chance = block.known_at = block.counted_at = None
        return
    said = (fmean(case.is_right for case in weighed), fmean(case.chance or 0.0 for case in weighed))
    known_at = max(
        at for case in weighed for at in (case.exit_price_at, case.control.known_at if case.control else None) if at
    )
    if (block.score, block.chance, block.known_at) != (*said, known_at):
        block.score, block.chance = said
        block.known_at, block.counted_at = known_at, now


def known_factors(block: Block) -> tuple[float, float]:
    """Return by what a block moves the products of an owner's own evidence."""
    return (0.0, 0.0) if block.known_at is None else log_factors(*block.weighed)


def settle_words(keys: Collection[int], found: Settlement, *, now: datetime) -> None:
    """Note where a price contradicts what an operator said of a case: the price's outcome takes its place."""
    for hint in CaseHint.objects.filter(pk__in=keys).select_related("case").defer("case__decision"):
        case, word = hint.case, hint.word
        if word is None or not case.is_clear or case.is_right == word:
            continue
        number, event = hint.methodology_id, find_event(hint.methodology_id, case.pk)
        found.outcomes.append(NewOutcome(number, word, case.pk, reverses=event, is_last=False))
        found.outcomes.append(NewOutcome(number, case.is_right, case.pk))
        hint.word = case.is_right
        found.hints.append(hint)


def write(found: Settlement, *, actor: str, now: datetime) -> None:
    """Write a settlement."""
    update_rows(Block, SETTLED, found.blocks)
    update_rows(CaseHint, ("credited_at", "word"), found.hints)
    if found.outcomes:
        apply_outcomes(found.outcomes, actor=actor, now=now)
    write_own(found.own)
    if found.added or found.changed:
        count_blocks(found.added, found.changed, actor=actor, now=now)


def write_own(gains: Mapping[tuple[int, int], Sequence[float]]) -> None:
    """Add to the owners' own counters and evidence."""
    gains = {key: gain for key, gain in gains.items() if any(gain)}
    if not gains:
        return
    rows = Tally.objects.filter(
        methodology__in={number for number, _hand in gains},
        hand__in={hand for _number, hand in gains},
    )
    tallies = {(row.methodology_id, row.hand): row for row in rows}
    for (number, hand), (used, right, small, large) in gains.items():
        row = tallies.setdefault((number, hand), Tally(methodology_id=number, hand=hand))
        row.own_used, row.own_right = row.own_used + int(used), row.own_right + int(right)
        row.own_log_small, row.own_log_large = row.own_log_small + small, row.own_log_large + large
        row.own_log_e = log_e((row.own_log_small, row.own_log_large))
    Tally.objects.bulk_create(
        [tallies[key] for key in sorted(gains)],
        update_conflicts=True,
        unique_fields=["methodology", "hand"],
        update_fields=[*OWN, "own_log_e"],
    )


def find_tallies(rows: Collection[Methodology]) -> dict[tuple[int, int], list[float]]:
    """Return what each hand has of methodologies by their blocks: used, right, and OWN. One query.

    The instance's own has what no other has of the counters: what they began with, words, and committees' outcomes.
    """
    found: defaultdict[tuple[int, int], list[float]] = defaultdict(lambda: [0] * 6)
    for row in rows:
        found[row.pk, INSTANCE_HAND][:2] = row.times_used, row.times_correct
    for block in Block.objects.filter(methodology__in=rows, is_right__isnull=False):
        tally, instance = found[block.methodology_id, block.hand], found[block.methodology_id, INSTANCE_HAND]
        if block.is_own:
            gains = (1, bool(block.is_right), *known_factors(block))
            tally[2:] = [value + gain for value, gain in zip(tally[2:], gains, strict=True)]
        elif block.hand != INSTANCE_HAND:
            for place, gain in enumerate((1, bool(block.is_right))):
                tally[place] += gain
                instance[place] -= gain
    return {key: values for key, values in found.items() if any(values)}


def count_tallies(rows: Collection[Methodology]) -> None:
    """Store anew what each hand has of methodologies by their blocks. Needs a transaction."""
    found = find_tallies(rows)
    Tally.objects.filter(methodology__in=rows).delete()
    Tally.objects.bulk_create(
        Tally(
            methodology_id=number,
            hand=hand,
            used=used,
            right=right,
            **dict(zip(OWN, own, strict=True)),
            own_log_e=log_e(own[2:]),
        )
        for (number, hand), (used, right, *own) in found.items()
    )
