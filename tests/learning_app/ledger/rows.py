"""Round trips of own accounts, as rows."""

from datetime import timedelta
from decimal import Decimal

from profile_app.activity.models import Account, OwnTrip, SyncState
from tests.kit.clock import NOON

HOUR = timedelta(hours=1)


def make_trip(owner, **fields):
    """Make a round trip of an own account that was read four minutes ago."""
    account, _is_new = Account.objects.get_or_create(
        owner=owner,
        source="perps",
        wallet="0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
        defaults={"actor": "x", "created_at": NOON},
    )
    state = {"last_synced_at": NOON, "last_success_at": NOON - timedelta(minutes=4)}
    SyncState.objects.get_or_create(owner=owner, source="perps_fills", sub_account_id=account.wallet, defaults=state)
    known = {
        "account": account,
        "symbol": "BTC",
        "asset": "BTC",
        "side": "long",
        "status": "closed",
        "entry_tick_at": NOON - 2 * HOUR,
        "exit_tick_at": NOON - HOUR,
        "entry_price": 65_000,
        "exit_price": 66_000,
        "entry_size_usd": 1_237,
        "realized_pnl_usd": Decimal("45.61"),
        "fees_usd": Decimal("2.40"),
        "holding_minutes": 60,
        "first_ms": 1,
        "last_ms": 2,
    }
    return OwnTrip.objects.create(owner=owner, **(known | fields))
