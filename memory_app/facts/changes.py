"""States of memories and of conflict pairs as acts change them. Texts stay versions of their own."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy, ngettext_lazy

from learning_app.preferences.models import Preference
from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.decision import CORRECTED
from memory_app.facts.core.sweep import Step as FactStep
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.services.decide import CONFLICT_KIND
from memory_app.facts.services.rows import note, publish_changes, retire, use_again
from memory_app.facts.services.undo import take_back, taken_back
from memory_app.memories.core import MEMORY_KIND, SET, ConflictBasis, ConflictState
from memory_app.memories.models import FactConflict, Memory
from memory_app.memories.selectors import find_unrestorable, retention_cutoff
from memory_app.memories.services import hashes, move_rows
from minara_site.kernel.changes.core import State, Step
from minara_site.kernel.changes.kinds import Changes
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.core.vocabulary import Source
from minara_site.kernel.db import update_rows
from minara_site.kernel.unchanged import UnchangedReason


class MemoryChanges(Changes):
    """Deletions, restores and corrections of memories. One whose creation is undone goes to the trash."""

    name, model = MEMORY_KIND, Memory
    columns = ("deleted_at", "retired_at", "fact_state", "source")
    beside, differs = ("fact_state",), UnchangedReason.MOVED_SINCE
    undone = ngettext_lazy("Undone for %(number)s memory.", "Undone for %(number)s memories.", "count")

    def gone(self, state: State, *, actor: str, now: datetime) -> State:
        return {**state, "deleted_at": now}

    def name_rows(self, steps: Sequence[Step]) -> dict[str, Any]:
        """Return ids and hashes of moved rows, and since when those that come back were in the trash."""
        lay_since = {step.row.pk: step.before["deleted_at"] for step in steps if is_back(step)}
        rows = [step.row for step in steps]
        return {"batch": rows[0].batch, "memories": hashes(rows, lay_since)}

    def may_restore(self, steps: Sequence[Step], *, actor: str, now: datetime) -> dict[str, UnchangedReason]:
        """Return why rows stay: limits, what others decided, and what is past its retention. Two queries at most."""
        back = [step for step in steps if is_back(step)]
        decided = find_unrestorable(step.row for step in back if actor == f"user:{step.owner_id}")
        bridged = {step.row.preference_id: step.row.pk for step in back if step.row.preference_id}
        if bridged:
            active = Preference.objects.filter(pk__in=bridged).active().values_list("pk", flat=True)
            decided |= {row_id for pk, row_id in bridged.items() if pk not in set(active)}
        moved = [step for step in steps if step.before["deleted_at"] != step.after["deleted_at"]]
        expired = [step for step in moved if (step.after["deleted_at"] or now) <= retention_cutoff(now)]
        inferred = [step for step in moved if step.row.source == Source.INFERRED and step.after["deleted_at"]]
        return {
            **{step.key: UnchangedReason.EDITED_SINCE for step in inferred if step.row.version > 1},
            **{step.key: UnchangedReason.HELD for step in inferred if step.row.held_at},
            **{step.key: UnchangedReason.DECIDED for step in back if step.row.pk in decided},
            **{step.key: UnchangedReason.HELD for step in steps if step.row.held_at and is_used_again(step)},
            **{step.key: UnchangedReason.MOVED_SINCE for step in expired},
            **{step.key: UnchangedReason.TYPED for step in moved if step.row.is_limit},
        }

    def restore(self, steps: Sequence[Step], *, made: ChangeSet) -> None:
        """Move rows to the trash and back, and retire facts or use them again, which the trail of facts tells."""
        moved = [step.row for step in steps if step.before["deleted_at"] != step.after["deleted_at"]]
        move_rows(moved, actor=made.actor, batch=f"{SET}{made.pk}", now=made.at, is_undo=True)
        sourced = [step.row for step in steps if step.before["source"] != step.after["source"]]
        update_rows(Memory, ("source",), sourced)
        retired = [step.row.pk for step in steps if step.after["retired_at"] and not step.before["retired_at"]]
        for step in steps:
            if step.row.pk in retired:
                retire([step.row.pk], now=step.after["retired_at"])
        for event in ConsolidationEvent.objects.filter(fact_id__in=retired, kind=EventKind.UNRETIRED).order_by("pk"):
            again = FactStep(EventKind.SUPERSEDED, event.fact_id, event.other_id)
            note(event.owner_id, [again], decider=Decider.PERSON, actor=made.actor, now=made.at, reason=CORRECTED)
        used = {step.row.pk: step.row for step in steps if is_used_again(step)}
        events = ConsolidationEvent.objects.filter(fact_id__in=used, kind=EventKind.SUPERSEDED, undone_by=None)
        for event in events.order_by("pk"):
            use_again(used[event.fact_id], event)
            take_back(event, actor=made.actor, now=made.at)
        for owner_id in {step.row.owner_id for step in steps}:
            publish_changes(owner_id, [step.row.pk for step in steps if step.row.owner_id == owner_id])


class ConflictChanges(Changes):
    """That a person kept both memories of a pair."""

    name, model = CONFLICT_KIND, FactConflict
    label = gettext_lazy("Conflict pair")
    columns, beside = ("state", "decided_at"), ("decided_at",)
    undone = ngettext_lazy("Undone for %(number)s pair.", "Undone for %(number)s pairs.", "count")

    def gone(self, state: State, *, actor: str, now: datetime) -> State:
        return {**state, "state": ConflictState.DISMISSED, "decided_at": now}

    def url_of(self, row: FactConflict) -> str:
        return reverse("memories:one", args=[row.leaves_id])

    def may_restore(self, steps: Sequence[Step], *, actor: str, now: datetime) -> dict[str, UnchangedReason]:
        """Return of which pairs with a limit only their owner decides."""
        limited = [step for step in steps if step.row.basis == ConflictBasis.LIMIT]
        return {step.key: UnchangedReason.TYPED for step in limited if actor != f"user:{step.owner_id}"}

    def restore(self, steps: Sequence[Step], *, made: ChangeSet) -> None:
        """Store the states, which the trail of facts tells and every page of an asset hears of."""
        super().restore(steps, made=made)
        for step in steps:
            owner_id, ids = step.row.owner_id, (step.row.newer_id, step.row.older_id)
            kept = ConsolidationEvent.objects.filter(kind=EventKind.KEPT_BOTH, fact_id__in=ids, other_id__in=ids)
            if step.after["state"] == ConflictState.OPEN:
                for event in kept.filter(undone_by=None):
                    taken_back(event, actor=made.actor, now=made.at).save(force_insert=True)
            else:
                again = FactStep(EventKind.KEPT_BOTH, *ids)
                note(owner_id, [again], decider=Decider.PERSON, actor=made.actor, now=made.at)
            publish_changes(owner_id, ids)


def is_back(step: Step) -> bool:
    """Say whether a row leaves the trash."""
    return bool(step.before["deleted_at"] and not step.after["deleted_at"])


def is_used_again(step: Step) -> bool:
    """Say whether a fact is retired no more."""
    return bool(step.before["retired_at"] and not step.after["retired_at"])
