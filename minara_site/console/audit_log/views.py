"""The pages of the audit log."""

import json
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.console.audit_log.export import Format, export_response
from minara_site.console.audit_log.pages import ENTRIES, shape_entries
from minara_site.console.audit_log.selectors import get_entry, load_chain
from minara_site.console.jobs.pages import shape_runs
from minara_site.console.jobs.services import start_job
from minara_site.kernel.audit_log.models import AuditEntry, AuditSeal
from minara_site.kernel.audit_log.tasks import VERIFY
from minara_site.kernel.errors import NotFound
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import load_page, render_list, total_label
from minara_site.web.responses import render_page, see_other, toast, wants_fragment


@page(Act.AUDIT_LOG)
def entry_list(request: PageRequest) -> HttpResponse:
    """List every act, newest first, under what is known of the chain."""
    found = load_page(ENTRIES, request, AuditEntry.objects.select_related("owner"))
    rows = shape_entries(found.rows, reader=request.user)
    context: dict[str, Any] = {"title": _("Audit log"), "formats": list(Format)}
    if not wants_fragment(request):
        context |= chain_context(request)
    return render_list(
        request,
        "console/audit_log/list.html",
        found.with_rows(rows),
        context,
    )


def chain_context(request: PageRequest) -> dict[str, Any]:
    """Return what the panel of the chain shows."""
    chain = load_chain(now=timezone.now())
    check = shape_runs([chain.under_way], reader=request.user)[0] if chain.under_way else None
    waiting = total_label(chain.waiting)
    return {
        "chain": chain,
        "waiting": waiting,
        "check": check,
        "may_run": request.principal.may(Act.JOBS_RUN),
    }


@page(Act.AUDIT_LOG)
def entry(request: PageRequest, audit_entry_id: int) -> HttpResponse:
    """Show one act with everything that was recorded of it."""
    found = get_entry(audit_entry_id)
    row = shape_entries([found], reader=request.user)[0]
    context = {
        "title": row.words or found.tool_call,
        "row": row,
        "seal": AuditSeal.objects.filter(last_id__gte=audit_entry_id).order_by("last_id").first(),
        "details": json.dumps(found.details, indent=2, ensure_ascii=False, sort_keys=True) if found.details else "",
    }
    return render_page(request, "console/audit_log/entry.html", context)


@page(Act.AUDIT_LOG)
def chain(request: PageRequest) -> HttpResponse:
    """Answer the panel of the chain, which asks for itself while a check is under way."""
    if not wants_fragment(request):
        return see_other("audit_log:list")
    template = "console/audit_log/_chain.html"
    return render_page(
        request,
        template,
        chain_context(request),
        fragment=template,
    )


@page(Act.JOBS_RUN, "POST")
def check(request: PageRequest) -> HttpResponse:
    """Ask for a check of the whole chain."""
    _run, is_new = start_job(
        principal=request.principal,
        name=VERIFY,
        now=timezone.now(),
    )
    toast(
        request,
        _("The check waits for a worker.") if is_new else _("A check is running already."),
    )
    return see_other("audit_log:list")


@page(Act.AUDIT_LOG)
def export(request: PageRequest, suffix: str) -> HttpResponseBase:
    """Answer every act that the filters keep, as a file."""
    if suffix not in set(Format):
        raise NotFound(_("Export as csv or json."))
    entries = ENTRIES.narrow(AuditEntry.objects.all(), ENTRIES.read(request.GET))
    return export_response(entries, Format(suffix), order=ENTRIES.sorts[0].order)
