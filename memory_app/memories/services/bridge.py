"""The memory that stands for an active preference: written, restored and deleted as the preference goes.

Sources: S1 (`learned_preference`), decisions (preferences). The preference decides; this only follows it.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from learning_app.preferences.core import PREFERENCE_ORIGIN
from learning_app.preferences.models import Preference
from learning_app.preferences.selectors import find_writers
from learning_app.preferences.services.correct import correct_preference
from learning_app.vocabulary import PreferenceState
from memory_app.memories.core import BRIDGE_ACTOR, HARD_CONSTRAINT
from memory_app.memories.models import Memory
from memory_app.memories.selectors import find_deletions
from memory_app.memories.services.remove import locked, mark_batch
from memory_app.memories.services.write import Draft, build_memory, write_memory
from minara_site.kernel.core.vocabulary import Category, Provenance, Source


def bridge_preference(preference_id: int, *, now: datetime) -> str:
    """Bring the memory of a preference in step with it; return `written`, `restored`, `deleted`, or nothing done.

    What somebody else than this job deleted stays deleted until the preference is activated again. Runs about one
    preference wait for each other, so that none writes a second row.
    """
    with transaction.atomic():
        preference = Preference.objects.select_for_update(of=("self",)).filter(pk=preference_id).first()
        rows = list(locked(Memory.objects.bridged(preference_id)))
        if preference is None or preference.state != PreferenceState.ACTIVE or preference.held_at:
            return "deleted" if delete_rows(rows, now=now) else ""
        draft = draft_of(preference)
        wanted = build_memory(owner_id=preference.owner_id, draft=draft, now=now)
        same = [row for row in rows if (row.content, row.fact_type) == (wanted.content, wanted.fact_type)]
        delete_rows([row for row in rows if row not in same], now=now)
        if not same:
            write_memory(owner_id=preference.owner_id, draft=draft, now=now)
            return "written"
        newest = same[-1]
        deletion = find_deletions([newest]).get(newest.batch or "")
        is_by_job = deletion is not None and deletion.actor == BRIDGE_ACTOR
        if newest.deleted_at and (is_by_job or (preference.decided_at and newest.deleted_at < preference.decided_at)):
            mark_batch(BRIDGE_ACTOR, [newest], deleted_at=None, now=now, reason="")
            return "restored"
        return ""


def correct_bridged(*, memory: Memory, statement: str, actor: str, now: datetime) -> Preference:
    """Let its owner's words replace the soft preference that a memory stands for, and bring its memory in step at once.

    Raises what `correct_preference` raises.
    """
    assert memory.preference_id is not None
    with transaction.atomic():
        about = {"owner": memory.owner, "actor": actor, "now": now}
        preference = correct_preference(preference_id=memory.preference_id, statement=statement, **about)
        if not preference.held_at:
            bridge_preference(memory.preference_id, now=now)
            bridge_preference(preference.pk, now=now)
    return preference


def delete_rows(rows: Sequence[Memory], *, now: datetime) -> int:
    """Delete softly those that are not deleted yet; return how many."""
    live = [row for row in rows if row.deleted_at is None]
    mark_batch(BRIDGE_ACTOR, live, deleted_at=now, now=now, reason="")
    return len(live)


def draft_of(preference: Preference) -> Draft:
    """Return the memory that says what a preference says: its owner's word where they typed it, else learned."""
    typed_by = f"user:{preference.owner_id}"
    is_typed = find_writers([preference])[preference.pk] == typed_by
    return Draft(
        category=Category.PREFERENCE,
        content=preference.statement,
        provenance=Provenance(
            source=Source.USER_MANUAL if is_typed else Source.LEARNED_PREFERENCE,
            actor=typed_by if is_typed else BRIDGE_ACTOR,
            origin=f"{PREFERENCE_ORIGIN}{preference.pk}",
        ),
        fact_type=HARD_CONSTRAINT if preference.is_hard else f"preference.{preference.dimension}",
        is_demo=preference.is_demo,
    )
