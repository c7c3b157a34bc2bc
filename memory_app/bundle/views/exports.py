"""`/ops/export/`: ask for a zip of everything that the agent reads, and take it away within a day (screens U-22)."""

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.bundle.forms import ExportForm
from memory_app.bundle.labels import KINDS, LEFT_OUT
from memory_app.bundle.models import Direction, TransferState
from memory_app.bundle.pages import shape
from memory_app.bundle.transfers import record_download, remove_file, start_export
from memory_app.bundle.views.shared import answer_progress, load_one, load_transfers, one_owner
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.errors import Gone, NotFound
from minara_site.kernel.files.services import find_file, read_file
from minara_site.kernel.jobs.selectors import is_worker_seen
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import render_list
from minara_site.web.responses import render_page, see_other, toast

FILE = "minara-export-%Y%m%d-%H%M.zip"


@page(Act.EXPORT, "GET", "POST")
def exports(request: PageRequest) -> HttpResponse:
    """List the exports and take the order for another; hard constraints only from who just showed who they are."""
    form = ExportForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        options = form.cleaned_data
        if options["include_constraints"]:
            request.principal.require(Act.EXPORT_CONSTRAINTS)
        record = start_export(
            principal=request.principal,
            owner=one_owner(request, Act.EXPORT),
            sign=options["sign"],
            include_constraints=options["include_constraints"],
            now=timezone.now(),
        )
        return see_other("bundle:export", record.pk)
    found, owner = load_transfers(request, Act.EXPORT, Direction.EXPORT)
    context = {
        "title": _("Export"),
        "form": form,
        "owner": owner if isinstance(owner, User) else None,
    }
    return render_list(request, "memory_app/bundle/exports.html", found, context)


@page(Act.EXPORT)
def one(request: PageRequest, export_id: int) -> HttpResponse:
    """Show one export: how far it is, what is in it, and where it can be taken away."""
    transfer = load_one(request, Act.EXPORT, Direction.EXPORT, export_id)
    (row,), result = shape([transfer]), transfer.result or {}
    context = {
        "title": _("Export %(id)d") % {"id": transfer.pk},
        "row": row,
        "progress_url": reverse("bundle:export_progress", args=[transfer.pk]),
        "has_worker": is_worker_seen(now=timezone.now()),
        "files": [(KINDS.get(kind, kind), count) for kind, count in sorted(result.get("files", {}).items())],
        "left_out": [(LEFT_OUT[why], count) for why, count in sorted(result.get("left_out", {}).items())],
        "is_uploadable": result.get("is_uploadable", True),
        "may_download": transfer.actor == request.principal.actor,
    }
    return render_page(request, "memory_app/bundle/export.html", context)


@page(Act.EXPORT)
def progress(request: PageRequest, export_id: int) -> HttpResponse:
    """Answer how far an export is."""
    transfer = load_one(request, Act.EXPORT, Direction.EXPORT, export_id)
    return answer_progress(request, transfer, "bundle:export")


@page(Act.EXPORT, "POST")
def remove(request: PageRequest, export_id: int) -> HttpResponse:
    """Remove the file of an export before its day is over."""
    transfer = load_one(request, Act.EXPORT, Direction.EXPORT, export_id)
    remove_file(principal=request.principal, transfer=transfer, now=timezone.now())
    toast(request, _("Removed the file. You can ask for another export."))
    return see_other("bundle:export", transfer.pk)


@page(Act.EXPORT)
def download(request: PageRequest, export_id: int) -> HttpResponseBase:
    """Hand the zip to whoever asked for it; one with hard constraints only to who just showed who they are."""
    now = timezone.now()
    transfer = load_one(request, Act.EXPORT, Direction.EXPORT, export_id)
    if transfer.actor != request.principal.actor:
        raise NotFound(_("There is no such transfer."))
    if transfer.options.get("include_constraints"):
        request.principal.require(Act.EXPORT_CONSTRAINTS)
    file = find_file(transfer.file_name)
    if file is None or transfer.state != TransferState.DONE or transfer.expires_at <= now:
        raise Gone(_("An export is kept for a day. Ask for another."))
    record_download(principal=request.principal, transfer=transfer, now=now)
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{transfer.created_at.strftime(FILE)}"',
        "Content-Length": str(file.size_bytes),
    }
    return StreamingHttpResponse(
        read_file(file.name),
        content_type="application/zip",
        headers=headers,
    )
