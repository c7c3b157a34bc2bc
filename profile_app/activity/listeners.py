"""What happens elsewhere and makes a sync worthwhile. A hint that is lost is made good by `run_if_stale`."""

from typing import Any

from django.utils import timezone

from minara_site.access.models import User
from minara_site.kernel.events import trade_recorded
from profile_app.activity.selectors import has_gateway, list_accounts
from profile_app.activity.services.sync import nudge_sync


def listen() -> None:
    """Nudge the sync of an owner whose agent recorded a trade: they are likely active elsewhere too (S3)."""
    trade_recorded.connect(on_trade_recorded, dispatch_uid="activity.sync")


def on_trade_recorded(sender: object, *, owner_id: int, **facts: Any) -> None:
    """Nudge the sync of an owner who has something to read."""
    owner = User.objects.filter(pk=owner_id).first()
    if owner and (has_gateway(owner) or list_accounts(owner=owner).exists()):
        nudge_sync(owner_id, now=timezone.now())
