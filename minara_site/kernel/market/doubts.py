"""Prices in doubt: which of those about to be written are, which stored ones are no longer, and an operator's word.

An owner's prices are compared with that owner's alone, the instance's with the instance's.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, or_not_found
from minara_site.kernel.events import prices_recorded, send_after_commit
from minara_site.kernel.market.changed import Span, note_changed
from minara_site.kernel.market.core import newest_quote
from minara_site.kernel.market.core.bars import first_quote
from minara_site.kernel.market.core.doubts import WITHIN, PriceKey, find_doubted
from minara_site.kernel.market.models import PriceBar, PricePoint
from minara_site.kernel.market.statements import read_edges

TICK = timedelta(microseconds=1)


def list_doubted(owner_id: int | None) -> "list[QuerySet[Any]]":
    """Return the doubted candles and the doubted points of an owner, or of the instance with None; the newest first."""
    return [
        model.objects.alias(whose=Coalesce("owner_id", 0), moment=F(at))  # owner_id as it is takes a larger index
        .filter(whose=owner_id or 0, doubted_at__isnull=False)
        .order_by("-moment")
        for model, at in ((PriceBar, "closes_at"), (PricePoint, "at"))
    ]


def load_doubted(most: int) -> tuple[int, list[Any]]:
    """Return how many prices of the instance are in doubt, and the newest rows of them."""
    tables = list_doubted(owner_id=None)
    newest = sorted((row for rows in tables for row in rows[:most]), key=lambda row: row.at, reverse=True)
    return sum(rows.count() for rows in tables), newest[:most]


def load_confirmed(most: int) -> list[Any]:
    """Return the prices of the instance that operators confirmed, the last first."""
    rows = [
        row
        for model in (PriceBar, PricePoint)
        for row in model.objects.filter(confirmed_at__isnull=False).order_by("-confirmed_at")[:most]
    ]
    return sorted(rows, key=attrgetter("confirmed_at"), reverse=True)[:most]


def judge_prices(
    written: Mapping[PriceKey, Decimal],
    *,
    owner_id: int | None,
    now: datetime,
) -> set[PriceKey]:
    """Return which prices are in doubt, and end the doubt about stored ones that these agree with.

    Call it in the transaction, before they are written: it notes what changes.
    """
    moments = [key.at for key in written]
    span = (min(moments) - WITHIN, max(moments) + WITHIN)
    near = {"symbol__in": {key.symbol for key in written}, "moment__range": span}
    stored = {key_of(row): row for rows in list_doubted(owner_id) for row in rows.filter(**near)}
    judged = {key: row.price for key, row in stored.items()} | dict(written)
    known = dict(find_beside([*judged], owner_id=owner_id).values()) | judged
    doubted = find_doubted(known, judged)
    if doubted:
        later = find_beside([*doubted], owner_id=owner_id, is_first=True)
        doubted = find_doubted(dict(later.values()) | known, judged)
    ended = stored.keys() - doubted - written.keys()
    spans: dict[str, Span] = {}
    for symbol, at, _seconds in sorted([*written, *ended]):
        spans[symbol] = (spans.get(symbol, (at,))[0], at)
    note_changed(spans, owner_id=owner_id, now=now)
    for key in ended:
        stored[key].doubted_at = None
        stored[key].save(update_fields=["doubted_at"])
    return doubted & written.keys()


def find_beside(
    keys: Sequence[PriceKey],
    *,
    owner_id: int | None,
    is_first: bool = False,
) -> dict[PriceKey, tuple[PriceKey, Decimal]]:
    """Return for each the last price of this owner in no doubt that is stored before it, or the first one after it."""
    slots = [(key.symbol, key.at + (TICK if is_first else -TICK)) for key in keys]
    edges = read_edges(slots, owner_id=owner_id, is_first=is_first)
    pick = first_quote if is_first else newest_quote
    quotes = [pick(each for each in found if each.is_owners == (owner_id is not None)) for found in edges]
    return {
        key: (PriceKey(key.symbol, quote.at, int(quote.length.total_seconds())), quote.price)
        for key, quote in zip(keys, quotes, strict=True)
        if quote
    }


def key_of(row: PriceBar | PricePoint) -> PriceKey:
    """Return which price a row is."""
    return PriceKey(row.symbol, row.at, row.interval_seconds)


def confirm_price(
    *,
    seconds: int,
    price_id: int,
    actor: str,
    now: datetime,
    is_undo: bool = False,
) -> None:
    """End the doubt about a price of the instance, or doubt it again; without `seconds` it is a point.

    Raises NotFound, and Conflict where there is nothing to do.
    """
    rows: QuerySet[Any] = (PriceBar if seconds else PricePoint).objects.filter(pk=price_id, owner=None)
    with transaction.atomic():
        row = or_not_found(rows.select_for_update().first(), _("There is no such price."))
        if (row.doubted_at is None) != is_undo:
            raise Conflict(_("This changed since you opened it. Reload the page."))
        note_changed({row.symbol: (row.at, row.at)}, owner_id=None, now=now)
        row.doubted_at, row.confirmed_at = (now, None) if is_undo else (None, now)
        row.save(update_fields=["doubted_at", "confirmed_at"])
        record_audit(
            now=now,
            actor=actor,
            tool_call="price_doubted" if is_undo else "price_confirmed",
            details={"symbol": row.symbol, "at": row.at.isoformat()},
        )
        send_after_commit(prices_recorded, symbols=(row.symbol,), owner_id=None)
