"""Every row of every table, to see what changed."""

from typing import Any

from django.apps import apps

QUEUE_APPS = {"django_q"}
Rows = dict[tuple[str, Any], dict[str, Any]]


def all_rows() -> Rows:
    """Return each row by its table and key."""
    rows: Rows = {}
    for model in apps.get_models():
        meta = model._meta
        if meta.app_label in QUEUE_APPS or meta.proxy or not meta.managed:
            continue
        columns = [field.attname for field in meta.concrete_fields]
        for values in model._base_manager.values(*columns):
            rows[meta.db_table, values[meta.pk.attname]] = values
    return rows


def difference(before: Rows, after: Rows) -> tuple[set[str], set[str], set[tuple[str, str]]]:
    """Return the tables that lost rows, those that gained some, and the columns that changed."""
    gone = {table for table, _pk in before.keys() - after.keys()}
    new = {table for table, _pk in after.keys() - before.keys()}
    changed = {
        (place[0], column)
        for place in before.keys() & after.keys()
        for column, value in after[place].items()
        if before[place][column] != value
    }
    return gone, new, changed
