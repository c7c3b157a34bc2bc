"""Writes of the log of searches: keep one, forget the old ones, forget what led to a purged memory.

The log may lie in another file than the data (`kernel.jobs.router`), so that nothing here shares a transaction with
the memories. A search never fails or waits because of its log.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connections, router, transaction

from memory_app.search.core.surfaces import Surface
from memory_app.search.models import SearchLogEntry, SearchLogHit
from minara_site.access.principal import Principal
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.db import insert_new, is_sqlite, waits_at_most
from minara_site.kernel.jobs.services import Claim, report_progress
from minara_site.kernel.ownership import EVERYONE, Owner

MAX_QUERY_CHARS = 512  # the column
MAX_WAIT_MS = 250
SLICE = 500
KEEP = f"""
    SET LOCAL lock_timeout = {MAX_WAIT_MS}; SET LOCAL synchronous_commit = off;
    WITH entry AS (
        INSERT INTO search_log (owner_id, actor, door, query, found, at) VALUES (%s, %s, %s, %s, %s, %s) RETURNING id
    ), hits AS (
        INSERT INTO search_log_hits (search_id, memory_id, rank)
        SELECT entry.id, hit.id, hit.rank FROM entry, unnest(%s::bigint[]) WITH ORDINALITY AS hit (id, rank)
    )
    SELECT id FROM entry
"""  # noqa: S608 - one message to PostgreSQL, and so one transaction; it is not waited for until it is on the disk

log = structlog.get_logger(__name__)
_tool_door: ContextVar[Surface] = ContextVar("tool_door", default=Surface.TOOL)


@contextmanager
def tools_called_through(door: Surface) -> Iterator[None]:
    """Say by which door the tools of this block are called."""
    token = _tool_door.set(door)
    try:
        yield
    finally:
        _tool_door.reset(token)


def log_search(
    *,
    principal: Principal,
    owner: Owner,
    query: str,
    ids: Sequence[int],
    now: datetime,
    door: Surface | None = None,
) -> None:
    """Keep that the caller searched an owner's memories and got these, best first.

    Who searches everybody's at once is the owner of the entry. Without a door it is the one of the running tool.
    """
    owner_id = principal.owner.pk if owner is EVERYONE else owner.pk
    door = door or _tool_door.get()
    log_search_of(
        owner_id=owner_id,
        actor=principal.actor,
        query=query,
        ids=ids,
        now=now,
        door=door,
    )


def log_search_of(
    *,
    owner_id: int,
    actor: str,
    query: str,
    ids: Sequence[int],
    now: datetime,
    door: Surface,
) -> None:
    """Keep a search; secrets are taken out of the query. A log that cannot be written is a warning."""
    if not settings.MINARA.minara_search_log_days:
        return
    entry = SearchLogEntry(
        owner_id=owner_id,
        actor=actor,
        door=door,
        query=redact_text(query[: 2 * MAX_QUERY_CHARS])[:MAX_QUERY_CHARS],  # a secret at the end is seen whole
        found=len(ids),
        at=now,
    )
    try:
        keep_search(entry, ids)
    except (DatabaseError, InterfaceError) as error:
        log.warning("search_not_logged", error=type(error).__name__)


def keep_search(entry: SearchLogEntry, ids: Sequence[int]) -> None:
    """Write an entry, which gets its id, with its hits. Raises DatabaseError after a short wait for a lock."""
    alias = log_database()
    if is_sqlite(alias):
        with waits_at_most(MAX_WAIT_MS, alias), transaction.atomic(using=alias):
            entry.save(using=alias, force_insert=True)
            hits = [(entry.pk, pk, rank) for rank, pk in enumerate(ids, start=1)]
            insert_new(
                SearchLogHit,
                ("search_id", "memory_id", "rank"),
                hits,
                using=alias,
            )
        return
    connection = connections[alias]
    values = (
        entry.owner_id,
        entry.actor,
        entry.door,
        entry.query,
        entry.found,
        entry.at,
        list(ids),
    )
    savepoint = transaction.atomic(using=alias) if connection.in_atomic_block else nullcontext()
    with savepoint, connection.cursor() as cursor:
        cursor.execute(KEEP, values)
        while cursor.nextset():
            pass
        (entry.pk,) = cursor.fetchone()


def delete_expired_searches(
    *,
    now: datetime,
    slice_size: int = SLICE,
    claim: Claim | None = None,
) -> int:
    """Delete the searches that are older than the log is kept, slice by slice; return how many."""
    cutoff = now - timedelta(days=settings.MINARA.minara_search_log_days)
    old = SearchLogEntry.objects.filter(at__lte=cutoff)
    forgotten, total = 0, old.count()
    while ids := list(old.order_by("at").values_list("pk", flat=True)[:slice_size]):
        delete_searches(ids)
        forgotten += len(ids)
        report_progress(claim, forgotten, total)
    return forgotten


def delete_searches(ids: Sequence[int]) -> None:
    """Delete searches with their hits in one short transaction."""
    with transaction.atomic(using=log_database()):
        SearchLogHit.objects.filter(search__in=ids).delete()
        SearchLogEntry.objects.filter(pk__in=ids).delete()


def delete_hits(memory_ids: Sequence[int]) -> None:
    """Delete that searches returned these memories, and what was asked: a query may say what the memory said.

    The searches themselves stay, without words. Call it inside the purge's transaction: where this fails, nothing is
    purged; where that fails later, only lines of the log are gone.
    """
    with transaction.atomic(using=log_database()):
        hits = SearchLogHit.objects.filter(memory_id__in=memory_ids)
        SearchLogEntry.objects.filter(pk__in=hits.values("search")).update(query="")
        hits.delete()


def log_database() -> str:
    """Return the alias of the database that holds the log."""
    return router.db_for_write(SearchLogEntry)
