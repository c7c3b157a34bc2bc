"""One page of a list, as its templates read it: every link, chip and count worked out of the URL."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from minara_site.kernel.counts import RowCount
from minara_site.web.filters import Chip, Filter, FilterKind, Text, changed_query
from minara_site.web.lists.pieces import Column, Reading
from minara_site.web.lists.spec import ListSpec


@dataclass(frozen=True, slots=True)
class Head:
    """A head cell with its link and, on the sorted column, its direction for `aria-sort`."""

    label: Text
    numeric: bool
    url: str
    direction: str


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab: its link, whether it stands, and how many rows it holds (None when nobody counted)."""

    label: Text
    url: str
    is_current: bool
    count: int | None


@dataclass(frozen=True, slots=True)
class FormField:
    """A control of the filter form: a select when it has `options`, else an input."""

    name: str
    label: Text
    value: str
    input_type: str = ""
    options: Sequence[tuple[str, Text]] = ()


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list, as its templates read it."""

    spec: ListSpec
    path: str
    params: QueryDict
    reading: Reading
    rows: Sequence[Any]
    offset: int
    next_cursor: str | None
    count: RowCount
    is_continued: bool
    note: Text = ""
    tab_counts: Mapping[str, int] = field(default_factory=dict)

    def with_rows(self, rows: Iterable[Any]) -> "ListPage":
        """Return the page with rows that the room has shaped, one for each."""
        return replace(self, rows=list(rows))

    def with_note(self, note: Text) -> "ListPage":
        """Return the page with one more fact in its status line, such as "9 are in the prompt"."""
        return replace(self, note=note)

    def with_tab_counts(self, counts: Mapping[str, int]) -> "ListPage":
        return replace(self, tab_counts=counts)

    @property
    def shown(self) -> int:
        """Return the number of rows from the beginning of the list to the end of this page."""
        return self.offset + len(self.rows)

    @property
    def total(self) -> str:
        """Return how many rows match, in words where counting stopped."""
        return total_label(self.count)

    @property
    def first(self) -> int:
        """Return the place of the first row, counted from 1."""
        return self.offset + 1

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what the reader should know about the URL."""
        return self.reading.notices

    @property
    def empty_url(self) -> str:
        """Return the address of the one next act while the list holds nothing."""
        return reverse(self.spec.empty.url) if self.spec.empty.url else ""

    @property
    def is_filtered(self) -> bool:
        """Whether the URL narrows the list beyond what it shows by itself."""
        values = self.reading.values
        return any(item.name in values and values[item.name] != item.default for item in self.spec.filters)

    @property
    def heads(self) -> list[Head]:
        return [self._head(column) for column in self.spec.columns]

    @property
    def tabs_filter(self) -> Filter | None:
        return self._first(FilterKind.TABS)

    @property
    def tabs(self) -> list[Tab]:
        item = self.tabs_filter
        if item is None:
            return []
        current = self.reading.values.get(item.name)
        return [
            Tab(
                label,
                self.link(**{item.name: value}),
                value == current,
                self.tab_counts.get(value),
            )
            for value, label in item.load_choices()
        ]

    @property
    def search_filter(self) -> Filter | None:
        """Return the filter that is shown as search box."""
        return self._first(FilterKind.SEARCH)

    @property
    def search_text(self) -> str:
        return self.reading.values.get(self.search_filter.name, "") if self.search_filter else ""

    @property
    def fields(self) -> list[FormField]:
        """Return the controls of the filter form. A choice adds a value, so its select begins empty."""
        fields = [self._form_field(item) for item in self.spec.filters if item.is_addable]
        if len(self.spec.sorts) > 1:
            options = [(sort.name, sort.label) for sort in self.spec.sorts]
            fields.append(
                FormField(
                    "sort",
                    _("Order"),
                    self.reading.sort.name,
                    options=options,
                )
            )
        return fields

    @property
    def chips(self) -> list[Chip]:
        """Return the filters in use that have neither box nor tabs."""
        values = self.reading.values
        return [
            replace(chip, without=f"{self.path}{chip.without}")
            for item in self.spec.filters
            if item.name in values
            for chip in item.chips(self.params, values[item.name])
        ]

    @property
    def kept_by_search(self) -> list[tuple[str, str]]:
        """Return the parameters that the search form carries along."""
        return self._kept({self.search_filter.name} if self.search_filter else set())

    @property
    def kept_by_form(self) -> list[tuple[str, str]]:
        """Return the parameters that the filter form carries along: those that it does not set itself."""
        added = {item.name for item in self.spec.filters if item.kind is FilterKind.CHOICE}
        return self._kept({"sort", *(field.name for field in self.fields)} - added)

    @property
    def next_url(self) -> str:
        """Return the address of the next page, empty at the end."""
        return f"{self.path}{changed_query(self.params, cursor=self.next_cursor)}" if self.next_cursor else ""

    @property
    def start_url(self) -> str:
        """Return the address of the beginning of this list, filters kept."""
        return self.link()

    @property
    def clear_url(self) -> str:
        return self.link(**dict.fromkeys((item.name for item in self.spec.filters), None))

    @property
    def query(self) -> str:
        """Return the query string that "all that match" posts."""
        return changed_query(self.params, cursor=None).removeprefix("?")

    def link(self, **changes: str | None) -> str:
        """Return the address of this list with parameters changed, from its beginning."""
        return f"{self.path}{changed_query(self.params, **{'cursor': None, **changes})}"

    def _first(self, kind: FilterKind) -> Filter | None:
        return next((item for item in self.spec.filters if item.kind is kind), None)

    def _form_field(self, item: Filter) -> FormField:
        if item.kind is FilterKind.CHOICE:
            return FormField(
                item.name,
                item.label,
                "",
                options=[("", _("any")), *item.load_choices()],
            )
        value = self.reading.values.get(item.name, "")
        if item.kind is FilterKind.ONE:
            return FormField(
                item.name,
                item.label,
                value,
                options=list(item.load_choices()),
            )
        return FormField(
            item.name,
            item.label,
            str(value),
            input_type=item.kind,
        )

    def _kept(self, dropped: set[str]) -> list[tuple[str, str]]:
        names = ({"sort"} | {item.name for item in self.spec.filters}) - dropped
        return [(name, value) for name in self.params if name in names for value in self.params.getlist(name)]

    def _head(self, column: Column) -> Head:
        sort = self.reading.sort
        if not column.sorts:
            return Head(column.label, column.numeric, "", "")
        if sort.name not in column.sorts:
            return Head(
                column.label,
                column.numeric,
                self.link(sort=column.sorts[0]),
                "",
            )
        turned = column.sorts[(column.sorts.index(sort.name) + 1) % len(column.sorts)]
        direction = "descending" if sort.order.descending else "ascending"
        return Head(
            column.label,
            column.numeric,
            self.link(sort=turned),
            direction,
        )


def total_label(count: RowCount) -> str:
    """Return a bounded count as people read it."""
    number = f"{count.number:,}"
    return number if count.is_exact else _("more than %(number)s") % {"number": number}
