"""The page "Why does the agent believe this?" of one memory. Source: screens U-16."""

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.edges.pages import describe_edges
from memory_app.memories.core.prompt import memory_line
from memory_app.memories.prompt_use import prompt_line
from memory_app.memories.views.one import open_one
from memory_app.why.pages import found_rows, mask_change, shown_other, steps_of
from memory_app.why.selectors import load_report
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.kernel.core.tokens import estimate_tokens
from minara_site.kernel.guard.masking import masked_for
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import total_label
from minara_site.web.responses import render_page


@page(Act.MEMORY_READ)
def show(request: PageRequest, memory_id: int) -> HttpResponse:
    """Show what led to a memory, where it was read, and what would change without it."""
    principal, reader = request.principal, request.user
    memory = open_one(request, Act.MEMORY_READ, memory_id)
    shown = masked_for(reader, memory)
    report = mask_change(
        load_report(memory, now=timezone.now()),
        reader=reader,
        owner_id=memory.owner_id,
    )
    names = name_actors({memory.actor, *report.actors}, reader=reader)
    line = prompt_line(shown)
    moves_up = [(row.id, memory_line(row)) for row in report.change.moves_up] if report.change else []
    context = {
        "title": _("Memory %(id)d") % {"id": memory.pk},
        "memory": shown,
        "is_own": memory.owner_id == reader.pk,
        "report": report,
        "steps": steps_of(memory, report, names=names, reader=reader),
        "conflicts": [(pk, shown_other(pk, report, reader)) for pk in report.conflicts],
        "found": found_rows(memory, report, names=names, principal=principal),
        "found_total": total_label(report.found.count),
        "carried_total": total_label(report.carried.count),
        "edges": describe_edges(report.edges),
        "line": line,
        "tokens": estimate_tokens(line),
        "moves_up": moves_up,
        "may_see_writer": principal.may(Act.WRITES_READ),
    }
    return render_page(request, "memory_app/why/page.html", context)
