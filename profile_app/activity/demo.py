"""The demo's own accounts: 90 days of fills in the exchange's words, stored in the mirror like any; no source is asked.

One opening is missing and one position was liquidated, so that the page has something to say.
"""

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel

from minara_site.access.models import User
from minara_site.kernel.demo import DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows
from profile_app.activity.core.accounts import AccountSource, SyncSource
from profile_app.activity.core.figures import ms_of
from profile_app.activity.core.fills import read_fills
from profile_app.activity.core.spot import read_activities
from profile_app.activity.models import Account, FundingPayment, SpotActivity, SyncState
from profile_app.activity.services.days import refresh_days
from profile_app.activity.services.mirror import bulk_insert_external_spot, bulk_insert_perps_fills

MAX_TRIPS, TAKER_FEE, FUNDING_RATE = 90, Decimal("0.00045"), Decimal("0.0001")
READ_HOURS_AGO = 0.2


class DemoMarket(BaseModel, frozen=True):
    """A market in which a position is opened every so many hours, added to, and closed: after `held_hours`.

    Of the trip `unseen` the first fill is missing, the trip `liquidated` ends so; trips count from the oldest.
    """

    coin: str
    price: float
    digits: int
    size: Decimal
    every_hours: int
    held_hours: int
    unseen: int = -1
    liquidated: int = -1


class DemoAccount(DemoRow):
    """An account that was added `hours_ago`, with what was traded there; `swaps` are days ago, tokens, amount, USD."""

    source: AccountSource
    address: str
    label: str
    markets: tuple[DemoMarket, ...] = ()
    swaps: tuple[tuple[float, str, str, str, str], ...] = ()


class ActivityPart(DemoPart[DemoAccount]):
    """Own accounts with their mirrors."""

    name, rows = "activity_accounts", read_rows(DemoAccount, __package__)

    def store(self, load: DemoLoad, owner: User, row: DemoAccount) -> None:
        about = {"owner": owner, "source": row.source, "wallet": row.address.lower()}
        if Account.objects.filter(**about).exists():
            return
        account = Account.objects.create(
            **about,
            address=row.address,
            label=row.label,
            actor=f"user:{owner.pk}",
            created_at=load.ago(row.hours_ago),
            is_demo=True,
        )
        latest = ms_of(load.now)
        said = sorted(
            (fill for market in row.markets for fill in fills_of(market, load)), key=lambda fill: fill["time"]
        )
        numbered = [fill | {"tid": number} for number, fill in enumerate(said, 1)]
        fills, _unreadable = read_fills(numbered, wallet=account.wallet, latest_ms=latest)
        bulk_insert_perps_fills(account, fills, now=load.now)
        refresh_days(owner.pk, owner.time_zone)
        FundingPayment.objects.bulk_create(
            FundingPayment(
                owner=owner,
                account=account,
                ts_ms=fill.ts_ms // 3_600_000 * 3_600_000 + 3_600_000,
                symbol=fill.symbol,
                amount_usd=-round(fill.size * fill.price * FUNDING_RATE, 6),
            )
            for fill in fills
            if fill.dir.startswith("Open") and fill.start_position == 0
        )
        swaps = [swap_of(number, load, swap) for number, swap in enumerate(row.swaps, 1)]
        activities, _unreadable = read_activities(swaps, latest_ms=latest)
        bulk_insert_external_spot(owner.pk, activities, now=load.now)
        hashes = [activity["tx_hash"] for activity in activities]
        SpotActivity.objects.filter(owner=owner, tx_hash__in=hashes).update(is_demo=True)
        if fills:
            for source in (SyncSource.PERPS_FILLS, SyncSource.PERPS_FUNDING):
                load.mark(
                    SyncState.objects.create(
                        owner=owner,
                        source=source,
                        sub_account_id=account.wallet,
                        last_synced_ts_ms=fills[-1].ts_ms,
                        last_synced_at=load.ago(READ_HOURS_AGO),
                        last_success_at=load.ago(READ_HOURS_AGO),
                    )
                )

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        """Delete the accounts with all that was read for them."""
        accounts, swaps = Account.objects.filter(is_demo=True), SpotActivity.objects.filter(is_demo=True)
        removed = RemovedRows(_("Own accounts"), accounts.count())
        accounts.delete()
        swaps.delete()
        load.marked(SyncState).delete()
        return [removed]


def fills_of(market: DemoMarket, load: DemoLoad) -> Iterator[dict[str, Any]]:
    """Yield the fills of a market in the exchange's words: one that opens, two of every third trip, one that closes."""
    for trip in range(MAX_TRIPS):
        opened = 24 * 90 - market.every_hours * trip - market.held_hours / 3
        side = -1 if trip % 3 == 2 else 1  # noqa: PLR2004 - a third of them are shorts
        word = "Long" if side > 0 else "Short"
        parts = [market.size, market.size / 2] if trip % 3 == 0 else [market.size]
        entered, position = Decimal(0), Decimal(0)
        for number, size in enumerate(parts):
            if opened - number <= 0:
                return
            fill = fill_of(market, load, opened - number, size=side * size, position=position)
            if (trip, number) != (market.unseen, 0):
                yield fill | {"dir": f"Open {word}"}
            entered, position = entered + size * Decimal(fill["px"]), position + side * size
        if opened <= market.held_hours:
            return
        fill = fill_of(market, load, opened - market.held_hours, size=-position, position=position)
        fill["dir"] = f"Close {word}"
        if trip == market.liquidated:
            fill["px"] = str(round(entered / abs(position) * (1 - side * Decimal("0.06")), market.digits))
            fill["dir"] = f"Liquidated Cross {word}"
        pnl = side * (abs(position) * Decimal(fill["px"]) - entered)
        yield fill | {"closedPnl": str(pnl)}


def price_at(market: DemoMarket, hours: float) -> Decimal:
    """Return a price so many hours before the load: two waves around the market's."""
    wave = 1 + 0.05 * math.sin(hours / 97) + 0.02 * math.sin(hours / 11)
    return round(Decimal(market.price * wave), market.digits)


def fill_of(
    market: DemoMarket,
    load: DemoLoad,
    hours: float,
    *,
    size: Decimal,
    position: Decimal,
) -> dict[str, Any]:
    """Return a fill so many hours ago as the exchange writes it; `size` is below 0 for a sale."""
    at, price = ms_of(load.ago(hours)), price_at(market, hours)
    return {
        "coin": market.coin,
        "px": str(price),
        "sz": str(abs(size)),
        "side": "B" if size > 0 else "A",
        "time": at,
        "startPosition": str(position),
        "closedPnl": "0",
        "oid": at // 1000,
        "fee": str(round(price * abs(size) * TAKER_FEE, 6)),
        "feeToken": "USDC",
    }


def swap_of(number: int, load: DemoLoad, swap: tuple[float, str, str, str, str]) -> dict[str, Any]:
    """Return a swap as the gateway writes it."""
    days_ago, sold, bought, amount, value_usd = swap
    return {
        "txHash": f"demo-swap-{number:04d}",
        "tsMs": ms_of(load.ago(days_ago * 24)),
        "type": "swap",
        "fromToken": sold,
        "toToken": bought,
        "amount": amount,
        "valueUsd": value_usd,
        "status": "success",
    }
