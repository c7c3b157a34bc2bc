"""How closely a section looks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from memory_app.doctor.core import Line, State
from minara_site.web.counts import RowCount, count_each
from minara_site.web.filters import Text

MOST_ON_A_PAGE = 20_000
EVERY_ROW = 2**62


@dataclass(frozen=True, slots=True)
class Look:
    """When it is looked, and at how many rows of a table at most; None reads every row, as the command does."""

    now: datetime
    most: int | None = None

    def count(self, *tables: "QuerySet[Any]") -> list[RowCount]:
        """Return how many rows each of these has, in one statement."""
        return count_each(*tables, limit=EVERY_ROW if self.most is None else self.most)


def line_of(name: str, label: Text, count: RowCount, *, watched: bool = False, hint: Text = "") -> Line:
    """Return the line of a count; a `watched` one should be 0."""
    is_noted = watched and count.number > 0
    state = State.WATCH if is_noted else State.OK
    return Line(name, label, count.number, state=state, hint=hint if is_noted else "", is_exact=count.is_exact)
