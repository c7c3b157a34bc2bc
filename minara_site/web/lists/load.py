"""Reads of lists: the page that a request asks for, and what the list counts after one of its rows changed."""

from collections.abc import Sequence
from dataclasses import replace

from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _

from minara_site.kernel.counts import RowCount, count_rows
from minara_site.web.filters import Rows
from minara_site.web.keyset import BadCursor, paginate
from minara_site.web.lists.page import ListPage
from minara_site.web.lists.spec import ListSpec


def load_page(
    spec: ListSpec,
    request: HttpRequest,
    queryset: Rows,
    *,
    ignore: Sequence[str] = (),
) -> ListPage:
    """Return the page that filters, order and cursor of the URL ask for.

    `ignore` names further parameters that the view reads itself. Bad values become notices, never errors.
    """
    reading = spec.read(request.GET, ignore)
    matching = spec.narrow(queryset, reading)
    order, cursor = reading.sort.order, request.GET.get("cursor")
    try:
        cut = paginate(
            matching,
            order,
            cursor=cursor,
            limit=spec.page_size,
            scope=spec.name,
        )
    except BadCursor:
        cursor = None
        cut = paginate(
            matching,
            order,
            cursor=None,
            limit=spec.page_size,
            scope=spec.name,
        )
        notice = _("That place in the list is no longer valid; this is its beginning.")
        reading = replace(reading, notices=(*reading.notices, notice))
    is_whole = cut.next_cursor is None and not cursor
    return ListPage(
        spec=spec,
        path=request.path,
        params=request.GET,
        reading=reading,
        rows=cut.items,
        offset=cut.offset,
        next_cursor=cut.next_cursor,
        count=RowCount(len(cut.items), is_exact=True) if is_whole else count_rows(matching),
        is_continued=bool(cursor),
    )


def load_counts(
    spec: ListSpec,
    queryset: Rows,
    *,
    path: str,
    params: QueryDict,
) -> ListPage:
    """Return what a list at this address counts, without rows, for an answer that changes one of them."""
    reading = spec.read(params)
    return ListPage(
        spec=spec,
        path=path,
        params=params,
        reading=reading,
        rows=(),
        offset=0,
        next_cursor=None,
        count=count_rows(spec.narrow(queryset, reading)),
        is_continued=False,
    )
