"""Storing memories, one or many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.db import transaction
from django.db.models import CharField, F

from learning_app.preferences.core import PREFERENCE_ORIGIN
from learning_app.preferences.limits import check_places
from memory_app.memories.core import BESIDE_ORIGIN, MEMORY_KIND, MEMORY_ORIGIN, FactState, content_hash
from memory_app.memories.models import IS_BRIDGED, Memory
from memory_app.memories.services.clean import clean_content, clean_fact_type, clean_metadata, clean_tickers
from memory_app.memories.services.guarded import hold_new, judge_new, publish_stated
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.db import slices
from minara_site.kernel.events import fact_recorded, memory_written, send_after_commit
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.ownership import owner_locked
from minara_site.kernel.prepared import OWNER_ID, Parameter, Prepared

SLICE = 500
MAX_SAME = 100  # rows of one writer and text that are looked at
SAME_TEXT = Prepared(
    lambda *columns: columns,
    lambda: [
        Memory.objects.filter(
            owner_id=OWNER_ID,
            content_hash=Parameter("content_hash", CharField()),
            actor=Parameter("actor", CharField()),
            deleted_at__isnull=True,
            retired_at__isnull=True,
        )
        .exclude(IS_BRIDGED)
        .order_by("pk")
        .values_list("pk", "category", "fact_type", "tickers")[:MAX_SAME]
    ],
)


@dataclass(frozen=True)
class Draft:
    """A memory that is to be written. `scenario_id` is for the system's own writers: no door sets it (trust R-31)."""

    category: Category
    content: str
    provenance: Provenance
    fact_type: str = ""
    tickers: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None
    written_at: datetime | None = None  # when the original was written; None is now
    changed_at: datetime | None = None  # when its text was last changed; None is when it was written
    is_demo: bool = False
    scenario_id: str = ""


def write_memory(
    *,
    owner_id: int,
    draft: Draft,
    now: datetime,
    reasoning: str = "",
) -> Memory:
    """Store one memory; a text that the guard refuses is held. What its writer said already stands once, `is_repeated`.

    Raises Invalid when a field cannot be stored, and Conflict for a limit where no more can be in force.
    """
    memory = build_memory(owner_id=owner_id, draft=draft, now=now)
    with owner_locked(owner_id):
        if standing := find_repeated(memory):
            repeat(standing, now=now, reasoning=reasoning)
            return standing
        if memory.is_limit:
            check_places(owner_id)
        memory.save(force_insert=True)
        held = hold_new([memory], now=now)
        record_audit(
            now=now,
            actor=draft.provenance.actor,
            tool_call="memory_write",
            owner_id=owner_id,
            reasoning=reasoning,
            details={
                "id": memory.pk,
                "category": memory.category,
                "sha256": content_digest(memory.content),
                **({"held": held} if held else {}),
            },
        )
        send_after_commit(memory_written, owner_id=owner_id, memory_ids=(memory.pk,))
        if not held:
            stored_kinds()[MEMORY_KIND].accept([memory], now=now)
    return memory


def find_repeated(memory: Memory) -> Memory | None:
    """Return what its writer said in the same words, category, label and assets, and what is read or held.

    What stands for something else, or in its place, is no repetition.
    """
    if memory.origin.startswith((PREFERENCE_ORIGIN, MEMORY_ORIGIN, BESIDE_ORIGIN)):
        return None
    about = (memory.category, memory.fact_type, set(memory.tickers))
    same = SAME_TEXT.ask(owner_id=memory.owner_id, content_hash=memory.content_hash, actor=memory.actor)
    pk = next((pk for pk, *others, tickers in same if (*others, set(tickers)) == about), None)
    return Memory.objects.get(pk=pk) if pk else None


def repeat(standing: Memory, *, now: datetime, reasoning: str) -> None:
    """Count that a writer said the same again; of a fact the trail tells it."""
    Memory.objects.filter(pk=standing.pk).update(seen=F("seen") + 1)
    standing.seen, standing.is_repeated = standing.seen + 1, True
    about: dict[str, Any] = {"owner_id": standing.owner_id, "actor": standing.actor}
    details = {"id": standing.pk, "seen": standing.seen}
    record_audit(now=now, tool_call="memory_repeated", reasoning=reasoning, details=details, **about)
    if standing.fact_state:
        # The facts stand above this room: their events are reached by name, never imported.
        events = apps.get_model("memory_app", "ConsolidationEvent").objects
        events.create(at=now, kind="deduplicated", decider="rule", fact_id=standing.pk, **about)


def record_fact(
    *,
    owner_id: int,
    draft: Draft,
    now: datetime,
    reasoning: str = "",
) -> Memory:
    """Store a fact as pending (S1, `recordFact`). Raises Invalid when a field cannot be stored.

    One that the guard refuses is held. A sweep settles it later: the turn never waits for that.
    """
    with transaction.atomic():
        fact = write_memory(
            owner_id=owner_id,
            draft=draft,
            now=now,
            reasoning=reasoning,
        )
        send_after_commit(fact_recorded, owner_id=owner_id, memory_ids=(fact.pk,))
    return fact


def write_memories(
    *,
    owner_id: int,
    drafts: Iterable[Draft],
    now: datetime,
    actor: str,
    tool_call: str,
    details: dict[str, Any] | None = None,
) -> int:
    """Store many memories in slices, each with one audit row; return how many.

    A slice stands whole or not at all. Raises Invalid before anything of the slice is stored.
    """
    written = 0
    for chosen in slices(drafts):
        rows = [
            build_memory(
                owner_id=owner_id,
                draft=draft,
                now=now,
            )
            for draft in chosen
        ]
        store_memories(
            rows,
            owner_id=owner_id,
            now=now,
            actor=actor,
            tool_call=tool_call,
            details=details,
        )
        written += len(rows)
    return written


def store_memories(
    rows: Sequence[Memory],
    *,
    owner_id: int,
    now: datetime,
    actor: str,
    tool_call: str,
    details: dict[str, Any] | None = None,
) -> None:
    """Store built rows, at most a slice of them, with their audit row."""
    with transaction.atomic():
        held = insert_memories(rows, owner_id=owner_id, now=now)
        record_audit(
            now=now,
            actor=actor,
            tool_call=tool_call,
            owner_id=owner_id,
            details={
                **(details or {}),
                "ids": runs_of(row.pk for row in rows),
                "count": len(rows),
                **({"held": held} if held else {}),
            },
        )


def insert_memories(rows: Sequence[Memory], *, owner_id: int, now: datetime) -> int:
    """Insert built rows, at most a slice of them, with their holds; return how many are held.

    Needs a transaction, in which the caller records what was done.
    """
    ids = tuple(row.pk for row in Memory.objects.bulk_create(rows))
    send_after_commit(memory_written, owner_id=owner_id, memory_ids=ids)
    publish_stated(rows, now=now)
    return hold_new(rows, now=now)


def runs_of(ids: Iterable[int]) -> list[list[int]]:
    """Return exactly these ids as runs `[first, last]`: another writer's may lie between those of one insert."""
    runs: list[list[int]] = []
    for pk in sorted(ids):
        if runs and runs[-1][1] == pk - 1:
            runs[-1][1] = pk
        else:
            runs.append([pk, pk])
    return runs


def build_memory(*, owner_id: int, draft: Draft, now: datetime) -> Memory:
    """Return the unsaved row of a draft, every field cleaned and the whole judged. Raises Invalid."""
    content = clean_content(draft.content)
    written_at = draft.written_at or now
    memory = Memory(
        owner_id=owner_id,
        category=draft.category,
        content=content,
        metadata=clean_metadata(draft.metadata),
        source=draft.provenance.source,
        fact_type=clean_fact_type(draft.fact_type),
        fact_state=FactState.PENDING if draft.category is Category.FACT else None,
        tickers=clean_tickers(draft.tickers),
        actor=draft.provenance.actor,
        origin=draft.provenance.origin,
        content_hash=content_hash(draft.category, content),
        is_demo=draft.is_demo,
        scenario_id=draft.scenario_id,
        created_at=written_at,
        updated_at=max(draft.changed_at or written_at, written_at),
    )
    judge_new(memory, now=now)
    return memory


def agent_source(metadata: dict[str, Any] | None) -> Source:
    """Return the source of an agent's write: what it says, if it may say so, else `agent_recorded` (decisions)."""
    claimed = (metadata or {}).get("source")
    allowed = (Source.USER_EXPLICIT, Source.CHAT_EXTRACTED)
    return Source(claimed) if claimed in allowed else Source.AGENT_RECORDED
