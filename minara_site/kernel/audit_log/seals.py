"""Sealing: what the audit log has gained is put under the hash chain, in batches, never with the write itself.

No entry may ever fall behind a seal. SQLite gives ids in the order of commits. PostgreSQL gives them before: there
the table is closed to writers for a moment, which is after every write in flight and before every later one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import OperationalError, connection, transaction
from django.db.models import Max

from minara_site.kernel.audit_log.chain import MAX_PER_SEAL, digest, entries_after, link_of, newest_seal
from minara_site.kernel.audit_log.models import AuditEntry, AuditSeal

LOCK_NOT_AVAILABLE = "55P03"
MAX_WAIT_MILLISECONDS = 1_000  # for writes in flight; whoever writes meanwhile waits behind us


def seal_next(*, up_to: int, now: datetime) -> AuditSeal | None:
    """Seal the next batch of entries up to this id; None when there is none. Of several callers one goes first."""
    with transaction.atomic(), one_sealer():
        before = link_of(newest_seal())
        link = digest(
            before.sha256,
            entries_after(before.last_id).filter(id__lte=up_to)[:MAX_PER_SEAL],
        )
        if not link.entries:
            return None
        return AuditSeal.objects.create(
            last_id=link.last_id,
            entries=link.entries,
            sha256=link.sha256,
            sealed_at=now,
        )


@contextmanager
def one_sealer() -> Iterator[None]:
    """Let nobody else seal until the transaction ends; SQLite's immediate transaction has the whole file already."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE audit_seals IN EXCLUSIVE MODE")
    yield


def find_settled_id() -> int | None:
    """Return the newest id below which nothing is in flight; None when a write took too long to wait for."""
    try:
        with transaction.atomic():
            if connection.vendor == "postgresql":  # wait for the writes in flight, and let no other begin meanwhile
                with connection.cursor() as cursor:
                    cursor.execute(f"SET LOCAL lock_timeout = {MAX_WAIT_MILLISECONDS}")
                    cursor.execute("LOCK TABLE audit_log IN SHARE MODE")
            return AuditEntry.objects.aggregate(newest=Max("id"))["newest"] or 0
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") == LOCK_NOT_AVAILABLE:  # the next run seals it
            return None
        raise
