"""Judge again what other rules judged: the job `guard.rescan`. Source: trust P-04.

In short slices, each its own transaction and stamped with today's rules: a run that died goes on where it stood.
"""

from collections import defaultdict
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from memory_app.memories.models import Memory
from memory_app.memories.services import hashes_by_owner, lock_memories, rescan_rows
from memory_app.roles.models import RoleMemory
from memory_app.roles.services import guarded as roles
from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.services import lock_entries, rescan_entries
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.events import memory_written, role_memory_changed, send_after_commit
from minara_site.kernel.guard.selectors import out_of_date
from minara_site.kernel.jobs.services import Claim, report_progress

ACTOR = "job:guard.rescan"
SLICE = 200
MOST_PER_RUN = 20_000


def rescan(*, now: datetime, claim: Claim | None = None, most: int = MOST_PER_RUN) -> dict[str, int]:
    """Judge at most this many texts again and hold what today's rules refuse; return how many of each."""
    judged = held = 0
    parts: tuple[tuple[Any, QuerySet[Any]], ...] = (
        (rescan_memories, Memory.objects.all()),
        (rescan_profile, UserProfileEntry.objects.all()),
        (rescan_roles, RoleMemory.objects.all()),
    )
    total = min(most, sum(count_stale(rows) for _rescan, rows in parts))
    for rescan_slice, rows in parts:
        while judged < most:
            with transaction.atomic():
                seen, refused = rescan_slice(rows, now=now)
            judged, held = judged + seen, held + refused
            if not seen:
                break
            report_progress(claim, judged, total)
    return {"judged": judged, "held": held}


def rescan_memories(rows: "QuerySet[Memory]", *, now: datetime) -> tuple[int, int]:
    """Judge one slice of memories; return how many, and how many of them are held by it."""
    found = lock_memories(next_slice(rows))
    refused = rescan_rows(found, now=now)
    for owner_id, memories in hashes_by_owner(refused).items():
        details = {"memories": memories}
        record_audit(now=now, actor=ACTOR, tool_call="memory_held", owner_id=owner_id, details=details)
        send_after_commit(memory_written, owner_id=owner_id, memory_ids=tuple(each["id"] for each in memories))
    return len(found), len(refused)


def rescan_profile(rows: "QuerySet[UserProfileEntry]", *, now: datetime) -> tuple[int, int]:
    """Judge one slice of profile values; return how many, and how many of them are held by it."""
    found = lock_entries(next_slice(rows))
    refused = rescan_entries(found.values(), now=now, actor=ACTOR)
    for entry in refused:
        record_audit(
            now=now, actor=ACTOR, tool_call="user_profile_held", owner_id=entry.owner_id, details={"key": entry.key}
        )
    return len(found), len(refused)


def rescan_roles(rows: "QuerySet[RoleMemory]", *, now: datetime) -> tuple[int, int]:
    """Judge one slice of decisions with their lessons; return how many, and how many texts are held by it."""
    found = roles.lock_entries(next_slice(rows))
    refused = roles.rescan_entries(found, now=now)
    for kind, entries in refused.items():
        ids: defaultdict[int, list[int]] = defaultdict(list)
        for entry in entries:
            ids[entry.owner_id].append(entry.pk)
        for owner_id, own in ids.items():
            details = {"entries": own}
            record_audit(now=now, actor=ACTOR, tool_call=f"{kind}_held", owner_id=owner_id, details=details)
            send_after_commit(role_memory_changed, owner_id=owner_id, entry_ids=tuple(own))
    return len(found), sum(map(len, refused.values()))


def count_stale(rows: "QuerySet[Any]") -> int:
    """Return how many rows have a verdict of other rules."""
    return sum(rows.filter(**lookup).count() for lookup in out_of_date())


def next_slice(rows: "QuerySet[Any]") -> list[int]:
    """Return the ids of the next rows with a verdict of other rules, along the index; two ranges, older and newer.

    They are locked by whoever judges them, in the order in which every writer locks.
    """
    for lookup in out_of_date():
        stale = rows.filter(**lookup).order_by("rules_version", "pk")
        if found := list(stale.values_list("pk", flat=True)[:SLICE]):
            return found
    return []
