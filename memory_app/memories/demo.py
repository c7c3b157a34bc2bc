"""The demo's memories with their earlier texts; some are held, some in the trash."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from learning_app.preferences.models import Preference
from memory_app.memories.models import Memory, MemoryQuerySet, MemoryRevision
from memory_app.memories.services import Draft, build_memory, delete_permanently
from memory_app.memories.services.bridge import draft_of
from memory_app.memories.services.guarded import hold_new
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.demo import (
    AGENT_KEY,
    DemoAct,
    DemoLoad,
    DemoPart,
    DemoRow,
    RemovedRows,
    publish_rows,
    read_rows,
)
from minara_site.kernel.events import memory_written

BETWEEN_EDITS = timedelta(days=1)


class DemoMemory(DemoRow):
    """One memory. `before` are its earlier texts, oldest first; `deleted_hours_ago` puts it into the trash."""

    category: Category
    source: Source
    text: str
    tickers: tuple[str, ...] = ()
    origin: str = ""
    fact_type: str = ""
    before: tuple[str, ...] = ()
    deleted_hours_ago: float | None = None


class MemoriesPart(DemoPart[DemoMemory]):
    """Memories. It publishes and removes those of other parts, too."""

    name, rows = "memories", read_rows(DemoMemory, __package__)

    def acts(self, load: DemoLoad) -> Iterator[DemoAct]:
        yield from super().acts(load)
        for name, memories in self.rows.items():
            for memory in memories:
                if memory.deleted_hours_ago is not None:
                    row, at = demo_memories(load.people[name]), load.ago(memory.deleted_hours_ago)
                    yield at, partial(row.filter(content=memory.text).update, deleted_at=at)
        yield load.now, bridge_demo_preferences
        yield load.now, partial(publish_rows, memory_written, "memory_ids", Memory.objects.filter(is_demo=True))

    def store(self, load: DemoLoad, owner: User, row: DemoMemory) -> None:
        write_demo_memory(load, owner, row)

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        memories = Memory.objects.filter(is_demo=True)
        kept = memories.filter(edited_since(load)).update(is_demo=False)
        publish_rows(memory_written, "memory_ids", memories)
        ids = list(memories.values_list("pk", flat=True))
        delete_permanently(ids)
        return [RemovedRows(_("Memories and facts"), len(ids), kept)]


def bridge_demo_preferences() -> None:
    """Store the memories of the demo's active preferences, as the job does for those that people approve."""
    for preference in Preference.objects.filter(is_demo=True).active():
        draft = replace(draft_of(preference), written_at=preference.decided_at)
        build_memory(
            owner_id=preference.owner_id,
            draft=draft,
            now=preference.decided_at,
        ).save(force_insert=True)


def edited_since(load: DemoLoad) -> Q:
    """Return the condition of memories that were edited after the load."""
    return Q(pk__in=MemoryRevision.objects.filter(replaced_at__gt=load.loaded_at).values("memory"))


def demo_memories(owner: User) -> MemoryQuerySet:
    """Return the demo's memories of an owner."""
    return Memory.objects.for_owner(owner).filter(is_demo=True)


def write_demo_memory(load: DemoLoad, owner: User, memory: DemoMemory) -> None:
    """Store a memory, written by whoever its source says, with its earlier texts."""
    by_owner, changed_at = f"user:{owner.pk}", load.ago(memory.hours_ago)
    is_owners = memory.source is Source.USER_MANUAL or memory.origin
    draft = Draft(
        category=memory.category,
        content=memory.text,
        provenance=Provenance(
            memory.source,
            by_owner if is_owners else AGENT_KEY,
            memory.origin,
        ),
        fact_type=memory.fact_type,
        tickers=memory.tickers,
        written_at=changed_at - BETWEEN_EDITS * len(memory.before),
        changed_at=changed_at,
        is_demo=True,
    )
    row = build_memory(owner_id=owner.pk, draft=draft, now=load.now)
    row.version = len(memory.before) + 1
    row.save(force_insert=True)
    hold_new([row], now=load.now)
    for version, text in enumerate(memory.before, start=1):
        at = changed_at - BETWEEN_EDITS * (len(memory.before) - version)
        MemoryRevision.objects.create(
            memory=row,
            version=version,
            content=text,
            actor=by_owner,
            replaced_at=at,
        )
