"""Adds the edges that the extractor finds and the table lacks. S1's replay; here it never takes one away."""

from collections.abc import Iterator, Sequence

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.utils.translation import gettext_lazy as _

from memory_app.doctor.fixes.contract import SAMPLE, Fix, FixName, Foreseen, Journal
from memory_app.edges.index import INSERT, Row, edge_rows, find_rows
from memory_app.edges.services import next_ids, tell
from memory_app.memories.models import Memory
from minara_site.kernel.jobs.services import Claim, report_progress


def foresee(claim: Claim | None) -> Foreseen:
    """Read every memory and count the edges that are missing."""
    added, lacking = 0, list[int]()
    for ids in slices(claim):
        missing = missing_rows(list(Memory.objects.filter(pk__in=ids).order_by("pk")))
        added += len(missing)
        lacking += dict.fromkeys(row[2] for row in missing)
    return Foreseen({"added": added, "memories": len(lacking)}, tuple(lacking[:SAMPLE]))


def apply(journal: Journal, claim: Claim | None) -> dict[str, int]:
    """Add what is missing, in slices, each its own transaction."""
    added = 0
    for ids in slices(claim):
        with transaction.atomic():
            rows = list(Memory.objects.select_for_update(of=("self",)).filter(pk__in=ids).order_by("pk"))
            if missing := missing_rows(rows):
                journal.write()
                insert(missing)
                lacking = {row[2] for row in missing}
                tell(row for row in rows if row.pk in lacking)
        added += len(missing)
    return {"added": added}


def slices(claim: Claim | None) -> Iterator[list[int]]:
    """Yield the ids of all memories in slices, and say between two how far it is."""
    total, done, last_id = Memory.objects.count(), 0, 0
    while ids := next_ids(last_id):
        yield ids
        done, last_id = done + len(ids), ids[-1]
        report_progress(claim, done, total)


def missing_rows(memories: Sequence[Memory]) -> list[Row]:
    """Return the edges that these memories should have and do not."""
    wanted = {row for memory in memories for row in edge_rows(memory)}
    stored = find_rows([memory.pk for memory in memories], using=DEFAULT_DB_ALIAS)
    return sorted(wanted - stored.keys(), key=lambda row: (row[2], row))


def insert(rows: Sequence[Row]) -> None:
    """Add edges; one that stands by now costs nothing."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.executemany(INSERT, rows)


EDGES = Fix(FixName.EDGES, _("Adds the edges that memories should have and do not."), foresee, apply)
