"""A decision on one held text."""

from datetime import datetime

from minara_site.access.principal import Principal
from minara_site.console.quarantine.services import discard_holds, release_holds
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.ownership import Owner


def release_hold(*, principal: Principal, hold_id: int, now: datetime, note: str = "") -> Hold:
    """Let agents read one text. Raises what `release_holds` raises."""
    return release_holds(principal=principal, hold_ids=[hold_id], now=now, note=note)[0]


def discard_hold(*, principal: Principal, owner: Owner, hold_id: int, now: datetime, note: str = "") -> Hold:
    """Refuse one text. Raises what `discard_holds` raises."""
    return discard_holds(principal=principal, owner=owner, hold_ids=[hold_id], now=now, note=note)[0]
