"""What is moved: the tables of all installed apps but for the queue's own, each after those that it refers to."""

from collections.abc import Callable, Sequence
from functools import partial
from graphlib import TopologicalSorter
from typing import Any

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS
from django.db.migrations.loader import MigrationLoader
from django.db.models import DecimalField, Field, Model

from minara_site.console.moving.core import NULL, RENDERS, render_decimal, render_text
from minara_site.kernel.jobs.router import QUEUE, QUEUE_APP, belongs_to_queue


class Table:
    """The table of a model: the database it is in, and the kind and the text of each column.

    A model may declare a `derived_column` that only PostgreSQL has: its name, the columns it is made of, a function.
    """

    def __init__(self, model: type[Model]) -> None:
        meta = model._meta  # noqa: SLF001 - Django's public Meta API
        fields = {str(field.column): find_stored(field) for field in meta.concrete_fields}
        self.name, self.key = meta.db_table, str(meta.pk.column)
        self.alias = QUEUE if belongs_to_queue(meta.app_label, meta.model_name) else DEFAULT_DB_ALIAS
        self.kinds = {column: field.get_internal_type() for column, field in fields.items()}
        self.columns = ", ".join(f'"{column}"' for column in fields)
        self.renders = [find_render(field) for field in fields.values()]
        self.derived: Any = getattr(model, "derived_column", ())
        self.target_columns = ", ".join([self.columns, *self.derived[:1]])

    def line(self, row: Sequence[Any]) -> str:
        """Return a row as a line of COPY."""
        pairs = zip(self.renders, row, strict=True)
        return "\t".join([NULL if value is None else render(value) for render, value in pairs]) + "\n"

    def whole_line(self, line: str, row: Sequence[Any]) -> str:
        """Return the line of a row with its derived column, if there is one."""
        if not self.derived:
            return line
        values = dict(zip(self.kinds, row, strict=True))
        return f"{line[:-1]}\t{render_text(self.derived[2](*(values[name] for name in self.derived[1])))}\n"


def list_tables() -> list[Table]:
    """Return the tables in the order in which they can be filled."""
    labels = MigrationLoader(None).migrated_apps - {QUEUE_APP}
    parents: dict[type[Model], set[Any]] = {}
    for model in apps.get_models(include_auto_created=True):
        meta = model._meta  # noqa: SLF001 - Django's public Meta API
        if meta.app_label in labels and not meta.proxy:
            parents[model] = {field.related_model for field in meta.concrete_fields if field.remote_field} - {model}
    return [Table(model) for model in TopologicalSorter(parents).static_order()]


def find_stored(field: "Field[Any, Any]") -> "Field[Any, Any]":
    """Return the field whose values a column holds: at the end of a chain of references."""
    return find_stored(field.target_field) if field.remote_field else field  # type: ignore[attr-defined]


def find_render(field: "Field[Any, Any]") -> Callable[[Any], str]:
    """Return what makes the text of a value."""
    kind = field.get_internal_type()
    if isinstance(field, DecimalField):
        return partial(render_decimal, places=field.decimal_places)
    return str if kind.endswith(("AutoField", "IntegerField")) else RENDERS.get(kind, render_text)
