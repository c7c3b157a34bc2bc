"""What somebody sent as a symbol: what it was read as, and whether a price of it is known that could judge."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Protocol

from django.conf import settings

from minara_site.kernel.core.assets import AssetClass, classify
from minara_site.kernel.core.symbols import How, SymbolKind, how_read, kind_of, normalise_symbol
from minara_site.kernel.errors import FieldError, Invalid
from minara_site.kernel.market import statements
from minara_site.kernel.market.core import Quote, newest_quote
from minara_site.kernel.market.labels import symbol_advice
from minara_site.kernel.market.moves import find_newest
from minara_site.kernel.market.selectors import listed_symbols

UNKNOWN = "symbol_unknown"


@dataclass(frozen=True, slots=True)
class KnownPrice:
    """Whether a price is stored, or the source of the settings lists it; the newest stored one's moment and source."""

    known: bool
    newest_at: datetime | None
    source: str | None


@dataclass(frozen=True, slots=True)
class SymbolReading:
    """What a text was read as. `asset` is the symbol under which its prices are stored."""

    text: str
    asset: str
    kind: SymbolKind
    asset_class: AssetClass | None
    how: How
    price: KnownPrice


class Judged(Protocol):
    """A row of a decision that a price judges. `asset` is empty where it names none."""

    pk: int
    owner_id: int
    asset: str

    @property
    def asset_text(self) -> str:
        """What was sent as the asset."""


def read_symbol(text: str, *, field: str) -> str:
    """Return the symbol that a text means. Raises Invalid, which says what to send instead."""
    symbol = normalise_symbol(text)
    if symbol is None:
        advice = symbol_advice(text)
        raise Invalid(
            advice,
            code=UNKNOWN,
            errors=(FieldError(field, advice),),
        )
    return symbol


def describe_symbol(text: str, symbol: str, *, owner_id: int | None, now: datetime) -> SymbolReading:
    """Return what a text was read as, for this owner. One query."""
    return reading_of(text, symbol, find_newest(symbol, owner_id, now))


def describe_row(row: Judged, *, now: datetime) -> SymbolReading | None:
    """Return what was read of a row's asset, None where it names none. One query."""
    if not row.asset:
        return None
    return describe_symbol(row.asset_text or row.asset, row.asset, owner_id=row.owner_id, now=now)


def symbol_record(row: Judged, *, now: datetime) -> dict[str, Any] | None:
    """Return what was read of a row's asset as API and tools answer it. One query."""
    reading = describe_row(row, now=now)
    return asdict(reading) if reading else None


def symbol_records(rows: Collection[Judged], *, now: datetime) -> dict[int, dict[str, Any] | None]:
    """Return by id what was read of each row's asset, as the API answers it. At most five queries.

    Of rows of several owners only the instance's prices count.
    """
    slots = [(symbol, statements.EARLIEST, now) for symbol in sorted({row.asset for row in rows if row.asset})]
    owners = {row.owner_id for row in rows}
    owner_id = owners.pop() if len(owners) == 1 else None
    found = statements.read_newest_of_symbols(slots, owner_id=owner_id) if slots else []
    quotes = {slot[0]: newest_quote(candidates) for slot, candidates in zip(slots, found, strict=True)}
    return {
        row.pk: asdict(reading_of(row.asset_text or row.asset, row.asset, quotes[row.asset])) if row.asset else None
        for row in rows
    }


def reading_of(text: str, symbol: str, quote: Quote | None) -> SymbolReading:
    """Return what a text was read as, with the newest price that is stored."""
    is_listed = symbol in listed_symbols()
    source = quote.source if quote else settings.MINARA.market_source.value if is_listed else None
    return SymbolReading(
        text,
        symbol,
        kind_of(symbol),
        classify(symbol),
        how_read(text, symbol),
        KnownPrice(bool(quote or is_listed), quote.at if quote else None, source),
    )
