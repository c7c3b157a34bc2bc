"""Reads of ledgers, whoever has the round trips: one's ledgers, their trips, and what is closed for statistics."""

from operator import attrgetter
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from learning_app.ledger.core import TradeStatus
from learning_app.ledger.core.statistics import NOTHING, Closed, Group
from minara_site.kernel.errors import NotFound
from minara_site.kernel.ownership import Owner
from minara_site.kernel.trade_sources import TradeLedger, TradeSource, load_sources

MAX_CLOSED, MAX_LEDGERS = 5_000, 100
"""So many closed trips at most are read for statistics, and so many ledgers of a source are listed."""


def list_ledgers(owner: Owner) -> list[tuple[TradeSource, list[TradeLedger]]]:
    """Return the ledgers of an owner by source, the newest first. One query each."""
    return [(source, source.list_ledgers(owner, limit=MAX_LEDGERS)) for source in load_sources().values()]


def get_ledger(*, owner: Owner, source: str, key: str) -> TradeLedger:
    """Return one ledger. Raises NotFound also for another owner's."""
    known = load_sources().get(source)
    found = known.list_ledgers(owner, limit=1, key=key) if known else []
    if not found:
        raise NotFound(_("There is no such ledger."))
    return found[0]


def list_trips(ledger: TradeLedger, *, owner: Owner) -> "QuerySet[Any]":
    """Return the trips of a ledger, unordered."""
    source = load_sources()[ledger.source]
    return source.list_trips(owner).filter(**{source.key_field: ledger.key})


def newest_closed(rows: "QuerySet[Any]") -> tuple[list[Closed], bool]:
    """Return the newest closed trips in the order of their ends, and whether there are more. One query."""
    columns = [name for name in Closed._fields if hasattr(rows.model, name)]
    found = [Closed(*values) for values in order_closed(rows).values_list(*columns)[: MAX_CLOSED + 1]]
    return sorted(found[:MAX_CLOSED], key=attrgetter("exit_tick_at", "entry_tick_at")), len(found) > MAX_CLOSED


def by_ledger(source: TradeSource, owner: Owner) -> dict[str, Group]:
    """Return what the newest closed trips of a source say together, by the key of their ledger. One query."""
    found: dict[str, Group] = {}
    rows = order_closed(source.list_trips(owner))
    for key, pnl, fees in rows.values_list(source.key_field, "realized_pnl_usd", "fees_usd")[:MAX_CLOSED]:
        found[str(key)] = found.get(str(key), NOTHING).add(pnl - (fees or 0))
    return found


def order_closed(rows: "QuerySet[Any]") -> "QuerySet[Any]":
    """Return what statistics read of trips, the newest first; a trip that lacks fills has no P&L."""
    counted = rows.filter(status=TradeStatus.CLOSED, realized_pnl_usd__isnull=False)
    return counted.order_by("-entry_tick_at", "-pk")
