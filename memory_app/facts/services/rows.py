"""What every change of facts shares: the lock, the marks on the rows, the events, and who is told."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from memory_app.facts.core import Decider
from memory_app.facts.core.decision import CORRECTED
from memory_app.facts.core.sweep import Step
from memory_app.facts.models import ConsolidationEvent
from memory_app.memories.core import FactState
from memory_app.memories.core.fact_key import fact_key
from memory_app.memories.models import Memory
from minara_site.access.models import User
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.core.vocabulary import Source
from minara_site.kernel.events import memory_written, send_after_commit


def lock_facts_of(owner_id: int) -> None:
    """Let one change of this owner's facts happen at a time, whatever process makes it; needs a transaction.

    SQLite's immediate transaction has the whole file already.
    """
    User.objects.select_for_update(no_key=True).filter(pk=owner_id).order_by("pk").values_list("pk").first()


def lock_rows(owner_id: int, ids: Collection[int]) -> dict[int, Memory]:
    """Lock and return memories of an owner by id, as they are now; in the order in which every writer locks them."""
    rows = Memory.objects.filter(owner=owner_id, pk__in=ids).order_by("pk").select_for_update(of=("self",))
    return {row.pk: row for row in rows}


def is_settled(row: Memory) -> bool:
    """Say whether it is a settled fact that is read."""
    return row.fact_state == FactState.SETTLED and row.deleted_at is None and row.held_at is None


def retire(ids: Collection[int], *, now: datetime) -> None:
    """Retire facts; nothing else of the rows changes, and what a user typed is left whatever the caller says."""
    facts = Memory.objects.filter(
        pk__in=ids,
        fact_state__in=(FactState.PENDING, FactState.SETTLED),
    )
    facts.exclude(source=Source.USER_MANUAL).update(fact_state=FactState.RETIRED, retired_at=now)


def settle(rows: Iterable[Memory]) -> None:
    """Settle facts under their keys; one that comes back is compared anew with what settled meanwhile."""
    rows = list(rows)
    for row in rows:
        row.fact_key = fact_key(row.content)
    Memory.objects.bulk_update(rows, ["fact_key"])
    Memory.objects.filter(pk__in=[row.pk for row in rows]).update(
        fact_state=FactState.SETTLED,
        retired_at=None,
        compared_at=None,
    )


def use_again(fact: Memory, retired: ConsolidationEvent) -> None:
    """Take back that an event retired a fact: it is settled; one that gave way to a correction is what it was before.

    A fact whose owner corrected it while it waited for the sweep waits for the next one.
    """
    if retired.reason == CORRECTED and not fact.fact_key:
        Memory.objects.filter(pk=fact.pk).update(fact_state=FactState.PENDING, retired_at=None)
    else:
        settle([fact])


def note(
    owner_id: int,
    steps: Iterable[Step],
    *,
    decider: Decider,
    actor: str,
    now: datetime,
    reason: str = "",
    run_id: int | None = None,
) -> list[ConsolidationEvent]:
    """Append one event for each step."""
    events = [
        ConsolidationEvent(
            owner_id=owner_id,
            at=now,
            kind=step.kind,
            decider=decider,
            actor=actor,
            fact_id=step.fact_id,
            other_id=step.other_id,
            reason=reason,
            run_id=run_id,
        )
        for step in steps
    ]
    return ConsolidationEvent.objects.bulk_create(events)


def audit(
    owner_id: int,
    tool_call: str,
    event: ConsolidationEvent,
    *,
    now: datetime,
    **details: Any,
) -> None:
    """Keep in the audit log what a person did to a fact."""
    details |= {"id": event.fact_id, "other": event.other_id, "event": event.pk}
    record_audit(
        now=now,
        actor=event.actor,
        tool_call=tool_call,
        owner_id=owner_id,
        details=details,
    )


def publish_changes(owner_id: int, ids: Iterable[int]) -> None:
    """Tell after commit that agents read these memories differently now."""
    changed = tuple(sorted(set(ids)))
    if changed:
        send_after_commit(memory_written, owner_id=owner_id, memory_ids=changed)
