"""Writes the search documents that are missing or out of date, and the index over them.

Documents without a row stay, because a fix deletes no row: `minara search rebuild` takes them.
"""

from collections.abc import Iterator

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.utils.translation import gettext_lazy as _

from memory_app.doctor.fixes.names import FixName
from memory_app.index import schema
from memory_app.index.adapters import backend
from memory_app.index.core.document import Document, Kind
from memory_app.index.derived import derived_tables
from memory_app.index.documents import documents, write
from minara_site.kernel.doctor.fixes import SAMPLE, DryRun, Fix, FixAudit
from minara_site.kernel.jobs.services import Claim

USING = DEFAULT_DB_ALIAS


def dry_run(claim: Claim | None) -> DryRun:
    """Read every row and its document, and count what is out of step; the sample is of memories."""
    stale = [(document.kind, document.object_id) for document in stale_documents()]
    missing = schema.missing_triggers(connections[USING])
    broken = backend(USING).index_problems()
    counts = {
        "documents": len(stale),
        "triggers": len(missing),
        "index": len(broken),
    }
    memories = [object_id for kind, object_id in stale if kind is Kind.MEMORY]
    return DryRun(counts, tuple(memories[:SAMPLE]))


def apply(audit: FixAudit, claim: Claim | None) -> dict[str, int]:
    """Repair what is out of step, in one transaction."""
    found = dry_run(claim)
    if found.is_empty:
        return found.counts
    with transaction.atomic():
        schema.restore_triggers(connections[USING])
        backend(USING).rebuild()  # first: a damaged index refuses changes of its documents
        write(list(stale_documents()), using=USING)
        audit.write()
    return found.counts


def stale_documents() -> Iterator[Document]:
    """Yield the documents as they should be where they are missing or otherwise."""
    for table in derived_tables():
        for pairs in documents(table, USING):
            yield from (expected for expected, stored in pairs if stored != expected)


SEARCH_INDEX = Fix(
    FixName.SEARCH_INDEX,
    _("Search index"),
    _("Writes the search documents and triggers that are missing."),
    dry_run,
    apply,
    is_default=False,
)
