"""The demo's own accounts: 90 days of fills in the exchange's words, stored in the mirror like any; no source is asked.

One opening is missing and one position was liquidated, so that the page has something to say.
"""

from csv import DictReader
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy as _

from minara_site.access.models import User
from minara_site.kernel.core.data_files import load_text
from minara_site.kernel.demo import DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows
from profile_app.activity.core.accounts import AccountSource, SyncSource
from profile_app.activity.core.figures import ms_of
from profile_app.activity.core.fills import read_activities, read_fills
from profile_app.activity.models import Account, FundingPayment, SpotActivity, SyncState
from profile_app.activity.services.days import refresh_days
from profile_app.activity.services.mirror import bulk_insert_external_spot, bulk_insert_perps_fills

FUNDING_RATE = Decimal("0.0001")
READ_HOURS_AGO = 0.2


class DemoAccount(DemoRow):
    """An account that was added `hours_ago`, with the file of its fills and what the gateway says of its swaps."""

    source: AccountSource
    address: str
    label: str
    fills: str = ""
    swaps: tuple[dict[str, Any], ...] = ()


class ActivityPart(DemoPart[DemoAccount]):
    """Own accounts with their mirrors."""

    name, rows = "activity_accounts", read_rows(DemoAccount, __package__)

    def store(self, load: DemoLoad, owner: User, row: DemoAccount) -> None:
        account, is_new = Account.objects.get_or_create(
            owner=owner,
            source=row.source,
            wallet=row.address.lower(),
            defaults={
                "address": row.address,
                "label": row.label,
                "actor": f"user:{owner.pk}",
                "created_at": load.ago(row.hours_ago),
                "is_demo": True,
            },
        )
        if not is_new:
            return
        latest = ms_of(load.now)
        lines = load_text(__package__, row.fills).splitlines() if row.fills else []
        said = [
            line | {"time": ms_of(load.ago(float(line["hours_ago"]))), "oid": number, "tid": number}
            for number, line in enumerate(DictReader(lines), 1)
        ]
        fills, _unreadable = read_fills(said, wallet=account.wallet, latest_ms=latest)
        bulk_insert_perps_fills(account, fills, now=load.now)
        refresh_days(owner.pk, owner.time_zone)
        FundingPayment.objects.bulk_create(
            FundingPayment(
                owner=owner,
                account=account,
                ts_ms=fill.ts_ms,
                symbol=fill.symbol,
                amount_usd=-round(fill.size * fill.price * FUNDING_RATE, 6),
            )
            for fill in fills
            if fill.start_position == 0
        )
        swaps = [
            swap | {"txHash": f"demo-swap-{number}", "tsMs": ms_of(load.ago(swap["days_ago"] * 24))}
            for number, swap in enumerate(row.swaps)
        ]
        activities, _unreadable = read_activities(swaps, latest_ms=latest)
        bulk_insert_external_spot(owner.pk, [each | {"is_demo": True} for each in activities], now=load.now)
        if fills:
            state = SyncState(owner=owner, source=SyncSource.PERPS_FILLS, sub_account_id=account.wallet)
            state.last_synced_ts_ms = fills[-1].ts_ms
            state.last_synced_at = state.last_success_at = load.ago(READ_HOURS_AGO)
            state.save()
            load.mark(state)

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        """Delete the accounts with all that was read for them."""
        accounts = Account.objects.filter(is_demo=True)
        removed = RemovedRows(_("Own accounts"), accounts.count())
        for rows in (accounts, SpotActivity.objects.filter(is_demo=True), load.marked(SyncState)):
            rows.delete()
        return [removed]
