"""The edges of all rows, made anew: after an upgrade, and when the doctor asks (S1, replay)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db import transaction

from memory_app.edges.core import SourceTable
from memory_app.edges.index import SLICE, Linkable, write_edges
from memory_app.memories.models import Memory
from memory_app.roles.models import RoleMemory
from minara_site.kernel.events import memory_written, role_memory_changed, send_after_commit
from minara_site.kernel.jobs.services import Claim, report_progress

SOURCES: tuple[Any, ...] = (Memory, RoleMemory)
"""The models whose rows have edges."""


def replay_edges(*, now: datetime, claim: Claim | None = None) -> dict[str, int]:
    """Read every memory and decision again and write what its edges lack or have too many; return how many of each.

    In slices, each its own transaction, so that a writer waits for one slice at most. A replay of a replay writes
    nothing.
    """
    counts = {"memories": 0, "decisions": 0, "added": 0, "removed": 0}
    for source, ids in slices(claim):
        with transaction.atomic():
            rows = list(source.objects.select_for_update(of=("self",)).filter(pk__in=ids).order_by("pk"))
            written = write_edges(rows)
            if written.added or written.removed:
                tell(rows)
        counts["memories" if source is Memory else "decisions"] += len(rows)
        counts["added"] += written.added
        counts["removed"] += written.removed
    return counts


def slices(claim: Claim | None) -> Iterator[tuple[Any, list[int]]]:
    """Yield the ids of all rows in slices, each with its model, and say between two how far it is."""
    total, done = sum(source.objects.count() for source in SOURCES), 0
    for source in SOURCES:
        last_id = 0
        while ids := next_ids(last_id, source):
            yield source, ids
            done, last_id = done + len(ids), ids[-1]
            report_progress(claim, done, total)


def tell(rows: Iterable[Linkable]) -> None:
    """Tell of each owner that what is known of these rows changed: compiled pages are made of edges."""
    changed: defaultdict[tuple[SourceTable, int], list[int]] = defaultdict(list)
    for row in rows:
        changed[row.src_table, row.owner_id].append(row.pk)
    for (table, owner_id), ids in changed.items():
        if table is SourceTable.MEMORIES:
            send_after_commit(memory_written, owner_id=owner_id, memory_ids=tuple(ids))
        else:
            send_after_commit(role_memory_changed, owner_id=owner_id, entry_ids=tuple(ids))


def next_ids(last_id: int, source: Any = Memory) -> list[int]:
    """Return the ids of the next slice of rows."""
    return list(source.objects.filter(pk__gt=last_id).order_by("pk").values_list("pk", flat=True)[:SLICE])
