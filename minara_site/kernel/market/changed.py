"""Spans of prices that were corrected, or came late: what was judged by prices around them is judged again.

A price that follows all others within ten minutes of its moment is no change: nothing was judged yet that it may judge.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from minara_site.kernel.jobs.table import load_jobs
from minara_site.kernel.jobs.topics import announce
from minara_site.kernel.market.models import ChangedPrices
from minara_site.kernel.market.moves import first_quotes
from minara_site.kernel.market.outcome import SETTLES_AFTER

PRICES_CHANGED = "prices_changed"
"""The topic: each job that names it gets its own row of a span, and deletes it once it has judged again."""
DEBOUNCE = timedelta(seconds=30)
MAX_READ = 500
Span = tuple[datetime, datetime]


def note_changed(spans: Mapping[str, Span], *, owner_id: int | None, now: datetime) -> None:
    """Note that prices of symbols are about to change within these spans. Call it in the transaction, before."""
    starts = [(symbol, first_at) for symbol, (first_at, _last_at) in spans.items()]
    later = first_quotes(starts, owner_id=owner_id)
    followed = {symbol for (symbol, _at), quote in zip(starts, later, strict=True) if quote}
    changed = [symbol for symbol, first_at in starts if symbol in followed or now - first_at > SETTLES_AFTER]
    readers = [job.name for job in load_jobs().values() if PRICES_CHANGED in job.topics]
    rows = ChangedPrices.objects.bulk_create(
        ChangedPrices(
            reader=reader,
            owner_id=owner_id,
            symbol=symbol,
            first_at=spans[symbol][0],
            last_at=spans[symbol][1],
        )
        for reader in readers
        for symbol in changed
    )
    if rows:
        announce(PRICES_CHANGED, [row.pk for row in rows], now=now, debounce=DEBOUNCE)


def read_changed(reader: str) -> Iterator[list[ChangedPrices]]:
    """Yield the spans that this job has not judged by again, in their order; each slice is deleted when it is done."""
    while rows := list(ChangedPrices.objects.filter(reader=reader).order_by("pk")[:MAX_READ]):
        yield rows
        ChangedPrices.objects.filter(pk__in=[row.pk for row in rows]).delete()
