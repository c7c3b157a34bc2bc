"""`/ops/prices/` for operators: which prices of the instance are in doubt, and the newest of each symbol."""

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.kernel.market.doubts import confirm_price, find_beside, key_of, load_confirmed, load_doubted
from minara_site.kernel.market.selectors import list_newest
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.responses import render_page, see_other, toast

MAX_DOUBTED, MAX_CONFIRMED = 50, 20


@page(Act.PRICES_REVIEW)
def prices(request: PageRequest) -> HttpResponse:
    """Show the newest prices in doubt, each with the one before, what was confirmed, and each symbol's newest price."""
    count, doubted = load_doubted(MAX_DOUBTED)
    confirmed = load_confirmed(MAX_CONFIRMED)
    before = find_beside([key_of(row) for row in (*doubted, *confirmed)], owner_id=None)
    context = {
        "title": _("Prices"),
        "count": count,
        "doubted": [(row, before.get(key_of(row))) for row in doubted],
        "confirmed": [(row, before.get(key_of(row))) for row in confirmed],
        "newest": list_newest(now=timezone.now()),
    }
    return render_page(request, "console/prices/page.html", context)


@page(Act.PRICES_REVIEW, "POST")
def confirm(
    request: PageRequest,
    seconds: int,
    price_id: int,
    *,
    is_undo: bool = False,
) -> HttpResponse:
    """Confirm a price that an operator looked at, or doubt it again."""
    confirm_price(
        seconds=seconds,
        price_id=price_id,
        is_undo=is_undo,
        **done_by(request),
    )
    if is_undo:
        toast(request, _("The price is in doubt again."))
    else:
        toast(request, _("Confirmed the price."), undo_url=reverse("prices:doubt", args=[seconds, price_id]))
    return see_other("prices:page")
