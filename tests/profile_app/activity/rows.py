"""Fills as rows, for pages and lists, which read them however they came about."""

from typing import Any

from django.utils import timezone

from profile_app.activity.core.figures import ms_of
from profile_app.activity.models import Account, PerpsFill


def make_fill(account: Account, *, number: int, **fields: Any) -> PerpsFill:
    """Make a fill of an account, so many minutes ago."""
    now = timezone.now()
    defaults = {
        "sub_account_id": account.wallet,
        "oid": str(number),
        "ts_ms": ms_of(now) - 60_000 * number,
        "symbol": "BTC",
        "asset": "BTC",
        "side": "B",
        "dir": "Open Long",
        "size": 1,
        "price": 65_000,
        "fee_token": "USDC",
        "fill_uid": str(number + 1),
        "digest": str(number),
        "created_at": now,
    }
    row: PerpsFill = PerpsFill.objects.create(owner_id=account.owner_id, account=account, **(defaults | fields))
    return row
