"""The answer to an HTMX act on a row of the list or the trash: the row as it is now, or nothing."""

from urllib.parse import urlsplit

from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone

from memory_app.index.selectors import limited
from memory_app.memories.core import State
from memory_app.memories.listed import shape_rows
from memory_app.memories.listing import MEMORIES, TRASH, count_memory_tabs, spec_for
from memory_app.memories.models import Memory
from memory_app.memories.prompt_use import count_label, load_prompt_use
from memory_app.memories.selectors import retention_cutoff
from minara_site.access.policy import Act
from minara_site.shell.pages import PageRequest
from minara_site.web.lists import render_row


def answer_row(request: PageRequest, memory: Memory | None = None) -> HttpResponse:
    """Answer the row of this memory; without one the row leaves the list."""
    seen = urlsplit(request.htmx.current_url or "")
    params = QueryDict(seen.query)
    asked = params.get("owner", "")
    owner = request.principal.reads(Act.MEMORY_READ, asked)
    now = timezone.now()
    rows = Memory.objects.for_owner(owner)
    is_trash = seen.path == reverse("memories:trash")
    spec = spec_for(TRASH if is_trash else MEMORIES, request.principal, owner, asked=asked)
    reading = load_prompt_use(owner)
    row = None
    if memory is not None:
        [row] = shape_rows([memory], principal=request.principal, owner=owner, reading=reading, now=now)
    with limited(params.get("q")):
        return render_row(
            request,
            spec,
            rows.in_state(State.DELETED, retention_cutoff(now)) if is_trash else rows,
            row,
            tab_counts={} if is_trash else count_memory_tabs(owner),
            note="" if is_trash else count_label(spec.narrow(rows, spec.read(params)), reading),
        )
