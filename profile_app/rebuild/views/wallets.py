"""Reference wallets on `/profile/`: added, labelled, removed, and every change undone."""

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.kernel.errors import Invalid, NotFound
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.responses import see_other, toast
from profile_app.portrait.core.wallets import Wallet, dump_wallets, parse_wallets
from profile_app.portrait.forms import WalletForm
from profile_app.portrait.selectors.profile import load_wallets
from profile_app.portrait.services.profile import set_reference_wallets
from profile_app.rebuild.views.profile import show_profile

FORMER_WALLETS = "former_reference_wallets"  # in the browser session, for an undo: the lists before and after


@page(Act.PROFILE_WRITE, "POST")
def add_wallet(request: PageRequest) -> HttpResponse:
    """Follow one more wallet."""
    owner, form = request.principal.owner, WalletForm(request.POST)
    if form.is_valid():
        wallets = load_wallets(owner, reader=owner)
        try:
            return put_wallets(request, wallets, (*wallets, Wallet(**form.cleaned_data)), _("Added."))
        except Invalid as refusal:
            for error in refusal.errors:
                name = error.field.rpartition(".")[2]
                form.add_error(name if name in form.fields else None, error.message)
    return show_profile(request, owner, wallet_form=form)


@page(Act.PROFILE_WRITE, "POST")
def label_wallet(request: PageRequest, address: str) -> HttpResponse:
    """Call a wallet otherwise."""
    wallet = Wallet(address, request.POST.get("label", ""))
    return replace_wallet(request, address, (wallet,), _("Label saved."))


@page(Act.PROFILE_WRITE, "POST")
def remove_wallet(request: PageRequest, address: str) -> HttpResponse:
    """Follow a wallet no more."""
    return replace_wallet(request, address, (), _("Removed."))


@page(Act.PROFILE_WRITE, "POST")
def undo_wallets(request: PageRequest) -> HttpResponse:
    """Undo the last change of the list, also an undo. Raises NotFound, and Conflict when it was changed since."""
    former = request.session.get(FORMER_WALLETS)
    if former is None:
        raise NotFound(_("There is nothing left to undo."))
    return put_wallets(request, parse_wallets(former["after"]), parse_wallets(former["before"]), _("Undone."))


def replace_wallet(request: PageRequest, address: str, by: tuple[Wallet, ...], said: str) -> HttpResponse:
    """Put another or none in the place of a wallet. Raises NotFound when it is not in the list."""
    before = load_wallets(request.principal.owner, reader=request.principal.owner)
    after = [new for each in before for new in (by if each.address == address else (each,))]
    if address not in {each.address for each in before}:
        raise NotFound(_("There is no such wallet in the list."))
    return put_wallets(request, before, tuple(after), said)


def put_wallets(request: PageRequest, before: tuple[Wallet, ...], after: tuple[Wallet, ...], said: str) -> HttpResponse:
    """Replace the list and keep the one before for an undo. Raises Invalid, and Conflict when it changed meanwhile."""
    stored = set_reference_wallets(owner=request.principal.owner, wallets=after, expected=before, **done_by(request))
    request.session[FORMER_WALLETS] = {"before": dump_wallets(before), "after": dump_wallets(stored)}
    toast(request, said, reverse("profile:undo_wallets"))
    return see_other("profile:page")
