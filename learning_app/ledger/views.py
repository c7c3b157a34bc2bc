"""`/ledger/`: round trips of agents and of own accounts; it changes nothing, whoever reads it."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.ledger.models import Trade
from learning_app.ledger.pages.labels import TripRow
from learning_app.ledger.pages.ledger import head_context, page_context
from learning_app.ledger.pages.lists import TRIPS, list_context
from learning_app.ledger.pages.trade import OWN_TRIPS, TripKind, id_of, note_key, stop_check, trade_context
from learning_app.ledger.trips import get_ledger, list_trips
from learning_app.notes.forms import NoteForm
from learning_app.notes.views import save_note
from minara_site.access.access_log import log_access, log_opened
from minara_site.access.policy import Act
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.ownership import ALL_OWNERS
from minara_site.kernel.trade_sources import load_sources
from minara_site.shell.owners import owner_filter
from minara_site.shell.pages import PageRequest, page
from minara_site.shell.reveals import RevealForm, mask_amounts_again, reveal_amounts
from minara_site.web.lists import load_page, render_list
from minara_site.web.responses import render_form, render_page, see_other


@page(Act.LEDGER_READ)
def ledger_list(request: PageRequest) -> HttpResponse:
    """Show the ledgers of an owner; support begins with those of everybody."""
    principal = request.principal
    asked = request.GET.get("owner", "") or (ALL_OWNERS if principal.is_support else "")
    owner = principal.reads(Act.LEDGER_READ, asked)
    context = list_context(owner, principal)
    owner_ids = [row.ledger.owner_id for row in context["rows"]]
    log_access(principal=principal, owner_ids=owner_ids, kind="ledger", now=timezone.now())
    context["title"], context["asked"] = _("Ledger"), asked or principal.owner.username
    if principal.reads_others(Act.LEDGER_READ):
        context["owners"] = owner_filter(principal.owner, owner, asked).load_choices()
    return render_page(request, "learning_app/ledger/list.html", context)


@page(Act.LEDGER_READ)
def ledger_page(request: PageRequest, trade_source: str, ledger_key: str) -> HttpResponse:
    """Show one ledger by day."""
    principal, now = request.principal, timezone.now()
    ledger = get_ledger(owner=principal.reaches(Act.LEDGER_READ), source=trade_source, key=ledger_key)
    log_opened(principal, ledger.owner_id, kind="ledger", object_id="", now=now)
    context = page_context(ledger, principal, month=request.GET.get("month", ""), now=now)
    return render_page(request, "learning_app/ledger/one.html", context)


@page(Act.LEDGER_READ)
def trip_list(request: PageRequest, trade_source: str, ledger_key: str) -> HttpResponse:
    """Show one ledger trade by trade."""
    principal = request.principal
    owner = principal.reaches(Act.LEDGER_READ)
    ledger = get_ledger(owner=owner, source=trade_source, key=ledger_key)
    log_opened(principal, ledger.owner_id, kind="trades", object_id="", now=timezone.now())
    found = load_page(TRIPS, request, list_trips(ledger, owner=owner))
    rows = [TripRow(trip, load_sources()[trade_source].page) for trip in found.rows]
    context = head_context(ledger, principal)
    return render_list(request, "learning_app/ledger/trips.html", found.with_rows(rows), context)


@page(Act.LEDGER_READ)
def trip_page(request: PageRequest, trip_id: int) -> HttpResponse:
    """Show one round trip of an own account."""
    return show_trip(request, get_trip(request, trip_id), OWN_TRIPS, RevealForm())


@page(Act.TRADE_REVEAL, "POST")
def reveal_trip(request: PageRequest, trip_id: int) -> HttpResponse:
    """Show support the amounts of a trip of an own account for 15 minutes, with a reason that its owner reads."""
    trip = get_trip(request, trip_id)
    refused = reveal_amounts(request, OWN_TRIPS.reveals, owner_id=trip.owner_id, object_id=trip.pk)
    return show_trip(request, trip, OWN_TRIPS, refused) if refused else see_other(OWN_TRIPS.page, trip_id)


@page(Act.TRADE_REVEAL, "POST")
def reveal_trip_end(request: PageRequest, trip_id: int) -> HttpResponse:
    """Mask the amounts again before the 15 minutes are over."""
    trip = get_trip(request, trip_id)
    mask_amounts_again(request, OWN_TRIPS.reveals, owner_id=trip.owner_id, object_id=trip.pk)
    return see_other(OWN_TRIPS.page, trip_id)


@page(Act.NOTE_WRITE, "POST")
def note_trip(request: PageRequest, trip_id: int) -> HttpResponse:
    """Keep what an owner wrote beside a trip of an own account."""
    trip = get_trip(request, trip_id, Act.NOTE_WRITE)
    refused = save_note(request, OWN_TRIPS.beside, note_key(trip), is_loss=stop_check(trip))
    return show_trip(request, trip, OWN_TRIPS, refused) if refused else see_other(OWN_TRIPS.page, trip_id)


def get_trade(request: PageRequest, uid: str, act: Act = Act.LEDGER_READ) -> Trade:
    """Return a trade that the caller may open for an act. Raises NotFound."""
    rows = Trade.objects.for_owner(request.principal.reaches(act))
    found: Trade | None = rows.filter(uid=uid).select_related("owner", "deployment").first()
    return or_not_found(found, _("There is no such trade."))


def get_trip(request: PageRequest, trip_id: int, act: Act = Act.LEDGER_READ) -> Any:
    """Return a round trip of an own account that the caller may open for an act. Raises NotFound."""
    owner = request.principal.reaches(act)
    for source in load_sources().values():
        if source.page == OWN_TRIPS.page:
            found = source.list_trips(owner).filter(pk=trip_id).select_related("owner").first()
            return or_not_found(found, _("There is no such trade."))
    raise AssertionError(OWN_TRIPS.page)


def show_trip(
    request: PageRequest,
    trip: Any,
    kind: TripKind,
    form: RevealForm | NoteForm,
    *,
    template: str = "learning_app/ledger/trade.html",
    **more: Any,
) -> HttpResponse:
    """Answer the page of a round trip, with `more` for its template; errors in the form make it 422."""
    if isinstance(form, NoteForm):
        more["note_form"] = form
    principal, now = request.principal, timezone.now()
    log_opened(principal, trip.owner_id, kind=kind.kind, object_id=id_of(trip), now=now)
    context = trade_context(trip, principal, now=now, kind=kind)
    return render_form(request, template, form, {**context, **more})
