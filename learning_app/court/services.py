"""The court counts blocks, and marks what survives the whole store. Source: court.md."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from learning_app.court.core import CourtState, add_block, beats_chance, is_decaying, log_evidence, new_state, surviving
from learning_app.court.models import CourtRecord
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.querysets import is_court_enforced
from learning_app.methodologies.services.lifecycle import Move, apply_moves, lock_rows
from learning_app.vocabulary import LifecycleKind
from minara_site.kernel.db import update_rows

JUDGED = (
    "log_evidence",
    "max_log_evidence",
    "independent_cases",
    "beats_chance",
    "decay_at",
)
DECAYED = "decayed"


@dataclass(frozen=True, slots=True)
class Observation:
    """One block of a methodology: the mean outcome and the mean base rate of its cases, in [0, 1], and its end."""

    number: int
    score: float
    base_rate: float
    at: datetime


def add_blocks(
    observations: Sequence[Observation],
    *,
    actor: str,
    now: datetime,
) -> None:
    """Count blocks in their order; where the court is enforced, what has decayed is demoted. Needs a transaction."""
    if not observations:
        return
    rows = lock_rows(each.number for each in observations)
    states = {record.pk: state_of(record, rows[record.pk]) for record in CourtRecord.objects.filter(pk__in=rows)}
    known = set(states)
    for each in observations:
        row = rows[each.number]
        state = add_block(
            states.get(each.number) or new_state(),
            score=each.score,
            base_rate=each.base_rate,
        )
        states[each.number] = state
        row.log_evidence, row.max_log_evidence = log_evidence(state), state.max_log_evidence
        row.independent_cases, row.beats_chance = state.blocks, beats_chance(state)
        row.decay_at = (row.decay_at or each.at) if is_decaying(state) else None
    decayed = [row for row in rows.values() if row.decay_at and not row.quarantine] if is_court_enforced() else []
    update_rows(Methodology, JUDGED, rows.values())
    moves = [Move(row, LifecycleKind.DEMOTED, {"quarantine": 1}, {DECAYED: 1}) for row in decayed]
    apply_moves(moves, actor=actor, now=now)
    records = {pk: record_of(pk, state) for pk, state in states.items()}
    CourtRecord.objects.bulk_create(record for pk, record in records.items() if pk not in known)
    update_rows(
        CourtRecord,
        ("log_products", "detector"),
        [records[pk] for pk in known],
    )


def state_of(record: CourtRecord, row: Methodology) -> CourtState:
    """Return the state as the court multiplies it on."""
    return CourtState(
        tuple(record.log_products),
        row.max_log_evidence or 0.0,
        row.independent_cases,
        tuple(record.detector),
    )


def record_of(pk: int, state: CourtState) -> CourtRecord:
    """Return the unsaved record of a state."""
    return CourtRecord(
        methodology_id=pk,
        log_products=list(state.log_products),
        detector=list(state.detector),
    )


def mark_survivors(*, is_demo: bool = False) -> int:
    """Mark the methodologies that survive the whole store (e-BH at 10 %), or the demo's; return how many."""
    store = Methodology.objects.filter(is_demo=is_demo)
    judged = store.filter(independent_cases__gt=0)
    chosen = surviving({row.pk: row.e_value for row in judged.only("pk", "log_evidence")})
    was = set(store.filter(survives_store=True).values_list("pk", flat=True))
    Methodology.objects.filter(pk__in=was - chosen).update(survives_store=False)
    Methodology.objects.filter(pk__in=chosen - was).update(survives_store=True)
    return len(chosen)
