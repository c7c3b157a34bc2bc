"""Reads of the queue: the holds of this app and the texts that they are about."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import BigIntegerField, QuerySet
from django.utils.translation import gettext as _

from memory_app.held.core import Kind
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.roles.models import RoleMemory
from memory_app.user_profile.models import UserProfileEntry
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard import selectors as guard
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.ownership import Owner


@dataclass(frozen=True)
class HeldText:
    """A text that waits, as the guard judged it: spans count in it. `memory`, `entry` or `decision` is the row.

    `replaces` is what stands, or stood until this was written; None for something new.
    """

    text: str
    replaces: str | None = None
    memory: Memory | None = None
    entry: UserProfileEntry | None = None
    decision: RoleMemory | None = None


def list_holds(*, owner: Owner) -> "QuerySet[Hold]":
    """Return the holds of this app that wait for a decision, unordered: the queue orders them."""
    return guard.list_holds(owner=owner).filter(kind__in=list(Kind))


def get_hold(*, owner: Owner, hold_id: int) -> Hold:
    """Return one hold, waiting or decided. Raises NotFound also for another owner's."""
    return get_holds(owner=owner, hold_ids=[hold_id])[0]


def get_holds(*, owner: Owner, hold_ids: Iterable[int]) -> list[Hold]:
    """Return exactly these holds. Raises NotFound when one is unknown to this reader."""
    wanted = set(hold_ids)
    fitting = [pk for pk in wanted if pk <= BigIntegerField.MAX_BIGINT]  # SQLite fails on a larger number
    found = list(Hold.objects.for_owner(owner).filter(kind__in=list(Kind), pk__in=fitting).order_by("pk"))
    if len(found) != len(wanted):
        raise NotFound(_("There is no such hold."))
    return found


def load_texts(holds: Sequence[Hold]) -> dict[int, HeldText]:
    """Return the texts that wait, by the id of their hold; decided ones have none. At most five queries."""
    ids: defaultdict[str, dict[int, Hold]] = defaultdict(dict)
    for hold in holds:
        if hold.decision is None:
            ids[hold.kind][hold.object_id] = hold
    return (
        load_memories(ids[Kind.MEMORY])
        | load_entries(ids[Kind.USER_PROFILE])
        | load_decisions(ids[Kind.ROLE_DECISION])
        | load_lessons(ids[Kind.ROLE_LESSON])
    )


def load_memories(holds: dict[int, Hold]) -> dict[int, HeldText]:
    """Return the texts of held memories; `holds` by the id of the memory."""
    if not holds:
        return {}
    before = find_replaced(holds.values())
    return {
        holds[memory.pk].pk: HeldText(memory.guarded_text, before.get(memory.pk), memory=memory)
        for memory in Memory.objects.filter(pk__in=holds)
    }


def find_replaced(holds: Iterable[Hold]) -> dict[int, str]:
    """Return, by memory, what each said before the edit that was refused; nothing for what was held otherwise."""
    held_at = {hold.object_id: hold.held_at for hold in holds}
    revisions = MemoryRevision.objects.filter(memory_id__in=held_at, replaced_at__in=set(held_at.values()))
    rows = revisions.values_list("memory_id", "replaced_at", "content")
    return {memory_id: content for memory_id, replaced_at, content in rows if held_at[memory_id] == replaced_at}


def load_entries(holds: dict[int, Hold]) -> dict[int, HeldText]:
    """Return the held values of the user profile; `holds` by the id of the entry."""
    if not holds:
        return {}
    return {
        holds[entry.pk].pk: HeldText(entry.guarded_text, entry.value or None, entry=entry)
        for entry in UserProfileEntry.objects.filter(pk__in=holds)
    }


def load_decisions(holds: dict[int, Hold]) -> dict[int, HeldText]:
    """Return the texts of held decisions of roles; `holds` by the id of the entry."""
    rows = RoleMemory.objects.filter(pk__in=holds) if holds else ()
    return {holds[row.pk].pk: HeldText(row.guarded_text, decision=row) for row in rows}


def load_lessons(holds: dict[int, Hold]) -> dict[int, HeldText]:
    """Return the held lessons with their narratives; `holds` by the id of the entry."""
    rows = RoleMemory.objects.filter(pk__in=holds) if holds else ()
    return {holds[row.pk].pk: HeldText(row.guarded_lesson, decision=row) for row in rows}
