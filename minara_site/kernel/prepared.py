"""Queries that Django composes once and that are then asked again with other values.

To compose a query takes many times as long as SQLite takes to run it: for those that every session pays when it begins.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import BigIntegerField, Expression, Field, QuerySet, Value
from django.db.models.sql import Query

Row = TypeVar("Row")
PLACE, WORD = re.compile("%[%s]"), re.compile("[a-z_.:]+")


class Parameter(Value):
    """A value of a prepared query that is given by this name each time it is asked."""

    def __init__(self, name: str, field: "Field[Any, Any]") -> None:
        super().__init__(name, output_field=field)

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        """Return a place, and this parameter as what is to be put there."""
        return "%s", [self]


OWNER_ID = Parameter("owner_id", BigIntegerField())


class Composed(NamedTuple):
    """A query as the engine reads it; `columns` are what turns its values into Python's."""

    sql: str
    values: list[Any]
    query: Query
    columns: list[Expression]


class Prepared(Generic[Row]):
    """A query whose rows `make` takes, a column each. Several parts are joined by UNION ALL.

    `parts` returns querysets of `values_list`, of equal columns. Each keeps its own order and limit, which a union of
    Django takes on SQLite from none.
    """

    def __init__(
        self,
        make: Callable[..., Row],
        parts: Callable[[], Sequence["QuerySet[Any, Any]"]],
    ) -> None:
        self.make, self.parts = make, parts
        self.composed: Composed | None = None

    def ask(self, **given: Any) -> list[Row]:
        """Return the rows with these values of its parameters. One query. Raises KeyError without one of them."""
        composed = self.composed = self.composed or compose(self.parts())
        connection = connections[DEFAULT_DB_ALIAS]
        values = [
            each.output_field.get_db_prep_value(given[each.value], connection) if isinstance(each, Parameter) else each
            for each in composed.values
        ]
        with connection.cursor() as cursor:
            cursor.execute(composed.sql, values)
            rows = cursor.fetchall()
        if not rows:
            return []
        compiler = composed.query.get_compiler(connection=connection)
        if converters := compiler.get_converters(composed.columns):
            rows = compiler.apply_converters(rows, converters)
        return [self.make(*row) for row in rows]


def compose(parts: Sequence["QuerySet[Any, Any]"]) -> Composed:
    """Return the one query of these parts."""
    selects: list[str] = []
    values: list[Any] = []
    for part in parts:
        compiler = part.query.get_compiler(part.db)
        sql, given = compiler.as_sql()
        selects.append(sql)
        values += given
    joined = " UNION ALL ".join(f"SELECT * FROM ({sql}) part" for sql in selects)  # noqa: S608 - values are parameters
    columns = [column for column, _sql, _alias in compiler.select]
    sql, values = put_constants(joined if len(selects) > 1 else selects[0], values)
    return Composed(sql, values, part.query, columns)


def put_constants(sql: str, values: Sequence[Any]) -> tuple[str, list[Any]]:
    """Write values of one plain word into a query: for a parameter, SQLite plans a partial index each time anew."""
    given, others = iter(values), list[Any]()

    def write(place: re.Match[str]) -> str:
        if place.group() == "%%":
            return "%%"
        value = next(given)
        if isinstance(value, str) and WORD.fullmatch(value):
            return f"'{value}'"
        others.append(value)
        return "%s"

    return PLACE.sub(write, sql), others
