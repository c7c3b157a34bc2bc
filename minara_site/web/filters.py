"""Filters of a list: declared by a room, read from the URL, shown as search box, tabs or chips.

A value that a filter does not know is ignored with a notice; nothing in a URL can make a list fail (trust W-19, W-21).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import StrEnum
from typing import Any

from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from minara_site.kernel.plain_text import storable_problem

Text = str | Promise
Rows = QuerySet[Any]
Choices = Sequence[tuple[str, Text]] | Mapping[Any, Text]
MAX_SEARCH_CHARS = 512
WHOLE_NUMBER = re.compile("-?[0-9]{1,18}")  # fits the integer columns of both engines


class FilterKind(StrEnum):
    """How a filter is read and shown."""

    SEARCH = "search"
    TABS = "tabs"
    CHOICE = "choice"  # any number of the choices
    ONE = "one"  # one of the choices; of several in a URL the last
    TEXT = "text"
    DATE = "date"
    NUMBER = "number"


class UnusableValueError(ValueError):
    """The URL holds a value that this filter cannot use; the message is the notice."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter in use, and the query string without it."""

    label: Text
    value: Text
    without: str


@dataclass(frozen=True, slots=True)
class Filter:
    """One query parameter of a list.

    The value is a text, but a tuple of texts for CHOICE, a date for DATE, an int for NUMBER. `apply` narrows the rows
    by it; without `apply`, `lookup` is a Django lookup (CHOICE adds `__in`, DATE compares with the
    start of that day in the reader's zone). `default` is the value without the parameter; `remarks` are what the
    reader should know about a value in use.
    """

    name: str
    label: Text
    kind: FilterKind
    lookup: str = ""
    apply: Callable[[Rows, Any], Rows] | None = None
    choices: Choices | Callable[[], Choices] = ()
    default: str = ""
    remarks: Callable[[Any], Sequence[str]] = lambda value: ()

    def load_choices(self) -> Sequence[tuple[str, Text]]:
        """Return the choices; what apps declare is read when it is asked for."""
        choices = self.choices() if callable(self.choices) else self.choices
        return list(choices.items()) if isinstance(choices, Mapping) else choices

    @property
    def is_addable(self) -> bool:
        """Whether people add it through the filter form instead of a box or tabs of its own."""
        return self.kind not in {FilterKind.SEARCH, FilterKind.TABS}

    def read(self, params: QueryDict) -> Any:
        """Return the value in use, or None. Raises UnusableValueError."""
        raw = [value.strip() for value in params.getlist(self.name) if value.strip()]
        if not raw:
            return self.default or None
        return READERS[self.kind](self, raw)

    def narrow(self, rows: Rows, value: Any) -> Rows:
        if self.apply is not None:
            return self.apply(rows, value)
        if self.kind is FilterKind.CHOICE:
            return rows.filter(**{f"{self.lookup}__in": value})
        if self.kind is FilterKind.DATE:
            value = timezone.make_aware(datetime.combine(value, time.min))
        return rows.filter(**{self.lookup: value})

    def chips(self, params: QueryDict, value: Any) -> list[Chip]:
        """Return a chip for each value that can be taken away; tabs and the search box show theirs themselves."""
        if not self.is_addable or value == self.default:
            return []
        if not isinstance(value, tuple):
            return [
                Chip(
                    self.label,
                    self.text_of(value),
                    changed_query(params, **{self.name: None, "cursor": None}),
                )
            ]
        return [
            Chip(
                self.label,
                self.text_of(one),
                without_value(params, self.name, one),
            )
            for one in value
        ]

    def text_of(self, value: Any) -> Text:
        if isinstance(value, date):
            return date_format(value, _("j M Y"))
        return dict(self.load_choices()).get(value, str(value))

    def unusable(self, value: str) -> UnusableValueError:
        """Return the error that names this filter and the value."""
        text = _("“%(value)s” cannot be used for “%(filter)s” and was ignored.")
        return UnusableValueError(text % {"value": value[:80], "filter": self.label})


def search_in(label: Text, *fields: str) -> Filter:
    """Return the search box over rows that have a text in one of these fields."""
    return Filter(
        "q",
        label,
        FilterKind.SEARCH,
        apply=lambda rows, text: rows.filter(contains_any(fields, text)),
    )


def contains_any(fields: Sequence[str], text: str) -> Q:
    """Return the condition that one of these fields contains a text, in capitals or not."""
    return Q(*((f"{field}__icontains", text) for field in fields), _connector=Q.OR)


def choice(
    name: str,
    label: Text,
    choices: Choices | Callable[[], Choices],
    *,
    lookup: str = "",
) -> Filter:
    """Return a filter by any of these choices of a column, which has the filter's name unless told."""
    return Filter(
        name,
        label,
        FilterKind.CHOICE,
        lookup or name,
        choices=choices,
    )


def dates(field: str, after: Text, before: Text) -> tuple[Filter, Filter]:
    """Return the two filters by the time in a column: from a day on, and before a day."""
    begin = Filter("after", after, FilterKind.DATE, f"{field}__gte")
    return begin, Filter("before", before, FilterKind.DATE, f"{field}__lt")


def read_text(item: Filter, raw: list[str]) -> str:
    """Read what somebody typed."""
    if storable_problem(raw[-1]) or len(raw[-1]) > MAX_SEARCH_CHARS:
        raise item.unusable(raw[-1])
    return raw[-1]


def read_one(item: Filter, raw: list[str]) -> str:
    """Read the one choice."""
    if raw[-1] not in dict(item.load_choices()):
        raise item.unusable(raw[-1])
    return raw[-1]


def read_choice(item: Filter, raw: list[str]) -> tuple[str, ...]:
    """Read every chosen value."""
    known = dict(item.load_choices())
    for value in raw:
        if value not in known:
            raise item.unusable(value)
    return tuple(dict.fromkeys(raw))


def read_date(item: Filter, raw: list[str]) -> date:
    """Read an ISO date."""
    try:
        value = parse_date(raw[-1])
    except ValueError:
        value = None
    if value is None or value.year in {date.min.year, date.max.year}:  # a zone could push these out of range
        raise item.unusable(raw[-1])
    return value


def read_number(item: Filter, raw: list[str]) -> int:
    """Read a whole number that a database column can hold."""
    if WHOLE_NUMBER.fullmatch(raw[-1]) is None:
        raise item.unusable(raw[-1])
    return int(raw[-1])


READERS: dict[FilterKind, Callable[[Filter, list[str]], Any]] = {
    FilterKind.SEARCH: read_text,
    FilterKind.TABS: read_one,
    FilterKind.CHOICE: read_choice,
    FilterKind.ONE: read_one,
    FilterKind.TEXT: read_text,
    FilterKind.DATE: read_date,
    FilterKind.NUMBER: read_number,
}


def changed_query(params: QueryDict, **changes: str | None) -> str:
    """Return the query string with these parameters set, or left out where None; empty or beginning with `?`."""
    copy = params.copy()
    for name, value in changes.items():
        copy.pop(name, None)
        if value is not None:
            copy[name] = value
    return f"?{copy.urlencode()}" if copy else ""


def without_value(params: QueryDict, name: str, value: str) -> str:
    """Return the query string without one of the values of a parameter, from the beginning of the list."""
    copy = params.copy()
    copy.pop("cursor", None)
    copy.setlist(
        name,
        [one for one in params.getlist(name) if one.strip() != value],
    )
    return f"?{copy.urlencode()}" if copy.urlencode() else ""
