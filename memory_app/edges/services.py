"""The edges of all rows, made anew: after an upgrade, and when the doctor asks (S1, replay)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db import transaction

from memory_app.edges.index import Linkable, write_edges
from memory_app.index.derived import DerivedTable, derived_tables
from minara_site.kernel.db import SLICE
from minara_site.kernel.jobs.services import Claim, report_progress


def replay_edges(*, now: datetime, claim: Claim | None = None) -> dict[str, int]:
    """Read every row again and write what its edges lack or have too many; return how many of each.

    In slices, each its own transaction, so that a writer waits for one slice at most. A replay of a replay writes
    nothing.
    """
    counts = {
        **{table.counted: 0 for table in derived_tables()},
        "added": 0,
        "removed": 0,
    }
    for table, ids in slices(claim):
        with transaction.atomic():
            rows = list(table.rows.select_for_update(of=("self",)).filter(pk__in=ids).order_by("pk"))
            written = write_edges(rows)
            if written.added or written.removed:
                publish_changes(table, rows)
        counts[table.counted] += len(rows)
        counts["added"] += written.added
        counts["removed"] += written.removed
    return counts


def slices(claim: Claim | None) -> Iterator[tuple[DerivedTable, list[int]]]:
    """Yield the ids of all rows in slices, each with its table, and say between two how far it is."""
    total, done = sum(table.rows.count() for table in derived_tables()), 0
    for table in derived_tables():
        last_id = 0
        while ids := next_ids(last_id, table):
            yield table, ids
            done, last_id = done + len(ids), ids[-1]
            report_progress(claim, done, total)


def publish_changes(table: DerivedTable, rows: Iterable[Linkable]) -> None:
    """Say that rows of each owner changed: compiled pages are made of edges."""
    changed: defaultdict[int, list[int]] = defaultdict(list)
    for row in rows:
        changed[row.owner_id].append(row.pk)
    for owner_id, ids in changed.items():
        table.publish(owner_id, ids)


def next_ids(last_id: int, table: DerivedTable) -> list[int]:
    """Return the ids of the next slice of rows."""
    return list(table.rows.filter(pk__gt=last_id).order_by("pk").values_list("pk", flat=True)[:SLICE])
