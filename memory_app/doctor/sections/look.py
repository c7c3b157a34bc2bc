"""How closely a section looks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from memory_app.doctor.core import Line, State
from minara_site.web.filters import Text
from minara_site.web.keyset import count_rows

MOST_ON_A_PAGE = 20_000


@dataclass(frozen=True, slots=True)
class Look:
    """When it is looked, and at how many rows of a table at most; None reads every row, as the command does."""

    now: datetime
    most: int | None = None

    def count(self, name: str, label: Text, rows: "QuerySet[Any]", *, watched: bool = False, hint: Text = "") -> Line:
        """Return the line of a count; a `watched` one should be 0."""
        number, is_exact = self.number(rows)
        state = State.WATCH if watched and number else State.OK
        return Line(name, label, number, state=state, hint=hint if state is not State.OK else "", is_exact=is_exact)

    def number(self, rows: "QuerySet[Any]") -> tuple[int, bool]:
        """Return how many rows there are, and whether that is exact."""
        if self.most is None:
            return rows.order_by().count(), True
        counted = count_rows(rows, most=self.most)
        return counted.number, counted.is_exact
