"""Carrying out a decision on a conflict pair: the one place where a person or a model retires a fact. R-50."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.decision import (
    MAX_REASON_CHARS,
    Decision,
    Pair,
    Problem,
    Side,
    find_problem,
    retired_by,
)
from memory_app.facts.core.sweep import Step
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.selectors import is_protected
from memory_app.facts.services.rows import audit, lock_facts_of, lock_rows, note, publish_changes, retire
from memory_app.memories.core import ConflictBasis, ConflictState, FactState, State
from memory_app.memories.models import FactConflict, Memory
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.changes.services import name_set, record, watch
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.ownership import Owner


def apply_decision(
    *,
    owner: Owner,
    conflict_id: int,
    decision: Decision,
    decider: Decider,
    actor: str,
    now: datetime,
    run_id: int | None = None,
) -> ConsolidationEvent:
    """Turn a decision into state and one event; a refused one changes nothing, and its event says why.

    Raises NotFound for a conflict that this owner does not have.
    """
    with transaction.atomic():
        conflict = find_conflict(owner, conflict_id)
        lock_facts_of(conflict.owner_id)
        rows = lock_rows(conflict.owner_id, [conflict.older_id, conflict.newer_id])
        conflict = find_conflict(owner, conflict_id)  # as it is now: decided, or gone with a purged fact
        is_limit = conflict.basis == ConflictBasis.LIMIT
        older, newer = (side_of(rows[pk], waits=not is_limit) for pk in (conflict.older_id, conflict.newer_id))
        pair = Pair(older, newer)
        problem = Problem.DECIDED if conflict.state != ConflictState.OPEN else find_problem(decision, pair)
        if is_limit and actor != f"user:{conflict.owner_id}":
            problem = problem or Problem.LIMIT
        step, made = (
            (Step(EventKind.REFUSED, conflict.newer_id, conflict.older_id), None)
            if problem
            else resolve_pair(conflict, decision, pair, actor=actor, now=now)
        )
        reason = problem or decision.reason.strip()[:MAX_REASON_CHARS]
        [event] = note(
            conflict.owner_id,
            [step],
            decider=decider,
            actor=actor,
            now=now,
            reason=reason,
            run_id=run_id,
        )
        if decider is Decider.PERSON:
            named = {"ids": [conflict.pk], **name_set(made)} if made else {}
            audit(conflict.owner_id, AUDIT_WORDS[step.kind], event, now=now, **named)
    return event


CONFLICT_KIND, KEEP_BOTH = "fact_conflict", "fact_conflict_kept_both"
AUDIT_WORDS = {
    EventKind.SUPERSEDED: "memory_retired",
    EventKind.KEPT_BOTH: KEEP_BOTH,
    EventKind.REFUSED: "fact_decision_refused",
}


def resolve_pair(
    conflict: FactConflict,
    decision: Decision,
    pair: Pair,
    *,
    actor: str,
    now: datetime,
) -> tuple[Step, ChangeSet | None]:
    """Do what was decided; the invariants have been checked. That both stay is an act on the pair alone."""
    watched, goes = watch(CONFLICT_KIND, [conflict]), retired_by(decision, pair)
    conflict.state = ConflictState.RESOLVED if goes else ConflictState.DISMISSED
    conflict.decided_at = now
    conflict.save(update_fields=["state", "decided_at"])
    if goes is None:
        made = record(KEEP_BOTH, watched, actor=actor, at=now)
        publish_changes(conflict.owner_id, [pair.newer.id, pair.older.id])
        return Step(EventKind.KEPT_BOTH, pair.newer.id, pair.older.id), made
    retire([goes.id], now=now)
    publish_changes(conflict.owner_id, [goes.id])
    stays = pair.newer if goes is pair.older else pair.older
    return Step(EventKind.SUPERSEDED, goes.id, stays.id), None


def find_conflict(owner: Owner, conflict_id: int) -> FactConflict:
    """Return a conflict of this owner. Raises NotFound."""
    return or_not_found(
        FactConflict.objects.for_owner(owner).filter(pk=conflict_id).first(), _("There is no such conflict.")
    )


def side_of(row: Memory, *, waits: bool = True) -> Side:
    """Return a memory as a decider sees it; `waits` says that a pending fact waits for the sweep."""
    return Side(
        row.pk,
        row.content,
        row.source or "",
        row.created_at,
        row.state is State.LIVE and not (waits and row.fact_state == FactState.PENDING),
        is_protected(row),
        row.fact_state is not None,
    )
