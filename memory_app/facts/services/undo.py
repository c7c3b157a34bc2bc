"""Taking a decision back: un-retire, and opening a pair again. Source: S1 (retired, never deleted)."""

from collections.abc import Collection
from datetime import datetime
from itertools import groupby

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from memory_app.facts.core import UNDOABLE, Decider, EventKind
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.services.rows import audit, lock_facts_of, lock_rows, publish_changes, use_again
from memory_app.memories.core import ConflictBasis, ConflictState, FactState
from memory_app.memories.models import FactConflict, Memory
from minara_site.access.principal import Principal
from minara_site.kernel.errors import Conflict, Refused, or_not_found
from minara_site.kernel.ownership import Owner


def undo_event(
    *,
    principal: Principal,
    owner: Owner,
    event_id: int,
    now: datetime,
) -> ConsolidationEvent:
    """Take one decision back by an event of its own: the fact is used again, a pair is open again.

    What had taken its place may be gone by now: deleted, held, or rolled back. Raises NotFound for an event that this
    owner does not have or that decided nothing, and Conflict when it was taken back already or the fact itself is gone.
    """
    with transaction.atomic():
        undone = find_event(owner, event_id)
        lock_facts_of(undone.owner_id)
        if (
            find_pair(undone).filter(basis=ConflictBasis.LIMIT).exists()
            and principal.actor != f"user:{undone.owner_id}"
        ):
            raise Refused(_("Only its owner allows what a limit forbids."))
        if ConsolidationEvent.objects.filter(undoes=undone).exists():
            raise Conflict(_("This was undone already."), code="undone")
        rows = lock_rows(undone.owner_id, [undone.fact_id])
        if undone.kind != EventKind.KEPT_BOTH:
            fact = rows.get(undone.fact_id)
            if fact is None or fact.deleted_at or fact.held_at or fact.fact_state != FactState.RETIRED:
                raise Conflict(_("This fact is gone or is not retired any more."), code="not_retired")
            use_again(fact, undone)
        publish_changes(undone.owner_id, filter(None, (undone.fact_id, undone.other_id)))
        event = take_back(undone, actor=principal.actor, now=now)
        audit(
            event.owner_id,
            AUDIT_WORDS[EventKind(event.kind)],
            event,
            now=now,
        )
    return event


AUDIT_WORDS = {EventKind.UNRETIRED: "memory_unretired", EventKind.REOPENED: "fact_conflict_reopened"}


def take_back(undone: ConsolidationEvent, *, actor: str, now: datetime) -> ConsolidationEvent:
    """Append the event that takes a decision back, and open its pair again. Needs a transaction."""
    find_pair(undone).exclude(state=ConflictState.OPEN).update(state=ConflictState.OPEN, decided_at=None)
    event = taken_back(undone, actor=actor, now=now)
    event.save(force_insert=True)
    return event


def find_pair(event: ConsolidationEvent) -> "QuerySet[FactConflict]":
    """Return the pair that an event is about, as a query."""
    ids = (event.fact_id, event.other_id)
    return FactConflict.objects.filter(older__in=ids, newer__in=ids)


def taken_back(
    undone: ConsolidationEvent,
    *,
    actor: str,
    now: datetime,
) -> ConsolidationEvent:
    """Return the unsaved event that takes a decision back."""
    return ConsolidationEvent(
        owner_id=undone.owner_id,
        at=now,
        kind=EventKind.REOPENED if undone.kind == EventKind.KEPT_BOTH else EventKind.UNRETIRED,
        decider=Decider.PERSON,
        actor=actor,
        fact_id=undone.fact_id,
        other_id=undone.other_id,
        undoes=undone,
    )


def find_event(owner: Owner, event_id: int) -> ConsolidationEvent:
    """Return a decision of this owner's trail that can be taken back. Raises NotFound."""
    events = ConsolidationEvent.objects.for_owner(owner).filter(kind__in=UNDOABLE, other_id__isnull=False)
    return or_not_found(events.filter(pk=event_id).first(), _("There is no such decision."))


def requeue(event_ids: Collection[int], *, actor: str, now: datetime) -> None:
    """Let facts that these events retired wait for the next sweep, which decides anew; each gets an event of its own.

    Needs a transaction and the locked facts.
    """
    undone = list(ConsolidationEvent.objects.filter(pk__in=event_ids).order_by("owner_id", "pk"))
    Memory.objects.filter(pk__in=[event.fact_id for event in undone]).update(
        fact_state=FactState.PENDING,
        retired_at=None,
    )
    ConsolidationEvent.objects.bulk_create([taken_back(event, actor=actor, now=now) for event in undone])
    for owner_id, events in groupby(undone, key=lambda event: event.owner_id):
        publish_changes(owner_id, [event.fact_id for event in events])
