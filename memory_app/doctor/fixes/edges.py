"""Adds the edges that the extractor finds and the table lacks. S1's replay; here it never takes one away."""

from collections.abc import Sequence

from django.db import DEFAULT_DB_ALIAS, transaction
from django.utils.translation import gettext_lazy as _

from memory_app.doctor.fixes.names import FixName
from memory_app.edges.index import Linkable, Row, edge_rows, find_rows, insert
from memory_app.edges.services import publish_changes, slices
from memory_app.index.core.document import Kind
from memory_app.index.derived import derived_table, derived_tables
from minara_site.kernel.doctor.fixes import SAMPLE, DryRun, Fix, FixAudit
from minara_site.kernel.jobs.services import Claim


def dry_run(claim: Claim | None) -> DryRun:
    """Read every memory and decision and count the edges that are missing; the sample is of memories."""
    added, lacking = 0, {table.counted: list[int]() for table in derived_tables()}
    for table, ids in slices(claim):
        missing = missing_rows(list(table.rows.filter(pk__in=ids).order_by("pk")))
        added += len(missing)
        lacking[table.counted] += dict.fromkeys(row[2] for row in missing)
    counts = {
        "added": added,
        **{name: len(found) for name, found in lacking.items()},
    }
    return DryRun(
        counts,
        tuple(lacking[derived_table(Kind.MEMORY).counted][:SAMPLE]),
    )


def apply(audit: FixAudit, claim: Claim | None) -> dict[str, int]:
    """Add what is missing, in slices, each its own transaction."""
    added = 0
    for table, ids in slices(claim):
        with transaction.atomic():
            rows = list(table.rows.select_for_update(of=("self",)).filter(pk__in=ids).order_by("pk"))
            if missing := missing_rows(rows):
                audit.write()
                insert(missing, using=DEFAULT_DB_ALIAS)
                lacking = {row[2] for row in missing}
                publish_changes(table, (row for row in rows if row.pk in lacking))
        added += len(missing)
    return {"added": added}


def missing_rows(rows: Sequence[Linkable]) -> list[Row]:
    """Return the edges that these rows of one table should have and do not."""
    wanted = {edge for row in rows for edge in edge_rows(row)}
    stored = find_rows(rows, using=DEFAULT_DB_ALIAS)
    return sorted(wanted - stored.keys(), key=lambda edge: (edge[2], edge))


EDGES = Fix(
    FixName.EDGES,
    _("Edges"),
    _("Adds the edges that memories and decisions should have and do not."),
    dry_run,
    apply,
)
