"""The court counts blocks as they become known, and marks what survives the whole store. Source: court.md."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from learning_app.court.core import CourtState, add_block, is_lit, next_detector, surviving
from learning_app.court.models import Block
from learning_app.methodologies.core.lifecycle import INSTANCE_HAND
from learning_app.methodologies.models import CourtReading, Methodology
from learning_app.methodologies.querysets import is_court_enforced
from learning_app.methodologies.services.lifecycle import Move, apply_moves, lock_rows
from learning_app.methodologies.services.outcomes import needs_two_hands
from learning_app.vocabulary import LifecycleKind
from minara_site.kernel.db import update_rows

JUDGED = (
    "log_evidence",
    "max_log_evidence",
    "independent_cases",
    "beats_chance",
    "decay_at",
)
DECAYED, MARK_LOST, JUDGED_ANEW = "decayed", "mark_lost", "judged_anew"


class KnownBlock(NamedTuple):
    """What the court counts of a block."""

    score: float
    chance: float
    known_at: datetime
    hand: int
    is_replayed: bool = False


def known_blocks(number: int) -> list[KnownBlock]:
    """Return the blocks of a methodology that count for the instance, in the order in which they became known."""
    rows: Any = Block.objects.filter(methodology=number, is_own=False, known_at__isnull=False)
    ordered = rows.order_by("known_at", "starts_at", "pk").values_list(*KnownBlock._fields)
    return list(map(KnownBlock._make, ordered))


def count_blocks(numbers: Collection[int], *, actor: str, now: datetime) -> None:
    """Count anew the known blocks of methodologies; where the court is enforced, what has decayed is demoted.

    Needs a transaction.
    """
    changed, moves = [], []
    for row in lock_rows(numbers).values():
        before = [getattr(row, name) for name in JUDGED]
        had_mark, blocks = row.beats_chance, known_blocks(row.pk)
        count_row(row, blocks)
        if before != [getattr(row, name) for name in JUDGED]:
            changed.append(row)
        if had_mark and not row.beats_chance:
            moves.append(Move(row, LifecycleKind.REFLECTION_ADJUSTED, details={MARK_LOST: "beats_chance"}))
        if is_court_enforced() and row.decay_at and not row.quarantine and has_decayed_without_each(blocks):
            moves.append(Move(row, LifecycleKind.DEMOTED, {"quarantine": 1}, {DECAYED: 1}))
    update_rows(Methodology, JUDGED, changed)
    keep_readings(changed, now=now)
    apply_moves(moves, actor=actor, now=now)


def count_row(row: Methodology, blocks: Sequence[KnownBlock]) -> None:
    """Put into a row what its blocks come to."""
    state, decay_at = CourtState(), None
    for block in blocks:
        state = add_block(state, score=block.score, chance=block.chance)
        decay_at = (decay_at or block.known_at) if state.is_decaying else None
    row.log_evidence = state.log_evidence if blocks else None
    row.max_log_evidence = state.max_log_evidence if blocks else None
    row.independent_cases, row.beats_chance, row.decay_at = state.blocks, state.beats_chance, decay_at


def has_decayed_without_each(blocks: Sequence[KnownBlock]) -> bool:
    """Say whether the light is on without the blocks of any single owner too; one who holds all is not left out."""
    hands = {block.hand for block in blocks}
    if len(hands) == 1 or not needs_two_hands():
        return True
    state = CourtState()
    detectors = dict.fromkeys(hands - {INSTANCE_HAND}, state.detector)
    for block in blocks:
        state = add_block(state, score=block.score, chance=block.chance)
        for hand in detectors.keys() - {block.hand} if state.beats_chance else ():
            detectors[hand] = next_detector(detectors[hand], score=block.score, chance=block.chance)
    return all(map(is_lit, detectors.values()))


def keep_readings(rows: Collection[Methodology], *, now: datetime) -> None:
    """Keep what the court says of methodologies from now on."""
    CourtReading.objects.bulk_create(
        CourtReading(
            methodology=row,
            at=now,
            log_evidence=row.log_evidence or 0.0,
            max_log_evidence=row.max_log_evidence or 0.0,
            independent_cases=row.independent_cases,
            beats_chance=row.beats_chance,
            survives_store=row.survives_store,
            decay_at=row.decay_at,
        )
        for row in rows
    )


def mark_survivors(*, now: datetime, is_demo: bool = False) -> int:
    """Mark the methodologies that survive the whole store (e-BH at 10 %), or the demo's; return how many."""
    store = Methodology.objects.filter(is_demo=is_demo)
    judged = store.filter(independent_cases__gt=0)
    chosen = surviving({row.pk: row.e_value for row in judged.only("pk", "log_evidence")})
    was = set(store.filter(survives_store=True).values_list("pk", flat=True))
    for numbers, survives in ((was - chosen, False), (chosen - was, True)):
        rows = Methodology.objects.filter(pk__in=numbers)
        rows.update(survives_store=survives)
        keep_readings(rows, now=now)
    return len(chosen)
