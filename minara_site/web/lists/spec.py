"""What a room declares about one list, and what a query string means to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from minara_site.kernel.errors import Invalid
from minara_site.web.filters import Filter, Rows, Text, UnusableValueError
from minara_site.web.lists.pieces import BulkAction, Column, Empty, Reading, Sort

MAX_SELECTED = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSpec:
    """What a room declares about one list.

    `name` scopes the cursor and the element ids. `row` is the template of one `<tr>`; it gets `row` and `spec`.
    `sorts[0]` is the default. `bulk_url` is the url name that the bulk bar posts `action` and `ids` to.
    """

    name: str
    caption: Text
    row: str
    columns: Sequence[Column]
    sorts: Sequence[Sort]
    empty: Empty
    filters: Sequence[Filter] = ()
    bulk: Sequence[BulkAction] = ()
    bulk_url: str = ""
    has_actions: bool = True
    page_size: int = 50

    @property
    def width(self) -> int:
        """Return the number of columns, for a `colspan`."""
        return len(self.columns) + bool(self.bulk) + self.has_actions

    def read(self, params: QueryDict, ignore: Sequence[str] = ()) -> Reading:
        """Read what a query string asks for."""
        values: dict[str, Any] = {}
        known = {
            "cursor",
            "sort",
            *ignore,
            *(item.name for item in self.filters),
        }
        unknown = _("This list has no filter “%(name)s”; it was ignored.")
        notices = [unknown % {"name": name[:80]} for name in params if name not in known]
        for item in self.filters:
            try:
                value = item.read(params)
            except UnusableValueError as error:
                notices.append(str(error))
                value = item.default or None
            if value is not None:
                values[item.name] = value
                notices += item.remarks(value)
        asked = params.get("sort", self.sorts[0].name)
        sort = next((one for one in self.sorts if one.name == asked), None)
        if sort is None:
            notices.append(_("This list cannot be sorted by “%(name)s”.") % {"name": asked[:80]})
        return Reading(values, sort or self.sorts[0], tuple(notices))

    def narrow(self, queryset: Rows, reading: Reading) -> Rows:
        for item in self.filters:
            if item.name in reading.values:
                queryset = item.narrow(queryset, reading.values[item.name])
        return queryset

    def matching_ids(self, queryset: Rows, params: QueryDict) -> list[int]:
        """Return the ids of all rows that these filters keep. Raises Invalid when these are none or more than 5 000."""
        matching = self.narrow(queryset, self.read(params)).order_by("pk")
        ids = list(matching.values_list("pk", flat=True)[: MAX_SELECTED + 1])
        if not ids:
            raise Invalid(_("Choose at least one row."), code="nothing_chosen")
        if len(ids) > MAX_SELECTED:
            most = _("Choose at most %(most)d rows at a time.") % {"most": MAX_SELECTED}
            raise Invalid(most, code="too_many_chosen")
        return ids
