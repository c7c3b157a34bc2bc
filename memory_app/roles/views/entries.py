"""`/role-memory/`: what was decided, what came of it and what was learned; and one decision with all that is known."""

from functools import partial

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.roles.core import DECISION_KIND
from memory_app.roles.decision_chart import load_picture
from memory_app.roles.labels import shadow_texts
from memory_app.roles.pages.entry import (
    corrected_label,
    is_undoable,
    is_waiting,
    late_labels,
    list_calls,
    list_evidence,
    list_inputs,
    list_texts,
    probe_rows,
    shadow_of,
    timeline_of,
)
from memory_app.roles.pages.lists import ENTRY_LIST
from memory_app.roles.pages.rows import shape_entries, shape_entry
from memory_app.roles.prompt_lessons import find_read
from memory_app.roles.registry import registry
from memory_app.roles.selectors import list_manual_due
from memory_app.roles.services.outcome import apply_due_marks, open_entry
from memory_app.roles.services.rejudge import judge_again
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.kernel.guard.masking import mask_nested
from minara_site.kernel.guard.selectors import find_last_hold
from minara_site.kernel.market.symbols import describe_asset
from minara_site.shell.nav import Crumb
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import render_list
from minara_site.web.responses import render_page


@page(Act.ROLE_MEMORY_READ)
def entry_list(request: PageRequest) -> HttpResponse:
    """List decisions by status; a blue edge says that the next prompt carries the lesson."""
    now = timezone.now()
    apply_due_marks(now=now)
    found, owner = ENTRY_LIST.load(request)
    read = find_read({row.owner for row in found.rows if row.lesson}, now=now)
    shown = found.with_rows(
        shape_entries(
            found.rows,
            principal=request.principal,
            now=now,
            read=read,
        )
    )
    context = ENTRY_LIST.context(request, owner) | {"due": list_manual_due(owner=owner, now=now).count()}
    return render_list(request, ENTRY_LIST.template, shown, context)


@page(Act.ROLE_MEMORY_READ)
def entry_page(request: PageRequest, entry_id: int) -> HttpResponse:
    """Show one decision: inputs, price, outcome, both stages, why there is no lesson, and where it came from."""
    principal, now = request.principal, timezone.now()
    entry = open_entry(principal, principal.reaches(Act.ROLE_MEMORY_READ), entry_id, now=now)
    declared = registry().find(entry.role_id)
    role = declared.role if declared else None
    read = find_read([entry.owner] if entry.lesson else [], now=now)
    row = shape_entry(
        entry,
        principal=principal,
        now=now,
        is_read=entry.pk in read,
    )
    names = name_actors({entry.actor, entry.outcome_by} - {""}, reader=principal.owner)
    shadow = shadow_of(entry)
    title = _("Decision %(id)d") % {"id": entry.pk}
    context = {
        "title": title,
        "crumbs": [
            Crumb(row.label, reverse("roles:one", args=[entry.role_id])),
            Crumb(title),
        ],
        "row": row,
        "entry": row.entry,
        "declared": declared,
        "inputs": list_inputs(row.entry.inputs),
        "evidence": list_evidence(row.entry.evidence),
        "calls": list_calls(entry),
        "shadow": shadow,
        "probe": probe_rows(entry, role),
        "late": late_labels(entry, role),
        "corrected": corrected_label(judge_again(entry, now=now)) if entry.price_corrected_at else "",
        "hold": find_last_hold(DECISION_KIND, entry.pk) if entry.held_at else None,
        "timeline": timeline_of(entry, role, now),
        "chart": load_picture(entry, role, now),
        "symbol": partial(describe_asset, entry, now=now),
        "noise_band": settings.MINARA.noise_band_pct,
        "shadow_rows": list_texts(shadow_texts(shadow.decision if row.is_own else mask_nested(shadow.decision)))
        if shadow
        else [],
        "author": names[entry.actor],
        "marker": names.get(entry.outcome_by, ""),
        "may_mark": is_waiting(entry, row.role, now) and principal.may(Act.ROLE_OUTCOME),
        "may_undo": is_undoable(entry, now) and principal.may(Act.ROLE_OUTCOME),
    }
    return render_page(request, "memory_app/roles/entry.html", context)
