"""What happens elsewhere and makes a sync worthwhile. A hint that is lost is made good by `run_if_stale`."""

from typing import Any

from django.utils import timezone

from minara_site.access.models import User
from profile_app.activity.selectors import has_gateway, list_accounts
from profile_app.activity.services.sync import nudge_sync


def on_trade_recorded(sender: object, *, owner_id: int, **facts: Any) -> None:
    """Nudge the sync of an owner who has something to read: they are likely active elsewhere too (S3)."""
    owner = User.objects.filter(pk=owner_id).first()
    if owner and (has_gateway(owner) or list_accounts(owner=owner).exists()):
        nudge_sync(owner_id, now=timezone.now())
