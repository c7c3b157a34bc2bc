"""What a section of the report is asked: at which moment, and how many rows it may read."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet, Subquery
from django.db.models.functions import Coalesce

from minara_site.kernel.counts import RowCount, count_each
from minara_site.kernel.doctor.core import HealthState, Line, Section, Text

MAX_ON_A_PAGE = 20_000
EVERY_ROW = 2**62


@dataclass(frozen=True, slots=True)
class ReportScope:
    """The moment of a report, and how many rows of a table are read at most; None reads all, as the command does."""

    now: datetime
    most: int | None = None

    def count(self, *tables: "QuerySet[Any]") -> list[RowCount]:
        """Return how many rows each of these has, in one statement."""
        return count_each(*tables, limit=EVERY_ROW if self.most is None else self.most)

    def newest(self, table: "QuerySet[Any]") -> "QuerySet[Any]":
        """Return the newest rows, one more than are read, as a range: for a list of ids PostgreSQL reads all rows."""
        if self.most is None:
            return table
        first = table.order_by("-pk").values("pk")[self.most : self.most + 1]
        return table.filter(pk__gte=Coalesce(Subquery(first), 0))

    def has_all(self, count: int) -> bool:
        """Say whether this many of the newest rows are all that there are."""
        return self.most is None or count <= self.most


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A section that an app adds to the report."""

    name: str
    load: Callable[[ReportScope], Section]


def line_of(
    name: str,
    label: Text,
    count: RowCount,
    *,
    watched: bool = False,
    hint: Text = "",
) -> Line:
    """Return the line of a count; a `watched` one should be 0."""
    is_noted = watched and count.number > 0
    state = HealthState.WATCH if is_noted else HealthState.OK
    return Line(
        name,
        label,
        count.number,
        state=state,
        hint=hint if is_noted else "",
        is_exact=count.is_exact,
    )
