"""A correction: the owner's own words take the place of a fact. Sources: screens (correct this), S1 (ground truth)."""

from collections.abc import Iterable
from datetime import datetime

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.decision import CORRECTED
from memory_app.facts.core.sweep import Step
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.selectors import is_protected
from memory_app.facts.services.rows import audit, lock_facts_of, lock_rows, note, publish_changes, retire
from memory_app.memories.core import MEMORY_ORIGIN, FactState
from memory_app.memories.models import Memory
from minara_site.kernel.plain_text import parse_number


def retire_corrected_facts(accepted: Iterable[Memory], *, now: datetime) -> None:
    """Retire the facts that these memories correct, each once; other memories that they correct stay.

    `accepted` were written or released: while the guard holds a correction, the fact stays as it is. Needs a
    transaction.
    """
    for row in accepted:
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
    if fact is None or fact.fact_state not in {FactState.PENDING, FactState.SETTLED}:
        return
    if fact.deleted_at or is_protected(fact):
        return
    retire([fact.pk], now=now)
    step = Step(EventKind.SUPERSEDED, fact.pk, correction.pk)
    [event] = note(owner_id, [step], decider=Decider.PERSON, actor=correction.actor, now=now, reason=CORRECTED)
    audit(owner_id, "memory_retired", event, now=now)
    publish_changes(owner_id, [fact.pk])
