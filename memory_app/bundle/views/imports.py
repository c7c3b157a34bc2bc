"""`/ops/import/`: upload, look at every verdict, then apply exactly what was shown (screens U-22, trust W-17)."""

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.bundle.forms import ApplyForm, ConstraintsForm, UploadForm
from memory_app.bundle.models import BundleTransfer, Direction, TransferState
from memory_app.bundle.pages import shape, show_preview
from memory_app.bundle.transfers import approve_constraints, check_owner, receive_upload, remove_file, start_apply
from memory_app.bundle.views.shared import answer_progress, load_one, load_transfers, one_owner
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.core.hidden import visible
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.jobs.selectors import is_worker_seen
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import render_list
from minara_site.web.responses import form_status, render_page, see_other, toast

MAX_DIGITS = 6


@page(Act.IMPORT_PREVIEW, "GET", "POST")
def imports(request: PageRequest) -> HttpResponse:
    """List the imports and take another file; a worker reads it."""
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if request.method == "POST" and form.is_valid():
        try:
            return see_other("bundle:import", receive(request, form).pk)
        except Invalid as problem:
            form.add_error("file", problem.detail)
    found, owner = load_transfers(request, Act.IMPORT_PREVIEW, Direction.IMPORT)
    context = {
        "title": _("Import"),
        "form": form,
        "owner": owner if isinstance(owner, User) else None,
    }
    response = render_list(request, "memory_app/bundle/imports.html", found, context)
    response.status_code = form_status(form)
    return response


def receive(request: PageRequest, form: UploadForm) -> BundleTransfer:
    """Keep the file of a form. Raises Invalid."""
    file = form.cleaned_data["file"]
    return receive_upload(
        principal=request.principal,
        owner=one_owner(request, Act.IMPORT_PREVIEW),
        source_format=form.cleaned_data["format"],
        given_name=visible(file.name)[:255],
        chunks=file.chunks(),
        now=timezone.now(),
    )


@page(Act.IMPORT_PREVIEW)
def one(request: PageRequest, import_id: int) -> HttpResponse:
    """Show one import: how far it is, what it would do, or what it did."""
    return show(request, load_one(request, Act.IMPORT_PREVIEW, Direction.IMPORT, import_id))


@page(Act.IMPORT_PREVIEW)
def progress(request: PageRequest, import_id: int) -> HttpResponse:
    """Answer how far an import is."""
    transfer = load_one(request, Act.IMPORT_PREVIEW, Direction.IMPORT, import_id)
    return answer_progress(request, transfer, "bundle:import")


@page(Act.IMPORT_PREVIEW, "POST")
def remove(request: PageRequest, import_id: int) -> HttpResponse:
    """Remove an upload and its preview; what it has stored stays."""
    transfer = load_one(request, Act.IMPORT_PREVIEW, Direction.IMPORT, import_id)
    remove_file(principal=request.principal, transfer=transfer, now=timezone.now())
    toast(request, _("Removed the upload. You can choose the file again."))
    return see_other("bundle:import", transfer.pk)


@page(Act.IMPORT_APPLY, "GET", "POST")
def constraints(request: PageRequest, import_id: int) -> HttpResponse:
    """Ask their owner for a typed word before hard constraints are taken over, then show the import anew."""
    transfer = load_one(request, Act.IMPORT_APPLY, Direction.IMPORT, import_id)
    check_owner(request.principal, transfer)
    return confirm(request, transfer, is_constraints=True)


@page(Act.IMPORT_APPLY, "GET", "POST")
def apply(request: PageRequest, import_id: int) -> HttpResponse:
    """Ask once more and do exactly what was shown; a second click finds it under way."""
    transfer = load_one(request, Act.IMPORT_APPLY, Direction.IMPORT, import_id)
    if transfer.options["approve"]:
        check_owner(request.principal, transfer)
    return confirm(request, transfer, is_constraints=False)


def confirm(
    request: PageRequest,
    transfer: BundleTransfer,
    *,
    is_constraints: bool,
) -> HttpResponse:
    """Answer the question of an import, or go on once it is answered."""
    if transfer.state != TransferState.SHOWN:
        return see_other("bundle:import", transfer.pk)
    needs_word = is_constraints or bool(transfer.options.get("approve"))
    data = request.POST if request.method == "POST" else None
    initial = {"plan": transfer.plan_sha256}
    form = ConstraintsForm("bundle:constraints", data, initial) if needs_word else ApplyForm(data, initial=initial)
    if request.method == "POST" and form.is_valid():
        return go_on(
            request,
            transfer,
            plan=form.cleaned_data["plan"],
            is_constraints=is_constraints,
        )
    context = {
        "title": _("Import hard constraints") if is_constraints else _("Import %(name)s") % name_of(transfer),
        "confirm": form,
        "is_constraints": is_constraints,
        "transfer": transfer,
        "shown": preview_of(request, transfer),
        "cancel_url": reverse("bundle:import", args=[transfer.pk]),
    }
    return render_page(
        request,
        "memory_app/bundle/confirm.html",
        context,
        status=form_status(form),
    )


def go_on(
    request: PageRequest,
    transfer: BundleTransfer,
    *,
    plan: str,
    is_constraints: bool,
) -> HttpResponse:
    """Carry out the answer; who answered to something that was not shown looks again."""
    principal, now = request.principal, timezone.now()
    act = approve_constraints if is_constraints else start_apply
    try:
        act(
            principal=principal,
            transfer=transfer,
            plan_sha256=plan,
            now=now,
        )
    except Conflict as conflict:
        toast(request, conflict.detail)
    return see_other("bundle:import", transfer.pk)


def show(request: PageRequest, transfer: BundleTransfer) -> HttpResponse:
    """Answer the page of an import."""
    (row,) = shape([transfer])
    run, is_own = transfer.options.get("run", ""), transfer.owner_id == request.user.pk
    has_word = transfer.options.get("approve") or settings.MINARA.minara_non_interactive
    context: dict[str, Any] = {
        "title": _("Import %(name)s") % name_of(transfer),
        "row": row,
        "transfer": transfer,
        "progress_url": reverse("bundle:import_progress", args=[transfer.pk]),
        "has_worker": is_worker_seen(now=timezone.now()),
        "shown": preview_of(request, transfer) if transfer.plan else None,
        "is_current": transfer.state == TransferState.SHOWN,
        "writer": f"import:{run}" if run and request.principal.may(Act.WRITES_READ) else "",
        "is_own": is_own,
        "may_apply": is_own or not transfer.options["approve"],
        "may_approve": is_own and not has_word,
    }
    return render_page(request, "memory_app/bundle/import.html", context)


def preview_of(request: PageRequest, transfer: BundleTransfer) -> Any:
    """Return the part of a preview that the address asks for."""
    start = request.GET.get("from", "")
    place = int(start) if start.isascii() and start.isdigit() and len(start) <= MAX_DIGITS else 0
    return show_preview(
        transfer,
        verdict=request.GET.get("show", ""),
        start=place,
        reader=request.user,
    )


def name_of(transfer: BundleTransfer) -> dict[str, str]:
    """Return the name of an upload for a title."""
    return {"name": transfer.given_name or str(transfer.pk)}
