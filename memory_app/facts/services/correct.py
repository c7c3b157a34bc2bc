"""A correction: the owner's own words take the place of a memory. Sources: screens (correct this), decisions."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.decision import CORRECTED
from memory_app.facts.core.sweep import Step
from memory_app.facts.selectors import is_protected
from memory_app.facts.services.rows import audit, lock_facts_of, lock_rows, note, publish_changes, retire
from memory_app.memories.core import CORRECTED_REASON, MEMORY_KIND, MEMORY_ORIGIN, SET, FactState
from memory_app.memories.models import Memory
from memory_app.memories.services import hashes, move_rows
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.changes.core import Plan
from minara_site.kernel.changes.kinds import changes_of
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.changes.selectors import plan_rows
from minara_site.kernel.changes.services import UNDONE, apply_plan, made_rows, name_set, record, watch
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.plain_text import parse_number

CORRECT = "memory_corrected"


def replace_corrected(accepted: Iterable[Memory], *, now: datetime) -> None:
    """Let these memories, written or released, replace what they correct: each once, as one act of their owner.

    A fact is retired, another memory goes to the trash. While the guard holds a correction, what it corrects stays.
    Needs a transaction.
    """
    for row in accepted:
        corrects = parse_number(row.origin, after=MEMORY_ORIGIN)
        if corrects is None or not is_protected(row):
            continue
        lock_facts_of(row.owner_id)
        if not list_corrections([row.pk]).filter(undone_by=None).exists():
            replace_one(row, corrects, now=now)


def replace_one(correction: Memory, corrects: int, *, now: datetime) -> None:
    """Replace a memory that is there and that its owner did not type."""
    old = lock_rows(correction.owner_id, [corrects]).get(corrects)
    if old is None or old.deleted_at or old.retired_at or old.is_editable:
        return
    watched, reason = watch(MEMORY_KIND, [old]), f"{CORRECTED_REASON}{correction.pk}"
    is_fact = old.fact_state in {FactState.PENDING, FactState.SETTLED} and not is_protected(old)
    if is_fact:
        old.fact_state, old.retired_at = FactState.RETIRED, now
    else:
        old.deleted_at = now
    watched = [*watched, *made_rows(MEMORY_KIND, [correction])]
    made = record(CORRECT, watched, actor=correction.actor, at=now, reason=reason)
    assert made is not None
    if is_fact:
        retire([old.pk], now=now)
        step = Step(EventKind.SUPERSEDED, old.pk, correction.pk)
        [event] = note(old.owner_id, [step], decider=Decider.PERSON, actor=correction.actor, now=now, reason=CORRECTED)
        audit(old.owner_id, "memory_retired", event, now=now)
        publish_changes(old.owner_id, [old.pk])
        return
    batch = f"{SET}{made.pk}"
    move_rows([old], actor=correction.actor, batch=batch, now=now)
    record_audit(
        now=now,
        actor=correction.actor,
        tool_call="memory_removed",
        owner_id=old.owner_id,
        reasoning=reason,
        details={"batch": batch, "memories": hashes([old]), **name_set(made)},
    )


def restore_corrected(holds: Mapping[int, Hold], *, actor: str, now: datetime) -> None:
    """Bring back what the release of these corrections replaced: the release is undone. Needs a transaction.

    What changed since stays as it is.
    """
    released = [hold.decided_at for hold in holds.values() if hold.decision == Decision.RELEASED and hold.decided_at]
    for made in list_corrections(holds).filter(at__in=released, undone_by=None):
        changes = made.changes.filter(before__isnull=False).order_by("-pk")
        steps, stays = plan_rows(changes_of()[MEMORY_KIND], changes, actor=actor, now=now, lock=True)
        if steps:
            apply_plan(Plan(now, steps=steps, stays=stays), act=UNDONE, actor=actor, undoes=made)


def list_corrections(ids: Iterable[int]) -> Any:
    """Return the acts by which these memories replaced others."""
    created = {"changes__kind": MEMORY_KIND, "changes__key__in": list(map(str, ids)), "changes__before__isnull": True}
    return ChangeSet.objects.filter(act=CORRECT, **created).order_by("pk")
