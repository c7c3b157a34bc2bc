"""`/profile/activity/`: own accounts, figures of their trades, days, and how reading them goes."""

from http import HTTPStatus

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.access_log import log_access
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.errors import Invalid, NotFound, Throttled
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.responses import render_page, see_other, toast
from profile_app.activity.core.accounts import AccountSource
from profile_app.activity.forms import AccountForm
from profile_app.activity.pages import READER_NAMES, page_context
from profile_app.activity.selectors import reader_of
from profile_app.activity.services.accounts import add_account, remove_account, restore_account
from profile_app.activity.services.sync import request_sync, rests_until

PAGE = "activity:page"


@page(Act.PROFILE_READ)
def activity_page(request: PageRequest) -> HttpResponse:
    """Show own trades; an operator reads those of another owner."""
    owner = request.principal.reads(Act.PROFILE_READ, request.GET.get("owner"))
    if not isinstance(owner, User):
        raise NotFound(_("Name one owner: a profile belongs to one person."))
    log_access(principal=request.principal, owner_ids=[owner.pk], kind="activity", now=timezone.now())
    return show(request, owner)


@page(Act.PROFILE_WRITE, "POST")
def add(request: PageRequest) -> HttpResponse:
    """Add an own account."""
    owner, form = request.principal.owner, AccountForm(request.POST)
    if not form.is_valid():
        return show(request, owner, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    sent = form.cleaned_data
    source = AccountSource(sent["source"])
    try:
        row, is_new = add_account(
            owner=owner, source=source, address=sent["address"], label=sent["label"], **done_by(request)
        )
    except Invalid as refusal:
        for error in refusal.errors:
            form.add_error(error.field, error.message)
        return show(request, owner, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    if is_new:
        toast(request, _("Added. Its trades are read within a minute."), reverse("activity:remove", args=[row.pk]))
    else:
        toast(request, _("This account is in the list already."))
    return see_other(PAGE)


@page(Act.PROFILE_WRITE, "POST")
def remove(request: PageRequest, account_id: int) -> HttpResponse:
    """Take an account out of every figure."""
    row = remove_account(owner=request.principal.owner, account_id=account_id, **done_by(request))
    toast(request, _("Removed, with its trades."), reverse("activity:restore", args=[row.pk]))
    return see_other(PAGE)


@page(Act.PROFILE_WRITE, "POST")
def restore(request: PageRequest, account_id: int) -> HttpResponse:
    """Bring a removed account back."""
    try:
        row = restore_account(owner=request.principal.owner, account_id=account_id, **done_by(request))
    except Invalid as too_many:
        toast(request, too_many.detail)
    else:
        toast(request, _("Restored, with its trades."), reverse("activity:remove", args=[row.pk]))
    return see_other(PAGE)


@page(Act.PROFILE_WRITE, "POST")
def sync(request: PageRequest) -> HttpResponse:
    """Read the sources now."""
    try:
        request_sync(owner=request.principal.owner, **done_by(request))
    except Throttled as throttled:
        toast(request, throttled.detail)
    else:
        toast(request, _("A sync is requested. Load this page again in a moment."))
    return see_other(PAGE)


def show(
    request: PageRequest,
    owner: User,
    form: AccountForm | None = None,
    *,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Answer the page, with the form as it was sent."""
    now = timezone.now()
    context = page_context(owner, request.principal.owner, now=now)
    readers = {reader_of(row.account, owner) for row in context["accounts"]}
    rests = [(name, rests_until(reader, now=now)) for reader, name in READER_NAMES.items() if reader in readers]
    title = _("Activity") if context["is_own"] else _("Activity of %(owner)s") % {"owner": owner.get_short_name()}
    context |= {"title": title, "form": form or AccountForm(), "rests": [rest for rest in rests if rest[1]]}
    return render_page(request, "profile_app/activity/page.html", context, status=status)
