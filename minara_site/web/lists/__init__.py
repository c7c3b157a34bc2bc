"""One behaviour for every list: filters in the URL, keyset pages, a bounded count, bulk choice, three empty states.

A room declares a `ListSpec`; `load_page` reads the request; `render_list` answers the page, the list (HTMX) or
the next rows (HTMX, "Load more"). Everything that a list shows can be reached again by its URL (screens U-06, U-08).
"""

from minara_site.web.filters import Filter, FilterKind
from minara_site.web.lists.answers import render_list, render_row
from minara_site.web.lists.load import load_page
from minara_site.web.lists.page import ListPage, total_label
from minara_site.web.lists.pieces import BulkAction, Column, Empty, Sort, by_time, newest_first, time_column
from minara_site.web.lists.spec import ListSpec

__all__ = [
    "BulkAction",
    "Column",
    "Empty",
    "Filter",
    "FilterKind",
    "ListPage",
    "ListSpec",
    "Sort",
    "by_time",
    "load_page",
    "newest_first",
    "render_list",
    "render_row",
    "time_column",
    "total_label",
]
