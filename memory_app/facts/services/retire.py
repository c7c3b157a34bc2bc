"""A correction: the owner's own words take the place of a fact. Sources: screens (correct this), S1 (ground truth)."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.sweep import Step
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.services.rows import audit, is_protected, lock_facts_of, lock_rows, note, retire, tell
from memory_app.memories.core import MEMORY_ORIGIN, FactState, parse_number
from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memory

CORRECTED = "corrected"


def write_correction(*, owner_id: int, draft: Draft, corrects: int, now: datetime) -> Memory:
    """Store what the owner says instead of a memory; a fact is retired in its favour, other memories stay.

    While the guard holds the new text, the fact stays as it is: `carry_out_corrections`. Raises Invalid.
    """
    with transaction.atomic():
        lock_facts_of(owner_id)
        correction = write_memory(owner_id=owner_id, draft=draft, now=now)
        if correction.held_at is None:
            retire_corrected(correction, corrects, now=now)
    return correction


def carry_out_corrections(released: Iterable[Memory], *, now: datetime) -> None:
    """Retire the facts that released memories correct, each once. Needs a transaction."""
    for row in released:
        corrects = parse_number(row.origin, after=MEMORY_ORIGIN)
        if corrects is None or not is_protected(row):
            continue
        lock_facts_of(row.owner_id)
        if not ConsolidationEvent.objects.filter(fact_id=corrects, other_id=row.pk).exists():
            retire_corrected(row, corrects, now=now)


def retire_corrected(correction: Memory, corrects: int, *, now: datetime) -> None:
    """Retire the fact that a memory corrects, if it is one that may give way. Needs a transaction and the lock."""
    owner_id = correction.owner_id
    fact = lock_rows(owner_id, [corrects]).get(corrects)
    if fact is None or not is_retirable(fact):
        return
    retire([fact.pk], now=now)
    step = Step(EventKind.SUPERSEDED, fact.pk, correction.pk)
    [event] = note(owner_id, [step], decider=Decider.PERSON, actor=correction.actor, now=now, reason=CORRECTED)
    audit(owner_id, "memory_retired", event, now=now)
    tell(owner_id, [fact.pk])


def is_retirable(row: Memory) -> bool:
    """Say whether it is a fact that may give way."""
    is_fact = row.fact_state in (FactState.PENDING, FactState.SETTLED)
    return is_fact and row.deleted_at is None and not is_protected(row)
