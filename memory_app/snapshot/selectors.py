"""The memory block of a session, what it leaves out, and what was written since."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet, Value
from django.db.models.functions import Concat

from learning_app.preferences.limits import Limit
from memory_app.memories.core.prompt import MemoryRow
from memory_app.memories.models import Memory, limit_rows
from memory_app.memories.prompt_rows import HIDEABLE, LeftOutRows
from memory_app.memories.selectors import retention_cutoff
from memory_app.roles.prompt_lessons import load_lesson_rows
from memory_app.snapshot.core import Block, LeftOut, ProfileEntry, Section, render_memory_block
from memory_app.user_profile.selectors import load_profile_entries
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.table import load_acts
from minara_site.kernel.changes.models import Change
from minara_site.kernel.conversations.models import Session
from minara_site.kernel.core.vocabulary import LeftOutReason
from minara_site.kernel.counts import RowCount

MAX_NAMED = 500  # of what is left out for one reason
REBUILDS = "rebuild:"  # how sets name the runs of rebuilds
MAX_WRITES = 10_000  # audit rows that are read to count what waits


def load_memory_block(
    *,
    owner: User,
    observations: Sequence[MemoryRow],
    documents: Iterable[Section],
    limits: Iterable[Limit],
    as_of: datetime,
) -> Block:
    """Return the memory block of a session that begins now; `documents` are its last sections. Two queries."""
    profile = [ProfileEntry(row.key, row.value) for row in load_profile_entries(owner.pk)]
    return render_memory_block(
        profile,
        observations,
        load_lesson_rows(owner=owner, as_of=as_of, limits=limits),
        documents,
    )


def count_left_out(
    *,
    owner: User,
    carried: int,
    is_hidden: bool,
    left_out: LeftOutRows,
    now: datetime,
) -> tuple[LeftOut, ...]:
    """Return what is stored and not carried, by reason; reasons without rows are left out. One query.

    Of what was `left_out` for what it says the ids are named.
    """
    mine = Memory.objects.for_owner(owner)
    hidden = mine.live().filter(HIDEABLE).exclude(limit_rows(f"user:{owner.pk}") | Q(pk__in=left_out))
    rows = {
        LeftOutReason.OLDER: mine.live(),
        LeftOutReason.HIDDEN: hidden if is_hidden else mine.none(),
        LeftOutReason.RETIRED: mine.retired(),
        LeftOutReason.DELETED: mine.deleted().kept(retention_cutoff(now)),
    }
    first, *others = (
        part.order_by().annotate(reason=Value(reason.value)).values("reason").annotate(number=Count("pk"))
        for reason, part in rows.items()
    )
    found = {row["reason"]: row["number"] for row in first.union(*others, all=True)}
    found[LeftOutReason.OLDER] -= carried + found.get(LeftOutReason.HIDDEN, 0) + len(left_out)
    counted = [LeftOut(reason, found[reason]) for reason in rows if found.get(reason, 0) > 0]
    for reason in sorted(set(left_out.values()), key=list(LeftOutReason).index):
        ids = [pk for pk, why in left_out.items() if why is reason]
        counted.append(LeftOut(reason, len(ids), tuple(ids[:MAX_NAMED])))
    return tuple(counted)


def count_writes_since(*, owner_id: int, since: datetime) -> RowCount:
    """Return how many writes after this moment wait for the next session, of all that a prompt may carry.

    What rebuilds changed stands in their runs, not in the audit log.
    """
    writes = list_prompt_changes(since=since).filter(owner_id=owner_id)
    details = list(writes.values_list("details", flat=True)[: MAX_WRITES + 1])
    runs = Change.objects.filter(owner_id=owner_id, set__at__gt=since, set__run__startswith=REBUILDS)
    return RowCount(
        sum(map(count_read_rows_of, details[:MAX_WRITES])) + runs.count(),
        is_exact=len(details) <= MAX_WRITES,
    )


def count_writes_of_sessions(sessions: Collection[Session]) -> dict[str, int]:
    """Return how many writes each of these sessions does not know of, by its id, counted up to 10 000. One query."""
    if not sessions:
        return {}
    owners, since = {session.owner_id for session in sessions}, min(session.created_at for session in sessions)
    writes = list_prompt_changes(since=since).filter(owner_id__in=owners)
    rows = writes.order_by("-at").values_list("owner_id", "at", "details")
    counted = [(owner_id, at, count_read_rows_of(details)) for owner_id, at, details in rows[:MAX_WRITES]]
    return {
        session.pk: sum(n for owner_id, at, n in counted if owner_id == session.owner_id and at > session.created_at)
        for session in sessions
    }


def list_prompt_changes(*, since: datetime) -> "QuerySet[AuditEntry]":
    """Return the acts after this moment that change what the next prompt carries, unordered."""
    names = [act.name for act in load_acts().values() if act.changes_prompt]
    rows = AuditEntry.objects.alias(act=Concat("tool_call", Value("")))  # no index: the one by owner reads far less
    return rows.filter(act__in=names, at__gt=since)


def count_rows_of(details: Mapping[str, Any]) -> int:
    """Return how many rows an audit row is about: a bulk write counts them, a removal lists them."""
    return int(details.get("count", len(details.get("memories", (None,)))))


def count_read_rows_of(details: Mapping[str, Any]) -> int:
    """Return how many of the rows of an audit row the next prompt may carry: no held ones, no files that none does."""
    return count_rows_of(details) - int(details.get("held", details.get("never_carried", 0)))
