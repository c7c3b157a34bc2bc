"""A correction: the owner's own words take the place of a memory. Sources: screens (correct this), decisions."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.decision import CORRECTED
from memory_app.facts.core.sweep import Step
from memory_app.facts.selectors import is_protected
from memory_app.facts.services.compare import store_pairs
from memory_app.facts.services.rows import audit, lock_facts_of, lock_rows, note, publish_changes, retire
from memory_app.memories.core import CORRECTED_REASON, MEMORY_KIND, MEMORY_ORIGIN, ConflictBasis, FactState
from memory_app.memories.models import Memory
from memory_app.memories.services import mark_batch
from memory_app.memories.services.remove import note_own_deletions
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.changes.services import made_rows, record, undo_replaced, watch
from minara_site.kernel.guard.models import Hold
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
        created = {"changes__kind": MEMORY_KIND, "changes__key": str(row.pk), "changes__before__isnull": True}
        if not ChangeSet.objects.filter(act=CORRECT, undone_by=None, **created).exists():
            replace_one(row, corrects, now=now)


def replace_one(correction: Memory, corrects: int, *, now: datetime) -> None:
    """Replace a memory that is there and that its owner did not type."""
    old = lock_rows(correction.owner_id, [corrects]).get(corrects)
    if old is None or old.deleted_at or old.retired_at or old.is_editable:
        return
    actor, reason = correction.actor, f"{CORRECTED_REASON}{correction.pk}"
    store_pairs([(old, correction)], ConflictBasis.CORRECTION, now=now)  # it counts once both are read again
    if old.fact_state not in {FactState.PENDING, FactState.SETTLED} or is_protected(old):
        mark_batch(actor, [old], deleted_at=now, now=now, reason=reason, act=CORRECT, beside=[correction])
        return
    watched = watch(MEMORY_KIND, [old])
    old.fact_state, old.retired_at = FactState.RETIRED, now
    record(CORRECT, [*watched, *made_rows(MEMORY_KIND, [correction])], actor=actor, at=now, reason=reason)
    retire([old.pk], now=now)
    note_own_deletions(actor, [old], now=now)
    step = Step(EventKind.SUPERSEDED, old.pk, correction.pk)
    [event] = note(old.owner_id, [step], decider=Decider.PERSON, actor=actor, now=now, reason=CORRECTED)
    audit(old.owner_id, "memory_retired", event, now=now)
    publish_changes(old.owner_id, [old.pk])


def restore_corrected(holds: Mapping[int, Hold], *, actor: str, now: datetime) -> None:
    """Bring back what the release of these corrections replaced: the release is taken back. Needs a transaction."""
    undo_replaced(CORRECT, MEMORY_KIND, holds, actor=actor, now=now)
