"""The court counts blocks as they become known, and marks what survives the whole store. Source: court.md."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from learning_app.court.core import CourtState, add_block, is_lit, next_detector, surviving
from learning_app.court.models import Block, CourtRecord
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
DECAYED, MARK_LOST = "decayed", "mark_lost"
Order = tuple[datetime, datetime, int]


def order_of(block: Block) -> Order:
    """Return where a known block stands in the order in which blocks become known."""
    assert block.known_at, "only known blocks have an order"
    return block.known_at, block.starts_at, block.pk


def known_blocks(number: int) -> list[Block]:
    """Return the blocks of a methodology that count for the instance and are known, in their order. One query."""
    rows = Block.objects.filter(methodology=number, is_own=False, known_at__isnull=False)
    return list(rows.order_by("known_at", "starts_at", "pk"))


def count_blocks(
    added: Iterable[Block],
    changed: Iterable[int],
    *,
    actor: str,
    now: datetime,
) -> None:
    """Count blocks that became known, and anew all of the methodologies in `changed`, whose known blocks are others.

    Where the court is enforced, what has decayed is demoted. Needs a transaction.
    """
    new: defaultdict[int, list[Block]] = defaultdict(list)
    for block in added:
        new[block.methodology_id].append(block)
    anew = set(changed)
    rows = lock_rows(new.keys() | anew)
    records: dict[int, CourtRecord | None] = {**CourtRecord.objects.in_bulk(rows)}
    moves = []
    for number, row in rows.items():
        blocks, record = sorted(new[number], key=order_of), records.get(number)
        is_next = record is None or not blocks or order_of(blocks[0]) > last_of(record)
        if number in anew or not is_next:
            blocks, record = known_blocks(number), None
        had_mark = row.beats_chance
        records[number] = run_on(row, record, blocks)
        if had_mark and not row.beats_chance:
            moves.append(Move(row, LifecycleKind.REFLECTION_ADJUSTED, details={MARK_LOST: "beats_chance"}))
    update_rows(Methodology, JUDGED, rows.values())
    CourtRecord.objects.filter(pk__in=[number for number, record in records.items() if record is None]).delete()
    CourtRecord.objects.bulk_create(
        [record for record in records.values() if record],
        update_conflicts=True,
        unique_fields=["methodology"],
        update_fields=["log_products", "detector", "last_known_at", "last_starts_at", "last_block"],
    )
    CourtReading.objects.bulk_create(reading_of(row, now) for row in rows.values())
    if is_court_enforced():
        moves += [
            Move(row, LifecycleKind.DEMOTED, {"quarantine": 1}, {DECAYED: 1})
            for row in rows.values()
            if row.decay_at and not row.quarantine and has_decayed_without_each(row)
        ]
    apply_moves(moves, actor=actor, now=now)


def last_of(record: CourtRecord) -> Order:
    """Return where the last block stands that a record has counted."""
    return record.last_known_at, record.last_starts_at, record.last_block


def run_on(row: Methodology, record: CourtRecord | None, blocks: Sequence[Block]) -> CourtRecord | None:
    """Count blocks on from a record, or from the beginning, and put what they come to into the row.

    Returns the record of the last block, None without one.
    """
    state = state_of(record, row)
    decay_at = row.decay_at if record else None
    for block in blocks:
        score, chance = block.weighed
        state = add_block(state, score=score, chance=chance)
        decay_at = (decay_at or block.known_at) if state.is_decaying else None
    row.log_evidence, row.max_log_evidence = (
        (state.log_evidence, state.max_log_evidence) if state.blocks else (None,) * 2
    )
    row.independent_cases, row.beats_chance, row.decay_at = state.blocks, state.beats_chance, decay_at
    if not blocks:
        return record
    known_at, starts_at, number = order_of(blocks[-1])
    return CourtRecord(
        methodology_id=row.pk,
        log_products=list(state.log_products),
        detector=list(state.detector),
        last_known_at=known_at,
        last_starts_at=starts_at,
        last_block=number,
    )


def state_of(record: CourtRecord | None, row: Methodology) -> CourtState:
    """Return the state as the court counts it on."""
    if record is None:
        return CourtState()
    small, large = record.log_products
    return CourtState((small, large), row.max_log_evidence or 0.0, row.independent_cases, tuple(record.detector))


def has_decayed_without_each(row: Methodology) -> bool:
    """Say whether the light is on without the blocks of any single owner too; one who holds all is not left out."""
    if not needs_two_hands():
        return True
    blocks, state = known_blocks(row.pk), CourtState()
    hands = {block.hand for block in blocks} - {INSTANCE_HAND}
    if len({block.hand for block in blocks}) == 1:
        return True
    detectors = dict.fromkeys(hands, state.detector)
    for block in blocks:
        score, chance = block.weighed
        state = add_block(state, score=score, chance=chance)
        for hand in hands - {block.hand} if state.beats_chance else ():
            detectors[hand] = next_detector(detectors[hand], score=score, chance=chance)
    return all(map(is_lit, detectors.values()))


def reading_of(row: Methodology, at: datetime) -> CourtReading:
    """Return what the court says of a methodology now, to be kept."""
    return CourtReading(
        methodology=row,
        at=at,
        log_evidence=row.log_evidence or 0.0,
        max_log_evidence=row.max_log_evidence or 0.0,
        independent_cases=row.independent_cases,
        beats_chance=row.beats_chance,
        survives_store=row.survives_store,
        decay_at=row.decay_at,
    )


def mark_survivors(*, now: datetime, is_demo: bool = False) -> int:
    """Mark the methodologies that survive the whole store (e-BH at 10 %), or the demo's; return how many."""
    store = Methodology.objects.filter(is_demo=is_demo)
    judged = store.filter(independent_cases__gt=0)
    chosen = surviving({row.pk: row.e_value for row in judged.only("pk", "log_evidence")})
    was = set(store.filter(survives_store=True).values_list("pk", flat=True))
    for numbers, survives in ((was - chosen, False), (chosen - was, True)):
        Methodology.objects.filter(pk__in=numbers).update(survives_store=survives)
        CourtReading.objects.bulk_create(reading_of(row, now) for row in Methodology.objects.filter(pk__in=numbers))
    return len(chosen)
