"""Whose transfers a page is about, and the traces that looking at somebody else's leaves."""

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.bundle.models import BundleTransfer, Direction
from memory_app.bundle.pages import list_transfers, shape, spec_for
from minara_site.access.access_log import log_listed, log_opened
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.errors import NotFound, or_not_found
from minara_site.kernel.ownership import Owner
from minara_site.shell.pages import PageRequest
from minara_site.web.lists import ListPage, load_page
from minara_site.web.responses import render_page, see_other, wants_fragment


def asked_owner(request: PageRequest, act: Act) -> Owner:
    """Return whose transfers the address asks for. Raises NotFound."""
    return request.principal.reads(act, request.GET.get("owner"))


def one_owner(request: PageRequest, act: Act) -> User:
    """Return whose data are taken out or brought in: one person's. Raises NotFound."""
    owner = asked_owner(request, act)
    if not isinstance(owner, User):
        raise NotFound(_("Name one owner."))
    return owner


def load_transfers(
    request: PageRequest,
    act: Act,
    direction: Direction,
) -> tuple[ListPage, Owner]:
    """Return the list of transfers that the address asks for."""
    owner = asked_owner(request, act)
    spec = spec_for(direction, is_shared=not isinstance(owner, User))
    page = load_page(
        spec,
        request,
        list_transfers(owner, direction),
        ignore=("owner",),
    )
    log_listed(request.principal, page.rows, kind="transfers", now=timezone.now())
    return page.with_rows(shape(page.rows)), owner


def load_one(
    request: PageRequest,
    act: Act,
    direction: Direction,
    transfer_id: int,
) -> BundleTransfer:
    """Return one transfer; who opens somebody else's leaves a line. Raises NotFound."""
    transfer = or_not_found(
        list_transfers(request.principal.reaches(act), direction).filter(pk=transfer_id).first(),
        _("There is no such transfer."),
    )
    log_opened(
        request.principal,
        transfer.owner_id,
        kind="transfer",
        object_id=transfer.pk,
        now=timezone.now(),
    )
    return transfer


def answer_progress(
    request: PageRequest,
    transfer: BundleTransfer,
    url_name: str,
) -> HttpResponse:
    """Answer how far a transfer is; once its job is over the browser loads the page anew and asks no more."""
    if not wants_fragment(request):
        return see_other(url_name, transfer.pk)
    [row] = shape([transfer])
    fragment = "memory_app/bundle/_progress.html"
    response = render_page(
        request,
        fragment,
        {"row": row, "progress_url": request.path},
        fragment=fragment,
    )
    if not row.is_under_way:
        response["HX-Refresh"] = "true"
    return response
