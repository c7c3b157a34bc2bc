"""The edges of all memories, made anew: after an upgrade, and when the doctor asks (S1, replay)."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from memory_app.edges.index import SLICE, write_edges
from memory_app.memories.models import Memory
from minara_site.kernel.events import memory_written, send_after_commit
from minara_site.kernel.jobs.services import Claim, report_progress


def replay_edges(*, now: datetime, claim: Claim | None = None) -> dict[str, int]:
    """Read every memory again and write what its edges lack or have too many; return how many of each.

    In slices, each its own transaction, so that a writer waits for one slice at most. A replay of a replay writes
    nothing.
    """
    counts = {"memories": 0, "added": 0, "removed": 0}
    total, last_id = Memory.objects.count(), 0
    while ids := next_ids(last_id):
        with transaction.atomic():
            rows = list(Memory.objects.select_for_update(of=("self",)).filter(pk__in=ids).order_by("pk"))
            written = write_edges(rows)
            if written.added or written.removed:
                tell(rows)
        last_id = ids[-1]
        counts["memories"] += len(rows)
        counts["added"] += written.added
        counts["removed"] += written.removed
        report_progress(claim, counts["memories"], total)
    return counts


def tell(rows: Iterable[Memory]) -> None:
    """Tell of each owner that what is known of these memories changed: compiled pages are made of edges."""
    owners: defaultdict[int, list[int]] = defaultdict(list)
    for row in rows:
        owners[row.owner_id].append(row.pk)
    for owner_id, ids in owners.items():
        send_after_commit(memory_written, owner_id=owner_id, memory_ids=tuple(ids))


def next_ids(last_id: int) -> list[int]:
    """Return the ids of the next slice of memories."""
    return list(Memory.objects.filter(pk__gt=last_id).order_by("pk").values_list("pk", flat=True)[:SLICE])
