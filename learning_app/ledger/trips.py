"""Reads of ledgers, whoever has the round trips: one's ledgers, their trips, and what is closed for statistics."""

from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from learning_app.ledger.core import TradeStatus
from learning_app.ledger.core.statistics import Closed
from minara_site.kernel.errors import NotFound
from minara_site.kernel.ownership import Owner
from minara_site.kernel.trade_sources import TradeLedger, TradeSource, load_sources

MAX_CLOSED, MAX_LEDGERS = 5_000, 100
"""So many closed trips at most are read for statistics, and so many ledgers of a source are listed."""
IS_COUNTED = Q(status=TradeStatus.CLOSED, realized_pnl_usd__isnull=False)
"""What statistics read: a trip that lacks fills has no P&L."""


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


def load_closed(rows: "QuerySet[Any]", *more: str) -> list[tuple[Closed, tuple[Any, ...]]]:
    """Return the newest closed trips, in the order in which they were closed, each with more of its columns.

    There is one more than MAX_CLOSED of them where there are others.
    """
    newest = rows.filter(IS_COUNTED).order_by("-entry_tick_at", "-pk").values_list(*Closed._fields, *more)
    width = len(Closed._fields)
    found = [(Closed(*row[:width]), row[width:]) for row in newest[: MAX_CLOSED + 1]]
    return sorted(found, key=lambda each: each[0].exit_tick_at)


def newest_closed(rows: "QuerySet[Any]") -> tuple[list[Closed], bool]:
    """Return the closed trips of a ledger for its statistics, oldest first, and whether they are not all. One query."""
    found = [trip for trip, _more in load_closed(rows)]
    return found[-MAX_CLOSED:], len(found) > MAX_CLOSED


def by_ledger(source: TradeSource, owner: Owner) -> dict[str, list[Closed]]:
    """Return the newest closed trips of a source by the key of their ledger. One query."""
    found: dict[str, list[Closed]] = {}
    for trip, (key,) in load_closed(source.list_trips(owner), source.key_field):
        found.setdefault(str(key), []).append(trip)
    return found
