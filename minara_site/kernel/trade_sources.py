"""Where round trips come from: what agents traded, own accounts, files later. Source: trades.md (the ledger).

Each app declares its sources in `TRADE_SOURCES` of its `trade_sources.py`. The kernel knows no table of them; their
rows have the columns of `learning_app.ledger.models.RoundTrip`.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from django.db.models import QuerySet
from django.utils.functional import Promise

from minara_site.kernel import registry
from minara_site.kernel.ownership import Owner


@dataclass(frozen=True, slots=True)
class TradeLedger:
    """The round trips of one deployment, of one owner's sessions or of one account; `key` names it in its source.

    `detail` says what it is beside its name. `read_at` is when an exchange was last read, None where trades are
    written as they happen. `start_usd` is the equity before the first trip, None where that is not known. What is
    simulated never stands beside real money unmarked.
    """

    source: str
    key: str
    label: str
    owner_id: int
    detail: str | Promise = ""
    read_at: datetime | None = None
    start_usd: Decimal | None = None
    is_simulated: bool = False


class TradeSource(Protocol):
    """Something that has round trips. `name` is in addresses; `page` is the URL name of the page of one trip.

    `key_field` is the lookup that keeps the trips of the ledger with a key.
    """

    name: str
    page: str
    key_field: str

    def list_ledgers(self, owner: Owner, *, limit: int, key: str = "") -> list[TradeLedger]:
        """Return an owner's ledgers, the newest first; with a key at most the one that it names."""

    def list_trips(self, owner: Owner) -> "QuerySet[Any]":
        """Return the trips of all of an owner's ledgers, unordered."""


def load_sources() -> dict[str, TradeSource]:
    """Return every source by its name, in the apps' order."""
    return registry.load("trade_sources")
