"""Answers of list views."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string

from minara_site.web.filters import Rows, Text
from minara_site.web.lists.load import load_counts
from minara_site.web.lists.page import ListPage
from minara_site.web.lists.spec import ListSpec
from minara_site.web.responses import render_page, toasts_out_of_band


def render_list(
    request: HttpRequest,
    template: str,
    page: ListPage,
    context: Mapping[str, Any] | None,
) -> HttpResponse:
    """Answer a list: `template` as a page; under HTMX the list alone, or the next rows when a cursor is given."""
    inputs = {**(context or {}), "page": page, "spec": page.spec}
    if page.is_continued:
        return render_page(request, template, inputs, fragment="parts/_list_more.html")
    response = render_page(request, template, inputs, fragment="parts/list.html")
    response["HX-Retarget"], response["HX-Reswap"] = f"#{page.spec.name}", "outerHTML"
    return response


def render_row(
    request: HttpRequest,
    spec: ListSpec,
    queryset: Rows,
    row: Any = None,
    *,
    tab_counts: Mapping[str, int] | None = None,
    note: Text = "",
    extra: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """Answer an HTMX post from a row: the row again (nothing when it is gone), toasts and new counts out of band.

    `queryset` is the whole list as `load_page` gets it; the filters are those of the page the reader sees.
    `extra` is what the row's template reads beside the row.
    """
    seen = urlsplit(request.headers.get("HX-Current-URL", ""))
    page = load_counts(
        spec,
        queryset,
        path=seen.path,
        params=QueryDict(seen.query),
    )
    inputs = {
        "row": row,
        "spec": spec,
        "page": page.with_tab_counts(tab_counts or {}).with_note(note),
        **(extra or {}),
    }
    html = render_to_string("parts/_list_row.html", inputs, request)
    return HttpResponse(html + toasts_out_of_band(request))
