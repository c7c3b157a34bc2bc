"""Reads of own accounts, mirrors and figures."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import fields
from datetime import date, datetime, time, timedelta
from math import ceil
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum
from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.kernel.core.symbols import asset_of_market
from minara_site.kernel.errors import NotFound
from minara_site.kernel.jobs.models import OwnerSchedule
from minara_site.kernel.ownership import Owner
from minara_site.web.moments import zone_of
from minara_site.web.values import plain_number
from profile_app.activity.core.accounts import FORCED_EVERY, AccountSource, Reader, SyncSource
from profile_app.activity.core.figures import Figures, figures_by_day, moment_of, ms_of
from profile_app.activity.core.fills import Fill, is_spot
from profile_app.activity.models import Account, AccountQuerySet, FillDay, FundingPayment, PerpsFill, SyncState
from profile_app.portrait.core.wallets import EVM

DISABLED = "disabled"
PROFILE_DAYS = 30


def list_accounts(*, owner: Owner) -> AccountQuerySet:
    """Return the accounts of an owner that were not removed, unordered."""
    return Account.objects.for_owner(owner).live()


def get_account(*, owner: Owner, account_id: int, is_removed: bool = False) -> Account:
    """Return an account, also a removed one where asked for. Raises NotFound."""
    rows = Account.objects.for_owner(owner) if is_removed else list_accounts(owner=owner)
    row: Account | None = rows.filter(pk=account_id).first()
    if row is None:
        raise NotFound(_("There is no such account."))
    return row


def is_gateway_set() -> bool:
    """Say whether address and key of the gateway are set."""
    return bool(settings.MINARA.minara_base_url and settings.MINARA.minara_api_key)


def has_gateway(owner: User) -> bool:
    """Say whether the gateway's trades are this owner's: those of the user `default`."""
    return owner.is_default and is_gateway_set()


def list_owners() -> "QuerySet[User]":
    """Return the owners with something to read: an account, or the gateway."""
    has_account = Q(Exists(Account.objects.live().filter(owner=OuterRef("pk"))))
    return User.objects.filter(has_account | Q(is_default=True) if is_gateway_set() else has_account)


def has_exchange() -> bool:
    """Say whether the exchange is asked for wallets."""
    return bool(settings.MINARA.hyperliquid_info_url != DISABLED)


def reader_of(account: Account, owner: User) -> Reader | None:
    """Return what reads an account, None for nothing: spot without the gateway, another chain, or the demo's."""
    if account.is_demo:
        return None
    if account.is_gateways or account.source == AccountSource.SPOT:
        return Reader.GATEWAY if has_gateway(owner) else None
    return Reader.HYPERLIQUID if has_exchange() and EVM.fullmatch(account.address) else None


def list_read() -> AccountQuerySet:
    """Return the accounts of all owners that something reads, as `reader_of` has it."""
    is_gateways = Q(is_gateways=True) | Q(source=AccountSource.SPOT)
    read = Q(pk__in=[])
    if has_exchange():
        read |= ~is_gateways & Q(address__regex=f"^{EVM.pattern}$")
    if is_gateway_set():
        read |= is_gateways & Q(owner__is_default=True)
    return Account.objects.live().filter(read, is_demo=False)


def account_records(rows: Sequence[Account], owner: User) -> list[dict[str, Any]]:
    """Return accounts of an owner as the API answers them. One query."""
    synced_at = {key: state.last_success_at for key, state in load_states(owner).items()}
    return [
        {
            "id": row.pk,
            "source": row.source,
            "address": row.address or row.wallet,
            "label": row.label or None,
            "reader": reader_of(row, owner),
            "synced_at": synced_at.get(state_key(row)),
        }
        for row in rows
    ]


def state_key(account: Account) -> tuple[SyncSource, str]:
    """Return source and number of the state that says up to where an account was read; the gateway's is one for all."""
    if account.source == AccountSource.SPOT:
        return SyncSource.SPOT_ACTIVITIES, ""
    return SyncSource.PERPS_FILLS, "" if account.is_gateways else account.wallet


def list_fills(*, owner: Owner) -> "QuerySet[PerpsFill]":
    """Return the fills of accounts that were not removed, unordered."""
    return PerpsFill.objects.for_owner(owner).filter(account__removed_at__isnull=True)


def fill_rows(rows: "QuerySet[PerpsFill]") -> list[Any]:
    """Return fills for figures, oldest first."""
    columns = [name for name in Fill._fields if name != "raw_json"]
    return list(rows.order_by("ts_ms", "pk").values_list(*columns, named=True))


def load_states(owner: User) -> dict[tuple[str, str], SyncState]:
    """Return up to where an owner's sources were read, by `state_key`. One query."""
    return {(row.source, row.sub_account_id): row for row in SyncState.objects.filter(owner=owner)}


def wait_seconds(schedule: OwnerSchedule | None, *, now: datetime) -> int:
    """Return in how many seconds a sync may be asked for again, 0 for now."""
    if schedule is None or schedule.ran_at is None:
        return 0
    return max(ceil((schedule.ran_at + FORCED_EVERY - now).total_seconds()), 0)


class TradingProfile(NamedTuple):
    """An owner's own trades since a moment (S3). `by_market` has derivatives, `spot` what the exchange calls spot.

    `days` are the figures of derivatives by day of their zone. Without an account everything is empty, not 0.
    """

    perps: Figures
    spot: Figures
    by_market: dict[str, Figures]
    days: dict[date, Figures]


def load_trading_profile(owner: User, *, now: datetime, days: int = PROFILE_DAYS) -> TradingProfile:
    """Return the figures of the last so many days, to the millisecond. Two queries, however many fills there are.

    Whole days come from their stored figures, the one in which the window begins from its fills.
    """
    since, zone = now - timedelta(days=days), zone_of(owner.time_zone)
    first = since.astimezone(zone).date()
    ends = datetime.combine(first + timedelta(days=1), time.min, zone)
    edge = PerpsFill.objects.filter(  # by account alone: with the owner, SQLite reads all that they ever traded
        account__in=list_accounts(owner=owner), ts_ms__gte=ms_of(since), ts_ms__lt=ms_of(ends)
    )
    found = list(figures_by_day(fill_rows(edge), zone=zone).items())
    for _key, figures in found:
        figures.gaps = 0  # what was before the window is not known here
    whole = FillDay.objects.for_owner(owner).filter(account__removed_at__isnull=True, day__gt=first)
    columns = [each.name for each in fields(Figures)]
    for day, symbol, *numbers in whole.values_list("day", "symbol", *columns):
        found.append(((day, symbol), Figures(*numbers)))
    profile = TradingProfile(Figures(), Figures(), defaultdict(Figures), defaultdict(Figures))
    for (day, symbol), figures in found:
        if is_spot(symbol):
            profile.spot.add(figures)
        else:
            for each in (profile.perps, profile.by_market[symbol], profile.days[day]):
                each.add(figures)
    return profile


def load_funding(owner: User, *, since: datetime) -> Any:
    """Return the funding paid (-) and received (+) since then in USD, None where it was never read."""
    rows = FundingPayment.objects.for_owner(owner).filter(account__in=list_accounts(owner=owner))
    if not rows.exists():
        return None
    return rows.filter(ts_ms__gte=ms_of(since)).aggregate(sum=Sum("amount_usd"))["sum"] or 0


def search_fills(*, owner: Owner, asset: str, limit: int) -> list[dict[str, Any]]:
    """Return the newest fills of an asset, whatever their age, as tools answer them. One query."""
    rows = list_fills(owner=owner).filter(asset=asset_of_market(asset) or asset).order_by("-ts_ms", "-pk")[:limit]
    return [
        {
            "at": moment_of(fill.ts_ms),
            "symbol": fill.symbol,
            "side": {"A": "sell", "B": "buy"}.get(fill.side, fill.side),
            "dir": fill.dir,
            "size": plain_number(fill.size),
            "size_usd": plain_number(fill.size * fill.price),
            "price": plain_number(fill.price),
            "realized_pnl_usd": plain_number(fill.closed_pnl),
            "fee": plain_number(fill.fee) if fill.fee_token else None,
            "fee_token": fill.fee_token or None,
            "liquidation": fill.is_liquidation,
        }
        for fill in rows
    ]
