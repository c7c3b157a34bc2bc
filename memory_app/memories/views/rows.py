"""The answer to an HTMX act on a row of the list or the trash: the row as it is now, or nothing."""

from urllib.parse import urlsplit

from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone

from memory_app.memories.models import Memory
from memory_app.memories.pages.lists import MEMORY_LIST, TRASH_LIST
from memory_app.memories.pages.rows import shape_rows
from memory_app.memories.prompt_use import count_label, load_prompt_use
from minara_site.shell.pages import PageRequest
from minara_site.web.lists import render_row


def answer_row(request: PageRequest, memory: Memory | None = None) -> HttpResponse:
    """Answer the row of this memory; without one the row leaves the list."""
    seen = urlsplit(request.htmx.current_url or "")
    params = QueryDict(seen.query)
    shown_list = TRASH_LIST if seen.path == reverse("memories:trash") else MEMORY_LIST
    spec, owner = shown_list.read(request.principal, params)
    rows, use = shown_list.rows(owner), load_prompt_use(owner)
    row = None
    if memory is not None:
        principal, now = request.principal, timezone.now()
        [row] = shape_rows(
            [memory],
            principal=principal,
            owner=owner,
            reading=use,
            now=now,
        )
    with shown_list.within(params):
        note = "" if shown_list is TRASH_LIST else count_label(spec.narrow(rows, spec.read(params)), use)
        return render_row(
            request,
            spec,
            rows,
            row,
            tab_counts=shown_list.count_tabs(owner),
            note=note,
        )
