"""Which rows the prompt carries, in few queries, and what it leaves out."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Q

from memory_app.memories.core import USER_WRITTEN, Category, FactState
from memory_app.memories.models import Memory, MemoryQuerySet
from memory_app.memories.selectors import retention_cutoff
from memory_app.snapshot.core import (
    MAX_OBSERVATIONS,
    MAX_PERSONALIZATION,
    RESERVED_FOR_USER_WRITTEN,
    Block,
    LeftOut,
    LeftOutReason,
    MemoryRow,
    ProfileEntry,
    choose_observations,
    render_memory_block,
)
from memory_app.user_profile.selectors import list_entries
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.ownership import Owner
from minara_site.web.keyset import Count

CHANGES_THE_NEXT_PROMPT = Q(tool_call__startswith="memory_") | Q(tool_call__startswith="user_profile_")
MOST_WRITES = 10_000  # audit rows that are read to count what waits
CHANGES_NOTHING = ("memory_purged", "memory_read", "memory_search")  # what is purged was deleted long before


def load_personalization_rows(*, owner: Owner) -> list[MemoryRow]:
    """Return the newest personalization memories, at most 20: the prompt's personalization block carries them."""
    rows = readable(owner).filter(category=Category.PERSONALIZATION)
    return newest_rows(rows, MAX_PERSONALIZATION)


def load_observation_rows(*, owner: Owner, without: Collection[int]) -> tuple[MemoryRow, ...]:
    """Return the rows of the memory block; `without` are the ids that the personalization block carries."""
    rows = readable(owner).exclude(pk__in=without)
    # One query per source: each walks its index from the newest row and stops, however many rows agents wrote.
    user_written = [
        row for source in USER_WRITTEN for row in newest_rows(rows.filter(source=source), RESERVED_FOR_USER_WRITTEN)
    ]
    return choose_observations(user_written, newest_rows(rows, MAX_OBSERVATIONS))


def load_memory_block(*, owner: Owner, without: Collection[int]) -> Block:
    """Return the memory block of a session that begins now."""
    entries = list_entries(owner=owner).values_list("key", "value")
    profile = [ProfileEntry(key, value) for key, value in entries]
    return render_memory_block(profile, load_observation_rows(owner=owner, without=without))


def load_prompt_ids(*, owner: Owner) -> frozenset[int]:
    """Return the ids of the memories that a session beginning now would carry."""
    personalization = {row.id for row in load_personalization_rows(owner=owner)}
    return frozenset(personalization | {row.id for row in load_observation_rows(owner=owner, without=personalization)})


def count_left_out(*, owner: Owner, carried: int, now: datetime) -> tuple[LeftOut, ...]:
    """Return what is stored and not carried, by reason; reasons without rows are left out."""
    mine = Memory.objects.for_owner(owner)
    retired = mine.live().filter(category=Category.FACT, fact_state=FactState.RETIRED).count()
    counts = (
        LeftOut(LeftOutReason.OLDER, mine.live().count() - retired - carried),
        LeftOut(LeftOutReason.RETIRED, retired),
        LeftOut(LeftOutReason.DELETED, mine.deleted().kept(retention_cutoff(now)).count()),
    )
    return tuple(each for each in counts if each.count > 0)


def readable(owner: Owner) -> MemoryQuerySet:
    """Return the memories that a prompt may carry: live, and not retired by consolidation."""
    rows: MemoryQuerySet = Memory.objects.for_owner(owner).live().exclude(fact_state=FactState.RETIRED)
    return rows


def newest_rows(rows: MemoryQuerySet, limit: int) -> list[MemoryRow]:
    """Return the newest rows; ties in `updated_at` by id, the larger first."""
    columns = rows.order_by("-updated_at", "-id").values_list("id", "category", "content", "updated_at")[:limit]
    return [MemoryRow(*values) for values in columns]


def count_writes_since(*, owner_id: int, since: datetime) -> Count:
    """Return how many memories and profile entries were written after this moment: they wait for the next session."""
    writes = AuditEntry.objects.filter(CHANGES_THE_NEXT_PROMPT, owner_id=owner_id, at__gt=since)
    details = list(writes.exclude(tool_call__in=CHANGES_NOTHING).values_list("details", flat=True)[: MOST_WRITES + 1])
    return Count(sum(map(count_rows_of, details[:MOST_WRITES])), is_exact=len(details) <= MOST_WRITES)


def count_rows_of(details: Mapping[str, Any]) -> int:
    """Return how many rows an audit row stands for: a bulk write counts them, a removal lists them."""
    return int(details.get("count", len(details.get("memories", (None,)))))
