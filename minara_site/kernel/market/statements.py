"""The statements of prices, written out; those that read look at one end of up to four index ranges.

The ORM would take longer to write them than the database to answer. Parts: candles and points of the instance, and,
for an owner, candles and points of that owner. Each part is one step down one index and at most one row. A price in
doubt is not there for any of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal
from functools import cache
from itertools import pairwise
from typing import Any

from django.db import connection, models

from minara_site.kernel.db import slices
from minara_site.kernel.market.core.bars import Candidate, Quote
from minara_site.kernel.market.core.values import DIGITS, in_utc

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
SQLITE_DIGITS = Context(prec=DIGITS)


Span = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Part:
    """Where one sort of price stands: of candles that close at once the shortest counts, by `ties`."""

    table: str
    price: str
    at: str
    length: str
    ties: str
    is_owners: bool

    @property
    def condition(self) -> str:
        """The condition on the owner, by which the partial indexes are found, and on what is in doubt."""
        whose = "owner_id = %s" if self.is_owners else "owner_id IS NULL"
        return f"{whose} AND doubted_at IS NULL"

    @property
    def columns(self) -> tuple[str, ...]:
        """What `candidate_of` reads."""
        return self.price, self.at, "source", self.length

    @property
    def newest(self) -> str:
        return f"{self.at} DESC{self.ties}"

    @property
    def first(self) -> str:
        return f"{self.at}{self.ties}"


CANDLES = ("price_bars", "close", "closes_at", "interval_seconds", ", interval_seconds")
POINTS = ("price_points", "price", "at", "0", "")
OF_INSTANCE = (
    Part(*CANDLES, is_owners=False),
    Part(*POINTS, is_owners=False),
)
OF_OWNER = (
    Part(*CANDLES, is_owners=True),
    Part(*POINTS, is_owners=True),
)


def parts_for(owner_id: int | None) -> tuple[Part, ...]:
    """Return where a price for this owner may stand."""
    return OF_INSTANCE if owner_id is None else OF_INSTANCE + OF_OWNER


@cache
def newest_statement(parts: tuple[Part, ...], spans: int = 1) -> str:
    """Return the statement that reads the newest row of each part within each of so many spans.

    `place` counts on from span to span, part by part.
    """
    return " UNION ALL ".join(
        f"SELECT * FROM (SELECT {place} AS place, {part.price} AS price, {part.at} AS moment, source, {part.length}"  # noqa: S608
        f" FROM {part.table} WHERE {part.condition} AND symbol = %s AND {part.at} BETWEEN %s AND %s"
        f" ORDER BY {part.newest} LIMIT 1) AS place_{place}"
        for place, part in enumerate(parts * spans)
    )


def newest_arguments(
    symbol: str,
    owner_id: int | None,
    spans: Sequence[Span],
) -> list[Any]:
    """Return what the statement is asked with."""
    adapt = connection.ops.adapt_datetimefield_value
    asked = [[symbol, adapt(first), adapt(last)] for first, last in spans]
    parts = parts_for(owner_id)
    return [value for span in asked for part in parts for value in ([owner_id, *span] if part.is_owners else span)]


def read_newest(
    symbol: str,
    *,
    owner_id: int | None,
    spans: Sequence[Span],
) -> list[list[Candidate]]:
    """Return for each span, both ends included, the newest row of each part. One statement for all spans."""
    parts = parts_for(owner_id)
    found: list[list[Candidate]] = [[] for _span in spans]
    with connection.cursor() as cursor:
        cursor.execute(
            newest_statement(parts, len(spans)),
            newest_arguments(symbol, owner_id, spans),
        )
        for place, *values in cursor.fetchall():
            span, part = divmod(place, len(parts))
            found[span].append(candidate_of(parts[part], *values))
    return found


@cache
def thinned_statement(parts: tuple[Part, ...], slots: int) -> str:
    """Return the statement that names, for each of so many slots, the newest row of each part within it."""
    found = ", ".join(
        f"(SELECT id FROM {part.table} WHERE {part.condition} AND symbol = %s"  # noqa: S608
        f" AND {part.at} > slots.after AND {part.at} <= slots.until ORDER BY {part.newest} LIMIT 1)"
        for part in parts
    )
    # PostgreSQL takes the type of a column from its first row, which client-side binding casts.
    rows = ", ".join(["(%s, %s)"] * slots)
    return f"WITH slots(after, until) AS (VALUES {rows}) SELECT {found} FROM slots"  # noqa: S608


def read_thinned(
    symbol: str,
    *,
    owner_id: int | None,
    slots: Sequence[Span],
) -> list[list[Candidate]]:
    """Return for each slot, without `after` and with `until`, the newest row of each part. At most five statements."""
    parts = parts_for(owner_id)
    asked = [value for part in parts for value in ([owner_id, symbol] if part.is_owners else [symbol])]
    bounds = [connection.ops.adapt_datetimefield_value(moment) for slot in slots for moment in slot]
    with connection.cursor() as cursor:
        cursor.execute(thinned_statement(parts, len(slots)), [*bounds, *asked])
        return read_slots(cursor, parts, cursor.fetchall())


@cache
def edge_statement(parts: tuple[Part, ...], slots: int, *, is_first: bool) -> str:
    """Return the statement that names, for each of so many slots, the row of each part nearest to its moment."""
    found = ", ".join(
        f"(SELECT id FROM {part.table} WHERE {part.condition} AND symbol = slots.symbol"  # noqa: S608
        f" AND {part.at} {'>=' if is_first else '<='} slots.moment"
        f" ORDER BY {part.first if is_first else part.newest} LIMIT 1)"
        for part in parts
    )
    rows = ", ".join(["(%s, %s)"] * slots)
    return f"WITH slots(symbol, moment) AS (VALUES {rows}) SELECT {found} FROM slots"  # noqa: S608


def read_edges(
    slots: Sequence[tuple[str, datetime]],
    *,
    owner_id: int | None,
    is_first: bool,
) -> list[list[Candidate]]:
    """Return for each symbol and moment the first row of each part from then on, or the last up to then."""
    adapt, parts = connection.ops.adapt_datetimefield_value, parts_for(owner_id)
    asked = [owner_id for part in parts if part.is_owners]
    found: dict[tuple[str, datetime], list[Candidate]] = {}
    with connection.cursor() as cursor:
        for some in slices(dict.fromkeys(slots)):
            values = [value for symbol, at in some for value in (symbol, adapt(at))]
            cursor.execute(edge_statement(parts, len(some), is_first=is_first), [*values, *asked])
            found |= zip(some, read_slots(cursor, parts, cursor.fetchall()), strict=True)
    return [found[slot] for slot in slots]


def read_slots(
    cursor: Any,
    parts: Sequence[Part],
    ids: Sequence[Sequence[int | None]],
) -> list[list[Candidate]]:
    """Return the rows that a statement named for each slot, by the ids of each part or None. A statement for a part."""
    found = [
        dict(
            read_rows(
                cursor,
                part,
                {row_id for row in ids if (row_id := row[n]) is not None},
            )
        )
        for n, part in enumerate(parts)
    ]
    return [[found[n][row_id] for n, row_id in enumerate(row) if row_id is not None] for row in ids]


def read_rows(
    cursor: Any,
    part: Part,
    ids: set[int],
) -> Iterator[tuple[int, Candidate]]:
    """Yield the rows of a part by id."""
    if not ids:
        return
    marks = ", ".join(["%s"] * len(ids))
    cursor.execute(
        f"SELECT id, {', '.join(part.columns)} FROM {part.table} WHERE id IN ({marks})",  # noqa: S608
        sorted(ids),
    )
    for row_id, *values in cursor.fetchall():
        yield row_id, candidate_of(part, *values)


@cache
def symbols_statement(table: str) -> str:
    """Return the statement that steps from symbol to symbol along the index, not from row to row."""
    return (
        f"SELECT symbol FROM (WITH RECURSIVE names(symbol) AS (SELECT min(symbol) FROM {table} WHERE owner_id IS NULL"  # noqa: S608
        f" UNION ALL SELECT (SELECT min(symbol) FROM {table} WHERE owner_id IS NULL AND symbol > names.symbol)"
        " FROM names WHERE names.symbol IS NOT NULL)"
        f" SELECT symbol FROM names WHERE symbol IS NOT NULL LIMIT %s) {table}"
    )


@cache
def newest_of_symbols_statement() -> str:
    """Return the statement that reads for each symbol of the instance the newest row of each part."""
    names = " UNION ".join(symbols_statement(part.table) for part in OF_INSTANCE)
    newest = ", ".join(
        f"(SELECT {column} FROM {part.table} WHERE {part.condition} AND symbol = names.symbol"  # noqa: S608
        f" AND {part.at} <= %s ORDER BY {part.newest} LIMIT 1)"
        for part in OF_INSTANCE
        for column in part.columns
    )
    return f"SELECT symbol, {newest} FROM ({names}) AS names ORDER BY symbol LIMIT %s"  # noqa: S608


def read_newest_of_instance(*, until: datetime, most: int) -> dict[str, list[Candidate]]:
    """Return the newest row of each part up to a moment, by symbol; at most so many symbols. One statement."""
    moment = connection.ops.adapt_datetimefield_value(until)
    width = len(OF_INSTANCE[0].columns)
    values = [moment] * (width * len(OF_INSTANCE))
    with connection.cursor() as cursor:
        cursor.execute(
            newest_of_symbols_statement(),
            [*values, *([most] * len(OF_INSTANCE)), most],
        )
        return {
            symbol: [
                candidate_of(part, *found[width * place : width * (place + 1)])
                for place, part in enumerate(OF_INSTANCE)
                if found[width * place] is not None
            ]
            for symbol, *found in cursor.fetchall()
        }


def candidate_of(part: Part, price: Any, at: Any, source: str, seconds: int) -> Candidate:
    """Return a row as both engines' drivers give it."""
    quote = Quote(price_of(price), moment_of(at), source, timedelta(seconds=seconds))
    return Candidate(quote, part.is_owners)


def price_of(value: Any) -> Decimal:
    """Return a stored price; SQLite keeps it as a number of 15 digits."""
    return value.normalize() if isinstance(value, Decimal) else SQLITE_DIGITS.create_decimal(repr(value)).normalize()


def moment_of(value: Any) -> datetime:
    """Return a stored moment; SQLite keeps it as text in UTC."""
    return in_utc(value if isinstance(value, datetime) else datetime.fromisoformat(value))


def slots_between(since: datetime, until: datetime, most: int) -> list[Span]:
    """Return at most so many slots of one length from `since` to `until`, both included."""
    step = (until - since) / most
    ends = [
        since - timedelta(microseconds=1),
        *(since + step * number for number in range(1, most)),
        until,
    ]
    return [(after, end) for after, end in pairwise(ends) if after < end]


def upsert_rows(
    model: type[models.Model],
    rows: Sequence[Mapping[str, Any]],
    *,
    by: Sequence[str],
    is_owned: bool,
) -> None:
    """Add rows, or replace those of the same key; `by` is what is unique, within an owner when `is_owned`.

    All rows name the same columns. The unique indexes are partial, and the ORM cannot name those in an upsert. Call it
    inside a transaction, with rows in the order of their keys: two writers then never wait for each other.
    """
    columns = list(rows[0])
    key = ["owner_id", *by] if is_owned else list(by)
    whose = "owner_id IS NOT NULL" if is_owned else "owner_id IS NULL"
    quote = connection.ops.quote_name
    replaced = ", ".join(f"{quote(name)} = excluded.{quote(name)}" for name in columns if name not in key)
    statement = (
        f"INSERT INTO {quote(model._meta.db_table)} ({', '.join(map(quote, columns))})"  # noqa: S608, SLF001
        f" VALUES ({', '.join(['%s'] * len(columns))})"
        f" ON CONFLICT ({', '.join(map(quote, key))}) WHERE {whose} DO UPDATE SET {replaced}"
    )
    fields = [model._meta.get_field(name) for name in columns]  # noqa: SLF001
    with connection.cursor() as cursor:
        cursor.executemany(
            statement,
            [
                [field.get_db_prep_save(row[name], connection) for name, field in zip(columns, fields, strict=True)]  # type: ignore[union-attr]
                for row in rows
            ],
        )
