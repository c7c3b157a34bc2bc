"""What is moved: the tables of all installed apps but for the queue's own, each after those that it refers to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.loader import MigrationLoader
from django.db.models import AutoField, Field, Model

from minara_site.console.moving.core import NULL, RENDERS, render_text
from minara_site.kernel.jobs.router import QUEUE, QUEUE_APP, belongs_to_queue


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its database and key, the kind and the text of each column, and one that only PostgreSQL has."""

    name: str
    alias: str
    key: str
    is_numbered: bool
    kinds: dict[str, str]
    renders: Sequence[Callable[[Any], str]]
    derived: tuple[str, Sequence[str], Callable[..., str]] | None

    @property
    def columns(self) -> str:
        """The columns, as SQL."""
        return ", ".join(f'"{column}"' for column in self.kinds)

    def line(self, row: Sequence[Any]) -> str:
        """Return a row as a line of COPY, without its end."""
        pairs = zip(self.renders, row, strict=True)
        return "\t".join([NULL if value is None else render(value) for render, value in pairs])


def list_tables() -> list[Table]:
    """Return the tables in the order in which they can be filled."""
    labels = MigrationLoader(None).migrated_apps - {QUEUE_APP}
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.app_label in labels]  # noqa: SLF001
    refers_to = {
        model: {field.related_model for field in model._meta.concrete_fields if field.remote_field} - {model}  # noqa: SLF001
        for model in models
        if not model._meta.proxy  # noqa: SLF001 - Django's public Meta API
    }
    return [read_table(model) for model in TopologicalSorter(refers_to).static_order()]


def read_table(model: type[Model]) -> Table:
    """Return the table of a model, which may declare a `derived_column`: name, columns it is made of, function."""
    meta = model._meta  # noqa: SLF001 - Django's public Meta API
    fields = {str(field.column): find_stored(field) for field in meta.concrete_fields}
    return Table(
        meta.db_table,
        QUEUE if belongs_to_queue(meta.app_label, meta.model_name) else DEFAULT_DB_ALIAS,
        str(meta.pk.column),
        isinstance(meta.pk, AutoField),
        {column: field.get_internal_type() for column, field in fields.items()},
        [find_render(field) for field in fields.values()],
        getattr(model, "derived_column", None),
    )


def find_stored(field: "Field[Any, Any]") -> "Field[Any, Any]":
    """Return the field whose values a column holds: at the end of a chain of references."""
    return find_stored(field.target_field) if field.remote_field else field  # type: ignore[attr-defined]


def find_render(field: "Field[Any, Any]") -> Callable[[Any], str]:
    """Return what makes the text of a value; decimals are read as Django does, with all places of their column."""
    kind = field.get_internal_type()
    if kind == "DecimalField":
        connection, column = connections[DEFAULT_DB_ALIAS], field.get_col(field.model._meta.db_table)  # noqa: SLF001
        (convert,) = connection.ops.get_db_converters(column)
        return lambda value: f"{convert(value, column, connection):f}"
    return str if kind.endswith(("AutoField", "IntegerField")) else RENDERS.get(kind, render_text)
