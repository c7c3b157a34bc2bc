"""The price around one decision of a role as a chart."""

from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from memory_app.roles.core.declarations import MemoryRole, PriceDelta
from memory_app.roles.models import RoleMemory
from minara_site.web.decision_chart import JudgedDecision, load_decision_chart
from minara_site.web.price_chart import PriceChart

MIN_WINDOW = timedelta(hours=1)
ONE_MINUTE = timedelta(minutes=1)


def window_of(entry: RoleMemory, role: MemoryRole | None) -> tuple[datetime, datetime]:
    """Return from when to when a decision is judged: the role's window, else until its outcome or the least age."""
    probe = role.reflection_policy.outcome_probe if role else None
    if isinstance(probe, PriceDelta):
        return entry.window_starts_at, entry.window_starts_at + timedelta(hours=probe.window_hours)
    least = timedelta(hours=role.reflection_policy.min_age_hours) if role else MIN_WINDOW
    return entry.decided_at, max(entry.outcome_at or entry.decided_at + least, entry.decided_at + MIN_WINDOW)


def is_late(entry: RoleMemory, begins_at: datetime) -> bool:
    """Say whether its window began when it arrived, later than it was decided."""
    return begins_at - entry.decided_at >= ONE_MINUTE


def load_picture(
    entry: RoleMemory,
    role: MemoryRole | None,
    now: datetime,
) -> PriceChart | None:
    """Return the chart of a decision about an asset; None without prices. One query or none."""
    if not entry.asset:
        return None
    begin, end = window_of(entry, role)
    entry_price, exit_price = (entry.entry_price, entry.entry_price_at), (entry.exit_price, entry.exit_price_at)
    decision = JudgedDecision(
        entry.asset,
        begin,
        end,
        entry_price,
        exit_price,
        owner_id=entry.owner_id,
        began=_("Arrived") if is_late(entry, begin) else "",
    )
    return load_decision_chart(decision, now=now)
