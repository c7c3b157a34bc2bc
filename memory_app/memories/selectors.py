"""Reads of memories: one row, lists, history, and the shape that API and tools answer with."""

from collections.abc import Collection, Iterable
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any, Self

from django.apps import apps
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from learning_app.preferences.models import Preference
from learning_app.vocabulary import PreferenceKind, PreferenceState
from memory_app.memories.conflicts import find_marks, mark_record
from memory_app.memories.core import (
    BRIDGE_ACTOR,
    CORRECTED_REASON,
    HARD_CONSTRAINT,
    MAX_VERSIONS,
    MEMORY_KIND,
    MEMORY_ORIGIN,
    REVERT_REASON,
    ROLL_BACK_REASON,
    SET,
    UNDO_REASON,
    State,
)
from memory_app.memories.core.fact_key import fact_key
from memory_app.memories.models import Memory, MemoryDeletion, MemoryQuerySet, MemoryRevision
from minara_site.access.actors import name_writers
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.services import by_persons
from minara_site.kernel.changes.models import Change, ChangeSet
from minara_site.kernel.core.diff import Segment, word_diff
from minara_site.kernel.core.vocabulary import AGENT_ACTOR, Category, Source, WriterKind
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.guard.selectors import judge_stored, written_record
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import parse_number


@dataclass(frozen=True)
class HistoryEntry:
    """One version of a memory: who wrote it, when, why. `before` is what the version before said, if there was one."""

    version: int
    content: str
    fact_type: str
    tickers: tuple[str, ...]
    actor: str
    written_at: datetime
    reason: str
    is_current: bool
    before: str | None

    def masked(self) -> Self:
        """Return this version as somebody who is not the owner may see it."""
        before = None if self.before is None else mask(self.before)
        return replace(
            self,
            content=mask(self.content),
            fact_type=mask(self.fact_type),
            before=before,
        )

    @property
    def changes(self) -> tuple[Segment, ...]:
        """What this version changed, empty for the first."""
        return () if self.before is None else tuple(word_diff(self.before, self.content))


@dataclass(frozen=True)
class Deletion:
    """Who deleted something, and why."""

    actor: str
    reason: str


def retention() -> timedelta:
    """Return how long a deleted memory can be restored."""
    return timedelta(days=settings.MINARA.fin_profile_memory_soft_delete_retention_days)


def retention_cutoff(now: datetime) -> datetime:
    """Return the instant before which a deletion is final."""
    return now - retention()


def get_memory(*, owner: Owner, memory_id: int, lock: bool = False) -> Memory:
    """Return one memory that is not deleted, live or held. Raises NotFound also for another owner's."""
    rows = Memory.objects.for_owner(owner).filter(deleted_at__isnull=True)
    return only_row(rows.select_for_update(of=("self",)) if lock else rows, memory_id)


def open_memory(*, owner: Owner, memory_id: int, now: datetime) -> Memory:
    """Return one memory with its owner, live or in the trash. Raises NotFound also for another owner's."""
    return only_row(
        Memory.objects.for_owner(owner).kept(retention_cutoff(now)).select_related("owner"),
        memory_id,
    )


def only_row(rows: MemoryQuerySet, memory_id: int) -> Memory:
    """Return the row of this id. Raises NotFound."""
    memory: Memory | None = rows.filter(pk=memory_id).first()
    if memory is None:
        raise no_such_memory()
    return memory


def no_such_memory() -> NotFound:
    """Return the one answer for what never was, what is gone and what is somebody else's."""
    return NotFound(_("There is no such memory."))


def list_memories(
    *,
    owner: Owner,
    now: datetime,
    state: State = State.LIVE,
    category: Category | None = None,
    source: Source | None = None,
) -> MemoryQuerySet:
    """Return the rows of a list, unordered: the page's keyset orders them."""
    rows: MemoryQuerySet = Memory.objects.for_owner(owner).in_state(state, retention_cutoff(now))
    if category is not None:
        rows = rows.filter(category=category)
    if source is not None:
        rows = rows.filter(source=source)
    return rows


def read_memories(
    *,
    owner: Owner,
    category: Category | None,
    limit: int,
) -> list[Memory]:
    """Return the most recently updated memories that the guard lets in (S1, memory_read)."""
    rows: MemoryQuerySet = Memory.objects.for_owner(owner).live()
    if category is not None:
        rows = rows.filter(category=category)
    return newest_accepted(rows, limit)


def newest_accepted(rows: MemoryQuerySet, limit: int) -> list[Memory]:
    """Return the newest of these rows; those that `find_refused` names are left out, and others take their places."""
    accepted: list[Memory] = []
    older = rows
    while len(accepted) < limit:
        found = list(older.order_by("-updated_at", "-id")[:limit])
        refused = find_refused(found)
        accepted += [row for row in found if row.pk not in refused]
        if len(found) < limit:
            break
        last = found[-1]
        older = rows.filter(Q(updated_at__lt=last.updated_at) | Q(updated_at=last.updated_at, pk__lt=last.pk))
    return accepted[:limit]


def find_refused(rows: Iterable[Any]) -> set[int]:
    """Return the ids of rows that today's rules refuse; no query while all verdicts are by those rules (P-04)."""
    stale = {row.pk for row in rows if row.rules_version != guard.RULES.version}
    return find_refused_of(stale) if stale else set()


def find_refused_of(ids: Collection[int], *, using: str = DEFAULT_DB_ALIAS) -> set[int]:
    """Return those of these ids that today's rules refuse. One query: for the texts that other rules accepted."""
    stale = Memory.objects.using(using).filter(pk__in=ids).exclude(rules_version=guard.RULES.version)
    rows = stale.only("content", "fact_type", "tickers", "metadata")
    verdicts = judge_stored(MEMORY_KIND, {row.pk: row.guarded_text for row in rows})
    return {pk for pk, verdict in verdicts.items() if verdict.is_held}


def get_history(
    memory: Memory,
    *,
    below: int | None = None,
    limit: int = MAX_VERSIONS,
) -> list[HistoryEntry]:
    """Return at most `limit` versions, newest first; `below` continues under that version."""
    older = memory.revisions.filter(version__lt=memory.version if below is None else below)
    revisions = list(older.order_by("-version")[: limit + 1])
    versions: list[Memory | MemoryRevision] = [*revisions] if below is not None else [memory, *revisions]
    replaced = revisions if below is None else revisions[1:]
    return [history_entry(memory, *pair) for pair in zip_longest(versions[:limit], replaced[:limit])]


def history_entry(
    memory: Memory,
    row: Memory | MemoryRevision,
    replaced: MemoryRevision | None,
) -> HistoryEntry:
    """Return a version; the one that it replaced says when and why."""
    return HistoryEntry(
        version=row.version,
        content=row.content,
        fact_type=row.fact_type,
        tickers=tuple(row.tickers),
        actor=row.actor,
        written_at=replaced.replaced_at if replaced else memory.created_at,
        reason=reason_label(replaced.reason) if replaced else "",
        is_current=isinstance(row, Memory),
        before=replaced.content if replaced else None,
    )


def find_hard_constraints(ids: Collection[int], *, owner: Owner) -> set[int]:
    """Return those of these ids that are limits or stand for one. One query at most."""
    rows = Memory.objects.for_owner(owner).filter(pk__in=ids, fact_type=HARD_CONSTRAINT) if ids else ()
    return {row.pk for row in rows if row.is_hard}


def find_preference(memory: Memory) -> Preference | None:
    """Return the preference that a memory stands for, None for another memory. One query at most."""
    if memory.preference_id is None:
        return None
    return Preference.objects.filter(pk=memory.preference_id, owner_id=memory.owner_id).first()


def find_constraint(memory: Memory) -> Preference | None:
    """Return the preference that a hard constraint stands for, or that says the same and was not refused or ended.

    One query, none for another memory.
    """
    if not memory.is_labelled:
        return None
    said = Q(origin=f"{MEMORY_ORIGIN}{memory.pk}") | Q(statement=memory.content)
    said &= Q(
        kind=PreferenceKind.HARD_CONSTRAINT,
        state__in=(PreferenceState.PROPOSED, PreferenceState.ACTIVE),
    )
    wanted = Q(pk=memory.preference_id) if memory.preference_id else said
    return Preference.objects.filter(wanted, owner_id=memory.owner_id).order_by("-pk").first()


def find_version(memory: Memory, version: int) -> Memory | MemoryRevision:
    """Return what the memory said in this version; for one that never was, what it says now."""
    found: MemoryRevision | None = memory.revisions.filter(version=version).first()
    return found or memory


def find_reasoning(memory: Memory) -> str:
    """Return why it was written, as its writer said in the audit log; empty when nobody said."""
    written = AuditEntry.objects.filter(
        tool_call="memory_write",
        at=memory.created_at,
        details__id=memory.pk,
    )
    return written.values_list("reasoning", flat=True).first() or ""


def find_deletions(memories: Iterable[Memory]) -> dict[str, Deletion]:
    """Return by batch who deleted these rows. Two queries at most.

    Before there were change sets the audit log alone said so: it is read along its index by time.
    """
    gone = [memory for memory in memories if memory.deleted_at]
    sets = list(filter(None, (parse_number(memory.batch or "", after=SET) for memory in gone)))
    made = ChangeSet.objects.filter(pk__in=sets) if sets else ()
    found = {f"{SET}{each.pk}": Deletion(each.actor, reason_label(each.reason)) for each in made}
    deleted_at = [memory.deleted_at for memory in gone if memory.deleted_at and memory.batch not in found]
    if not deleted_at:
        return found
    entries = AuditEntry.objects.filter(tool_call__in=("memory_removed", "write_rollback"), at__in=deleted_at)
    rows = entries.values_list("details__batch", "actor", "reasoning")
    return found | {batch: Deletion(actor, reason_label(reason)) for batch, actor, reason in rows}


def find_unrestorable(memories: Iterable[Memory]) -> set[int]:
    """Return the ids of rows in the trash that only an operator restores: others deleted what their owner did not type.

    What a key deleted its owner restores. Three queries at most.
    """
    gone = {row.pk: row for row in memories if row.deleted_at and not row.is_editable}
    rows = MemoryDeletion.objects.filter(memory_id__in=gone).values_list("memory_id", "deleted_at") if gone else ()
    own = set(rows)
    others = {pk: row for pk, row in gone.items() if (pk, row.deleted_at) not in own}
    by_keys = {batch for batch, each in find_deletions(others.values()).items() if each.actor.startswith(AGENT_ACTOR)}
    return {pk for pk, row in others.items() if row.batch not in by_keys}


def find_not_of_keys(memories: Iterable[Memory]) -> set[int]:
    """Return the ids of rows that a key may not change: a person typed, confirmed, corrected or released them.

    Or no key wrote them. Who took a key's change back by hand decided too. Five queries at most.
    """
    memories = list(memories)
    by_keys = [row.pk for row in memories if row.writer_kind is WriterKind.AGENT and row.preference_id is None]
    if not by_keys:
        return {row.pk for row in memories}
    typed = MemoryRevision.objects.filter(by_persons() | Q(reason__startswith=REVERT_REASON), memory__in=by_keys)
    moved = Change.objects.filter(by_persons("set__"), kind=MEMORY_KIND, key__in=list(map(str, by_keys)))
    released = Hold.objects.decided(Decision.RELEASED).filter(kind=MEMORY_KIND, object_id__in=by_keys)
    # The facts stand above this room: their decisions are reached by their name, never imported.
    decided = apps.get_model("memory_app", "ConsolidationEvent").objects.filter(by_persons())
    touched = {
        *typed.values_list("memory_id", flat=True),
        *map(int, moved.values_list("key", flat=True)),
        *released.values_list("object_id", flat=True),
        *decided.filter(fact_id__in=by_keys).values_list("fact_id", flat=True),
        *decided.filter(other_id__in=by_keys).values_list("other_id", flat=True),
    }
    return {row.pk for row in memories} - (set(by_keys) - touched)


def find_own_deletions(memories: Iterable[Memory]) -> dict[int, datetime]:
    """Return by row when its owner last deleted the same words, for rows that others wrote since. One query at most."""
    keys = {
        row.pk: (row.owner_id, fact_key(row.content))
        for row in memories
        if row.deleted_at is None and row.writer_kind is not WriterKind.PERSON
    }
    if not keys:
        return {}
    owners, words = zip(*keys.values(), strict=True)
    restored = Memory.objects.filter(pk=OuterRef("memory_id"), deleted_at__isnull=True, retired_at__isnull=True)
    found = MemoryDeletion.objects.filter(
        ~Exists(restored),
        owner__in=set(owners),
        fact_key__in=set(words),
    )
    last: dict[tuple[int, str], tuple[int, datetime]] = {}
    for owner_id, key, pk, deleted_at in found.order_by("deleted_at").values_list(
        "owner_id", "fact_key", "memory_id", "deleted_at"
    ):
        last[owner_id, key] = (pk, deleted_at)
    return {pk: last[key][1] for pk, key in keys.items() if key in last and last[key][0] < pk}


def find_given_up(owner: User, texts: Iterable[str], *, now: datetime) -> dict[str, Memory]:
    """Return by text what its owner deleted or corrected last in these words, while it can be restored. Two queries."""
    keys = {text: fact_key(text) for text in texts}
    given_up = MemoryDeletion.objects.for_owner(owner).filter(fact_key__in=set(keys.values()))
    given_up = given_up.filter(deleted_at__gt=retention_cutoff(now)).order_by("deleted_at")
    last = dict(given_up.values_list("fact_key", "memory_id"))
    rows = Memory.objects.exclude(deleted_at=None, retired_at=None).in_bulk(last.values()) if last else {}
    return {text: rows[last[key]] for text, key in keys.items() if last.get(key) in rows}


def reason_label(reason: str) -> str:
    """Return why something was done: what a service noted in the reader's words, what people typed as it is."""
    if reason == UNDO_REASON:
        return _("Undone")
    corrected_by = parse_number(reason, after=CORRECTED_REASON)
    if corrected_by is not None:
        return _("Corrected by memory %(id)d") % {"id": corrected_by}
    rollback = parse_number(reason, after=ROLL_BACK_REASON)
    if rollback is not None:
        return _("Roll-back %(number)d") % {"number": rollback}
    version = parse_number(reason, after=REVERT_REASON)
    return reason if version is None else _("Back to version %(version)d") % {"version": version}


def memory_records(memories: Iterable[Memory], *, reader: User) -> list[dict[str, Any]]:
    """Return memories as API and tools answer them (contract). One query for conflicts, three at most for writers.

    What stands for a preference that a key proposed is that key's word.
    """
    memories = list(memories)
    marks = find_marks([row.pk for row in memories if row.state is State.LIVE])
    learned = [row.preference_id for row in memories if row.preference_id and row.actor == BRIDGE_ACTOR]
    actors = dict(Preference.objects.filter(pk__in=learned).values_list("pk", "actor")) if learned else {}
    said = [copy(row) for row in memories]
    for row in said:
        row.actor = actors.get(row.preference_id, row.actor)
    writers = name_writers(said, reader=reader)
    return [
        memory_record(memory, writer) | mark_record(marks.get(memory.pk))
        for memory, writer in zip(memories, writers, strict=True)
    ]


def memory_answer(memory: Memory) -> dict[str, Any]:
    """Return what a call answers about a memory that it wrote: its id, why it is held, how often it was said."""
    return written_record(MEMORY_KIND, memory) | ({"seen": memory.seen} if memory.is_repeated else {})


def memory_record(memory: Memory, writer: dict[str, str]) -> dict[str, Any]:
    """Return a memory as API and tools answer it, with whose word it is."""
    return {
        "id": memory.pk,
        "category": memory.category,
        "content": memory.content,
        "source": memory.source,
        "writer": writer,
        "fact_type": memory.fact_type or None,
        "tickers": memory.tickers,
        "state": memory.state,
        "version": memory.version,
        "seen": memory.seen,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }
