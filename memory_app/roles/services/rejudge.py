"""Marking the decisions of which the price was corrected after it judged them. Source: court.md (the window of a case).

What came of a decision and what was learned from it stay as they were first written (R-01).
"""

from datetime import datetime
from operator import attrgetter

from django.db.models import F

from memory_app.roles.models import RoleMemory, RoleMemoryQuerySet
from memory_app.roles.probes import ProbeFailed, ProbeResult, find_outcome
from memory_app.roles.registry import registry
from memory_app.roles.services.outcome import set_outcome
from minara_site.kernel.db import slices
from minara_site.kernel.market.changed import read_changed
from minara_site.kernel.market.models import ChangedPrices

REJUDGE = "roles.rejudge"
prices_of = attrgetter("entry_price", "entry_price_at", "exit_price", "exit_price_at")


def mark_changed(*, now: datetime) -> int:
    """Look again at whatever the prices touch that changed since the last time; return how many marks changed."""
    return sum(
        mark_corrected(entry, now=now)
        for spans in read_changed(REJUDGE)
        for span in spans
        for some in slices(list_touched(span).values_list("pk", flat=True))
        for entry in RoleMemory.objects.filter(pk__in=some)
    )


def list_touched(span: ChangedPrices) -> RoleMemoryQuerySet:
    """Return what prices judged whose entry or exit may lie in this span."""
    rows: RoleMemoryQuerySet = RoleMemory.objects.filter(
        asset=span.symbol,
        decided_at__lte=span.last_at,
        exit_price_at__gte=span.first_at,
        entry_price_at__gte=F("decided_at"),  # earlier releases judged by the last price before
        is_demo=False,
    )
    return rows if span.owner_id is None else rows.filter(owner=span.owner_id)


def mark_corrected(entry: RoleMemory, *, now: datetime) -> bool:
    """Mark an entry whose prices are no longer those that judged it, unmark another; say whether that is new.

    One that nothing judges any more stays as it is.
    """
    judged_by, found = prices_of(entry), judge_again(entry, now=now)
    if found is None:
        return False
    set_outcome(entry, found)  # in memory alone
    is_corrected = prices_of(entry) != judged_by
    if is_new := is_corrected != bool(entry.price_corrected_at):
        entry.price_corrected_at = now if is_corrected else None
        entry.save(update_fields=["price_corrected_at"])
    return is_new


def judge_again(entry: RoleMemory, *, now: datetime) -> ProbeResult | None:
    """Return what the entry's probe says by the prices that stand now, None when it says nothing."""
    declared = registry().find(entry.role_id)
    try:
        found = find_outcome(entry, declared, now=now) if declared else None
    except ProbeFailed:
        return None
    return found if isinstance(found, ProbeResult) else None
