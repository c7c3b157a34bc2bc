"""`/profile/activity/`: own accounts, figures of their trades, days, and how reading them goes."""

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.errors import Invalid, Throttled
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.forms import show_refusal
from minara_site.web.responses import render_form, see_other, toast
from profile_app.activity.core.accounts import Reader
from profile_app.activity.forms import AccountForm
from profile_app.activity.pages import page_context
from profile_app.activity.services.accounts import add_account, remove_account, restore_account
from profile_app.activity.services.sync import request_sync, rests_until
from profile_app.portrait.views.owner import open_owner

PAGE = "activity:page"
READER_NAMES = {Reader.HYPERLIQUID: "Hyperliquid", Reader.GATEWAY: gettext_lazy("The Minara gateway")}


@page(Act.PROFILE_READ)
def activity_page(request: PageRequest) -> HttpResponse:
    """Show own trades; an operator reads those of another owner."""
    return show(request, open_owner(request, kind="activity"))


@page(Act.PROFILE_WRITE, "POST")
def add(request: PageRequest) -> HttpResponse:
    """Add an own account."""
    owner, form = request.principal.owner, AccountForm(request.POST)
    if form.is_valid():
        try:
            row, is_new = add_account(owner=owner, **form.cleaned_data, **done_by(request))
        except Invalid as refusal:
            show_refusal(form, refusal)
        else:
            if is_new:
                undo_url = reverse("activity:remove", args=[row.pk])
                toast(request, _("Added. Its trades are read within a minute."), undo_url)
            else:
                toast(request, _("This account is in the list already."))
            return see_other(PAGE)
    return show(request, owner, form)


@page(Act.PROFILE_WRITE, "POST")
def remove(request: PageRequest, account_id: int) -> HttpResponse:
    """Take an account out of every figure."""
    remove_account(owner=request.principal.owner, account_id=account_id, **done_by(request))
    toast(request, _("Removed, with its trades."), reverse("activity:restore", args=[account_id]))
    return see_other(PAGE)


@page(Act.PROFILE_WRITE, "POST")
def restore(request: PageRequest, account_id: int) -> HttpResponse:
    """Bring a removed account back."""
    try:
        restore_account(owner=request.principal.owner, account_id=account_id, **done_by(request))
    except Invalid as too_many:
        toast(request, too_many.detail)
    else:
        toast(request, _("Restored, with its trades."), reverse("activity:remove", args=[account_id]))
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


def show(request: PageRequest, owner: User, form: AccountForm | None = None) -> HttpResponse:
    """Answer the page, with the form as it was sent."""
    now = timezone.now()
    context = page_context(owner, request.principal.owner, now=now)
    readers = {row["reader"] for row in context["accounts"]}
    asked = [(name, rests_until(reader, now=now)) for reader, name in READER_NAMES.items() if reader in readers]
    context["rests"] = [each for each in asked if each[1]]
    title = _("Activity") if context["is_own"] else _("Activity of %(owner)s") % {"owner": owner.get_short_name()}
    return render_form(request, "profile_app/activity/page.html", form or AccountForm(), context | {"title": title})
