"""Further tables of the sources' database: what apps above this one bring in beside memories and the user profile.

An app declares them as `IMPORT_TABLES` in its `import_tables.py`. Each row is judged and stored by the table itself,
in the transaction of its slice; a dry run stores nothing.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Protocol

from memory_app.importers.core.entries import Record, TableRow
from minara_site.access.models import User
from minara_site.kernel import registry


class ImportTable(Protocol):
    """One table: its name, the columns that are read where they are there, and those without which it is refused."""

    name: str
    columns: tuple[str, ...]
    needed: frozenset[str]

    def read(self, record: Record) -> Iterator[TableRow]:
        """Give the entry of a row. Raises UnusableError."""

    def find_duplicate(self, row: TableRow, *, owner: User) -> str:
        """Return where the owner has it already, in words; empty when it is new."""

    def store(self, row: TableRow, *, owner: User, now: datetime) -> None:
        """Store a new row."""


def load_tables() -> dict[str, Any]:
    """Return the tables by name."""
    return registry.load("import_tables")
