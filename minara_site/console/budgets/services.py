"""Raise a cap for this day or month alone, and take that back. The settings' own caps are nobody's here."""

from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from minara_site.access.principal import Principal
from minara_site.console.budgets.selectors import find_status
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.llm.budget import usd_label
from minara_site.kernel.llm.core.windows import Window
from minara_site.kernel.llm.models import BudgetWindow

MAX_USD = Decimal(999_999)
MAX_REASON = 200


def raise_cap(
    *,
    principal: Principal,
    window: Window,
    cap_usd: Decimal,
    reason: str,
    now: datetime,
) -> None:
    """Let a running window cost up to this amount; another raise may be lower than the one before, never the settings'.

    Raises NotFound for a window that does not run now, Conflict for one without a cap, and Invalid.
    """
    reason = reason.strip()
    if not reason or len(reason) > MAX_REASON:
        raise Invalid(_("Say in at most 200 characters why."))
    with transaction.atomic():
        standing = find_status(window, now=now)
        if standing.cap_in_settings is None:
            raise Conflict(_("There is no cap over all categories to raise. Set MINARA_DAILY_CAP_USD to have one."))
        if not standing.cap_in_settings < cap_usd <= MAX_USD:
            problem = _("Write an amount above %(cap)s USD, which the settings allow already, up to 999,999.")
            raise Invalid(problem % {"cap": usd_label(standing.cap_in_settings)})
        write_cap(window, cap_usd, by=principal.actor, reason=reason)
        before = standing.totals.cap or standing.cap_in_settings
        details = {
            "category": window.category,
            "window": window.name,
            "from": usd_label(before),
        }
        record_audit(
            now=now,
            actor=principal.actor,
            tool_call="budget_cap_raised",
            reasoning=reason,
            details={**details, "to": usd_label(cap_usd)},
        )


def clear_cap(*, principal: Principal, window: Window, now: datetime) -> None:
    """Let the settings' cap count again. Raises NotFound, and Conflict when it was not raised."""
    with transaction.atomic():
        standing = find_status(window, now=now)
        if standing.raised_cap is None:
            raise Conflict(_("This cap is not raised. Load the page again."))
        write_cap(window, None, by="", reason="")
        details = {
            "category": window.category,
            "window": window.name,
            "from": usd_label(standing.raised_cap),
        }
        record_audit(
            now=now,
            actor=principal.actor,
            tool_call="budget_cap_cleared",
            details=details,
        )


def write_cap(
    window: Window,
    cap_usd: Decimal | None,
    *,
    by: str,
    reason: str,
) -> None:
    """Keep the cap of a window in its row, which is made if no call was."""
    BudgetWindow.objects.update_or_create(
        category=window.category,
        window=window.name,
        defaults={"cap_usd": cap_usd, "raised_by": by, "raised_reason": reason},
    )
