"""What every table holds, to see what an act changed."""

from collections.abc import Collection
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

Rows = dict[str, dict[Any, dict[str, Any]]]
OF_DJANGO = {"django_migrations", "django_content_type", "auth_permission"}


def all_rows(*, without: Collection[str] = (), using: str = DEFAULT_DB_ALIAS) -> Rows:
    """Return column by column what stands in each table, by its key; the search index follows from the rest."""
    rows: Rows = {}
    connection = connections[using]
    with connection.cursor() as cursor:
        for table in {*connection.introspection.table_names(cursor)} - OF_DJANGO - {*without}:
            if not table.startswith("search_index"):
                cursor.execute(f'SELECT * FROM "{table}"')
                columns = [column[0] for column in cursor.description]
                found = [dict(zip(columns, values, strict=True)) for values in cursor.fetchall()]
                key = connection.introspection.get_primary_key_column(cursor, table) if found else ""
                rows[table] = {row[key]: row for row in found}
    return rows


def changed_tables(before: Rows, after: Rows) -> set[str]:
    """Name the tables that differ."""
    return {table for table in before if before[table] != after[table]}


def difference(before: Rows, after: Rows) -> tuple[set[str], set[str], set[tuple[str, str]]]:
    """Return the tables that lost rows, those that gained some, and the columns that changed."""
    gone = {table for table in before if before[table].keys() - after[table].keys()}
    new = {table for table in before if after[table].keys() - before[table].keys()}
    changed = {
        (table, column)
        for table in before
        for key in before[table].keys() & after[table].keys()
        for column, value in after[table][key].items()
        if before[table][key][column] != value
    }
    return gone, new, changed
