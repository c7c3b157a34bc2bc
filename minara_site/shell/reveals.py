"""What a page with masked amounts needs: the form of a reveal, its answer, and what the page shows of reveals."""

import math
from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.principal import Principal
from minara_site.access.reveals import MAX_REASON_CHARS, Reveals
from minara_site.kernel.errors import Invalid
from minara_site.shell.pages import PageRequest
from minara_site.web.forms import show_refusal
from minara_site.web.responses import toast


class RevealForm(forms.Form):
    """Why support staff need to see amounts."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=MAX_REASON_CHARS,
        help_text=gettext_lazy("The owner reads it. For example: ticket 8841, disputes the entry price."),
    )


def reveal_amounts(request: PageRequest, reveals: Reveals, *, owner_id: int, object_id: int | str) -> RevealForm | None:
    """Show support the amounts with the reason that was sent; return the form where it cannot be used."""
    form = RevealForm(request.POST)
    if not form.is_valid():
        return form
    reason = form.cleaned_data["reason"]
    try:
        reveals.begin(
            principal=request.principal, owner_id=owner_id, object_id=object_id, reason=reason, now=timezone.now()
        )
    except Invalid as refusal:
        show_refusal(form, refusal)
        return form
    toast(request, _("Amounts are shown for 15 minutes."))
    return None


def mask_amounts_again(request: PageRequest, reveals: Reveals, *, owner_id: int, object_id: int | str) -> None:
    """Mask the amounts before the 15 minutes are over."""
    reveals.end(principal=request.principal, owner_id=owner_id, object_id=object_id, now=timezone.now())
    toast(request, _("Amounts are masked again."))


def reveal_context(principal: Principal, reveals: Reveals, object_id: int | str, *, now: datetime) -> dict[str, Any]:
    """Return whether this reader gets masked amounts, their reveal that runs, and the reveals they may read of."""
    is_support, reader = principal.is_support, principal.owner
    running = reveals.list_running(reader, object_id, now=now).order_by("ends_at").last() if is_support else None
    ends_at = running.ends_at if running else None
    return {
        "is_masked": is_support and running is None,
        "reveal": running,
        "reveal_seconds": math.ceil((ends_at - now).total_seconds()) if ends_at else 0,
        "reveals": reveals.list_newest(object_id, viewer=reader if is_support else None),
    }
