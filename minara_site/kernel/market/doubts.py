"""Prices in doubt: which of those about to be written are, which stored ones no longer are, and an operator's word.

An owner's prices are compared with that owner's alone, the instance's with the instance's.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, NotFound
from minara_site.kernel.events import prices_recorded, send_after_commit
from minara_site.kernel.market.changed import Span, note_changed
from minara_site.kernel.market.core import Quote, newest_quote
from minara_site.kernel.market.core.bars import first_quote
from minara_site.kernel.market.core.doubts import WITHIN, PriceKey, find_doubted, is_near
from minara_site.kernel.market.models import PriceBar, PricePoint
from minara_site.kernel.market.statements import read_edges

TICK = timedelta(microseconds=1)
TABLES = ("candle", "point")


class DoubtedPrice(NamedTuple):
    """A stored price in doubt, in the order of the columns that `list_doubted` reads."""

    pk: int
    symbol: str
    at: datetime
    price: Decimal
    source: str
    seconds: int

    @property
    def key(self) -> PriceKey:
        return PriceKey(self.symbol, self.at, self.seconds)

    @property
    def table(self) -> str:
        return "candle" if self.seconds else "point"


def prices_in(table: str) -> "QuerySet[Any]":
    """Return the stored candles or points, with the columns of `DoubtedPrice`. Raises NotFound for another table."""
    match table:
        case "candle":
            return PriceBar.objects.annotate(at=F("closes_at"), price=F("close"), seconds=F("interval_seconds"))
        case "point":
            return PricePoint.objects.annotate(seconds=Value(0))
    raise NotFound(_("There is no such price."))


def list_doubted(owner_id: int | None, **conditions: Any) -> "QuerySet[Any, Any]":
    """Return the columns of the doubted prices of an owner, or of the instance with None."""
    whose = {"whose": owner_id or 0, "doubted_at__isnull": False}
    candles, points = (
        prices_in(table)
        .alias(whose=Coalesce("owner_id", 0))  # a bare owner_id would lead SQLite to the index of all prices
        .filter(**whose, **conditions)
        .values_list(*DoubtedPrice._fields)
        for table in TABLES
    )
    return candles.union(points, all=True)


def judge_prices(
    written: Mapping[PriceKey, Decimal],
    *,
    owner_id: int | None,
    now: datetime,
) -> set[PriceKey]:
    """Return which prices are in doubt; those stored in doubt that they agree with are so no longer.

    Call it in the transaction, before they are written: it notes what changes.
    """
    moments = [key.at for key in written]
    near = {
        "symbol__in": {key.symbol for key in written},
        "at__range": (min(moments) - WITHIN, max(moments) + WITHIN),
    }
    stored = {one.key: one for one in map(DoubtedPrice._make, list_doubted(owner_id, **near)) if one.key not in written}
    judged = {**{key: one.price for key, one in stored.items()}, **written}
    known = find_beside([*keys_alone(written), *stored], owner_id=owner_id, is_first=False) | judged
    doubted = find_doubted(known, judged)
    if doubted:
        doubted = find_doubted(find_beside(doubted, owner_id=owner_id, is_first=True) | known, judged)
    ended = [one for key, one in stored.items() if key not in doubted]
    note_changed(spans_of([*written, *(one.key for one in ended)]), owner_id=owner_id, now=now)
    for table in TABLES:
        prices_in(table).filter(pk__in=[one.pk for one in ended if one.table == table]).update(doubted_at=None)
    return doubted & written.keys()


def keys_alone(keys: Iterable[PriceKey]) -> list[PriceKey]:
    """Return those that have no other of them within the hour before."""
    ordered = sorted(keys)
    return [*ordered[:1], *(key for before, key in pairwise(ordered) if not is_near(before, key))]


def find_beside(
    keys: Collection[PriceKey],
    *,
    owner_id: int | None,
    is_first: bool,
) -> dict[PriceKey, Decimal]:
    """Return the last stored price in no doubt before each, or the first one after it."""
    quotes = zip(keys, quotes_beside(keys, owner_id=owner_id, is_first=is_first), strict=True)
    return {
        PriceKey(key.symbol, quote.at, int(quote.length.total_seconds())): quote.price for key, quote in quotes if quote
    }


def quotes_beside(
    keys: Iterable[PriceKey],
    *,
    owner_id: int | None,
    is_first: bool = False,
) -> list[Quote | None]:
    """Return for each key the last price of this owner in no doubt before it, or the first one after it."""
    slots = [(key.symbol, key.at + (TICK if is_first else -TICK)) for key in keys]
    pick = first_quote if is_first else newest_quote
    return [
        pick(each for each in found if each.is_owners == (owner_id is not None))
        for found in read_edges(slots, owner_id=owner_id, is_first=is_first)
    ]


def spans_of(keys: Iterable[PriceKey]) -> dict[str, Span]:
    """Return the first and the last moment of each symbol."""
    spans: dict[str, Span] = {}
    for key in keys:
        first, last = spans.get(key.symbol, (key.at, key.at))
        spans[key.symbol] = (min(first, key.at), max(last, key.at))
    return spans


def confirm_price(
    *,
    table: str,
    price_id: int,
    actor: str,
    now: datetime,
    is_undo: bool = False,
) -> str:
    """End the doubt about a price of the instance, or doubt it again, and return its symbol.

    Raises NotFound, and Conflict for one that is so already.
    """
    with transaction.atomic():
        row = prices_in(table).filter(pk=price_id, owner=None).select_for_update().first()
        if row is None:
            raise NotFound(_("There is no such price."))
        if (row.doubted_at is None) is not is_undo:
            raise Conflict(_("This changed since you opened it. Reload the page."))
        note_changed({row.symbol: (row.at, row.at)}, owner_id=None, now=now)
        row.doubted_at = now if is_undo else None
        row.save(update_fields=["doubted_at"])
        record_audit(
            now=now,
            actor=actor,
            tool_call="price_doubted" if is_undo else "price_confirmed",
            details={"symbol": row.symbol, "at": row.at.isoformat(), "source": row.source},
        )
        send_after_commit(prices_recorded, symbols=(row.symbol,), owner_id=None)
    return str(row.symbol)
