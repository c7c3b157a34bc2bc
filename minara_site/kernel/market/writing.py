"""The statement that writes prices: new ones are added, those of the same key replaced.

Written out, because the unique indexes are partial, one for the instance and one for owners, and the ORM cannot name
those in an upsert.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, models


def upsert_rows(
    model: type[models.Model], rows: Sequence[Mapping[str, Any]], *, by: Sequence[str], is_owned: bool
) -> None:
    """Write rows that all name the same columns; `by` is what is unique, within an owner when `is_owned`.

    Call it inside a transaction, with rows in the order of their keys: two writers then never wait for each other.
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
