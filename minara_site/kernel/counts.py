"""Counts that stop at a bound, so that none of them reads a whole table."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import IntegerField, QuerySet, Subquery

MAX_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class RowCount:
    """How many rows match; `is_exact` is False when counting stopped at the bound."""

    number: int
    is_exact: bool

    @classmethod
    def of(cls, number: int, limit: int = MAX_COUNTED) -> Self:
        """Return what was counted up to one more than the limit."""
        return cls(min(number, limit), number <= limit)

    @classmethod
    def together(cls, counts: Iterable["RowCount"]) -> Self:
        """Return the sum, exact when each of them is."""
        counts = list(counts)
        return cls(sum(each.number for each in counts), all(each.is_exact for each in counts))


class CountOf(Subquery):
    """How many rows a query has, as a column; at most one more than MAX_COUNTED are read."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()
    empty_result_set_value = 0

    def __init__(self, rows: "QuerySet[Any]") -> None:
        super().__init__(rows.order_by().values("pk")[: MAX_COUNTED + 1])


def count_rows(queryset: "QuerySet[Any]", limit: int = MAX_COUNTED) -> RowCount:
    """Count at most `limit` rows."""
    return RowCount.of(
        queryset.order_by().values("pk")[: limit + 1].count(),
        limit,
    )


def count_each(*querysets: "QuerySet[Any]", limit: int) -> list[RowCount]:
    """Count at most `limit` rows of each, in one statement."""
    asked = [rows.order_by().values("pk")[: limit + 1].query.sql_with_params() for rows in querysets]
    columns = ", ".join(f"(SELECT COUNT(*) FROM ({sql}) counted)" for sql, _values in asked)  # noqa: S608
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(
            f"SELECT {columns}",
            list(chain.from_iterable(values for _sql, values in asked)),
        )
        return [RowCount.of(number, limit) for number in cursor.fetchone()]


def count_tabs(tabs: "Mapping[str, QuerySet[Any]]") -> dict[str, int]:
    """Return how many rows are behind each tab; a number too large to count is left out. One query."""
    counts = zip(
        tabs,
        count_each(*tabs.values(), limit=MAX_COUNTED),
        strict=True,
    )
    return {name: count.number for name, count in counts if count.is_exact}
