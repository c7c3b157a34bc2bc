"""What somebody sent as a symbol: what it was read as, and whether a price of it is known that could judge.

A reading has the contract's shape of `/v1/symbols`: `{text, asset, kind, asset_class, how, price}`.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from django.conf import settings

from minara_site.kernel.core.symbols import class_of, how_read, kind_of, normalise_symbol
from minara_site.kernel.errors import FieldError, Invalid
from minara_site.kernel.market import statements
from minara_site.kernel.market.core import Quote, newest_quote
from minara_site.kernel.market.labels import symbol_advice
from minara_site.kernel.market.selectors import find_newest, listed_symbols


class Judged(Protocol):
    """A row of a decision that a price judges. `asset` is empty where it names none."""

    pk: int
    owner_id: int
    asset: str

    @property
    def asset_text(self) -> str:
        """What was sent as the asset."""


def require_symbol(text: str) -> str:
    """Return the symbol that a text means. Raises ValueError, which says what to send instead."""
    symbol = normalise_symbol(text)
    if symbol is None:
        raise ValueError(symbol_advice(text))
    return symbol


def read_symbol(text: str, *, field: str) -> str:
    """Return the symbol that a field of a call means. Raises Invalid, which says what to send instead."""
    try:
        return require_symbol(text)
    except ValueError as advice:
        errors = (FieldError(field, str(advice)),)
        raise Invalid(str(advice), code="symbol_unknown", errors=errors) from None


def describe_asset(row: Judged, *, now: datetime) -> dict[str, Any] | None:
    """Return what was read of a row's asset, None where it names none. One query."""
    return describe_symbol(row.asset_text or row.asset, row.asset, row.owner_id, now=now) if row.asset else None


def describe_symbol(text: str, symbol: str, owner_id: int, *, now: datetime) -> dict[str, Any]:
    """Return what a text was read as, for this owner. One query."""
    return reading_of(text, symbol, find_newest(symbol, owner_id, now))


def describe_assets(rows: Sequence[Judged], *, now: datetime) -> dict[int, dict[str, Any] | None]:
    """Return by id what was read of each row's asset. At most five queries.

    Of rows of several owners only the instance's prices count.
    """
    slots = [(row.asset, now) for row in rows]
    owners = {row.owner_id for row in rows}
    found = statements.read_edges(slots, owner_id=owners.pop() if len(owners) == 1 else None, is_first=False)
    return {
        row.pk: reading_of(row.asset_text or row.asset, row.asset, newest_quote(candidates)) if row.asset else None
        for row, candidates in zip(rows, found, strict=True)
    }


def reading_of(text: str, symbol: str, quote: Quote | None) -> dict[str, Any]:
    """Return what a text was read as, with the newest price that is stored."""
    is_listed = quote is None and symbol in listed_symbols()
    return {
        "text": text,
        "asset": symbol,
        "kind": kind_of(symbol),
        "asset_class": class_of(symbol),
        "how": how_read(text, symbol),
        "price": {
            "known": bool(quote or is_listed),
            "newest_at": quote.at if quote else None,
            "source": quote.source if quote else settings.MINARA.market_source if is_listed else None,
        },
    }
