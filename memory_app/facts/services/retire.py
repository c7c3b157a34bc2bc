"""A correction: the owner's own words take the place of a fact. Sources: screens (correct this), S1 (ground truth)."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.decision import CORRECTED, HELD_AGAIN
from memory_app.facts.core.sweep import Step
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.selectors import is_protected
from memory_app.facts.services.rows import audit, lock_facts_of, lock_rows, note, publish_changes, retire, use_again
from memory_app.facts.services.undo import taken_back
from memory_app.memories.core import MEMORY_ORIGIN, FactState
from memory_app.memories.models import Memory
from minara_site.kernel.guard.models import Decision, Hold
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
        decided = ConsolidationEvent.objects.filter(fact_id=corrects, other_id=row.pk)
        if not decided.exclude(reason=HELD_AGAIN).exclude(undone_by__reason=HELD_AGAIN).exists():
            retire_corrected(row, corrects, now=now)


def unretire_corrected_facts(
    holds: Mapping[int, Hold],
    *,
    actor: str,
    now: datetime,
) -> None:
    """Use the facts again that were retired by the release of these corrections, which is undone. Needs a transaction.

    One that was deleted or held since stays as it is.
    """
    released = [hold.decided_at for hold in holds.values() if hold.decision == Decision.RELEASED and hold.decided_at]
    events = ConsolidationEvent.objects.filter(
        other_id__in=holds,
        at__in=released,
        reason=CORRECTED,
        undone_by=None,
    )
    for event in events.order_by("pk"):
        lock_facts_of(event.owner_id)
        fact = lock_rows(event.owner_id, [event.fact_id]).get(event.fact_id)
        if fact and fact.fact_state == FactState.RETIRED and not (fact.deleted_at or fact.held_at):
            use_again(fact, event)
            undone = taken_back(event, actor=actor, now=now, reason=HELD_AGAIN)
            undone.save(force_insert=True)
            audit(event.owner_id, "memory_unretired", undone, now=now)
            publish_changes(event.owner_id, [fact.pk])


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
    [event] = note(
        owner_id,
        [step],
        decider=Decider.PERSON,
        actor=correction.actor,
        now=now,
        reason=CORRECTED,
    )
    audit(owner_id, "memory_retired", event, now=now)
    publish_changes(owner_id, [fact.pk])
