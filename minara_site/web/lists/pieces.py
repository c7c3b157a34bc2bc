"""What a list is declared of, and what a URL asks of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy

from minara_site.web.filters import Text
from minara_site.web.keyset import Order


@dataclass(frozen=True, slots=True)
class Column:
    """A head cell. `sorts` are the names of the Sorts that its link asks for, the first one first."""

    label: Text
    sorts: tuple[str, ...] = ()
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Sort:
    """An order that a person can ask for by `?sort=name`; `label` ends the status line."""

    name: str
    label: Text
    order: Order


def newest_first(field: str, label: Text = "") -> Sort:
    """Return the order of most lists."""
    return Sort("newest", label or gettext_lazy("newest first"), Order(field))


def by_time(field: str, newest: Text = "", oldest: Text = "") -> tuple[Sort, Sort]:
    """Return the two orders of most lists, newest first by default."""
    last = Sort("oldest", oldest or gettext_lazy("oldest first"), Order(field, descending=False))
    return newest_first(field, newest), last


def time_column(label: Text) -> Column:
    """Return the column of the moment that a list is sorted `by_time` of."""
    return Column(label, sorts=("newest", "oldest"), numeric=True)


@dataclass(frozen=True, slots=True)
class BulkAction:
    """A button of the bulk bar; its name arrives as `action`. `e` presses the one called delete, `key` this one.

    Who may not do `act`, of the permission table, does not get it. `refusal` says why it is off.
    """

    name: str
    label: Text
    icon: str = ""
    key: str = ""
    act: str = ""
    refusal: Text = ""


@dataclass(frozen=True, slots=True)
class Empty:
    """What a list says while it holds nothing at all: why, and the one next act (`url` is a url name).

    `no_match` is what it says when nothing fits the filters, where the usual words do not help.
    """

    icon: str
    title: Text
    text: Text
    action: Text = ""
    url: str = ""
    no_match: Text = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the URL asks of a list: the values in use by filter name, the order, and what was ignored."""

    values: Mapping[str, Any]
    sort: Sort
    notices: tuple[str, ...]
