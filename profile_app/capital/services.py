"""Measuring what an owner has at the exchange; what cannot be read keeps its last value, never 0. Source: S3."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from minara_site.access.models import User
from minara_site.kernel.jobs.owner_schedule import nudge, nudge_all, one_run
from minara_site.kernel.market.core.values import UnusableError, read_amount
from minara_site.kernel.ownership import lock_owner
from profile_app.activity.adapters import SourceFailed, SourceRests, hyperliquid
from profile_app.activity.core.accounts import Reader
from profile_app.activity.models import Account, FillDay
from profile_app.activity.selectors import list_accounts, reader_of
from profile_app.capital.core import CAPITAL_COOLDOWN, CAPITAL_EVERY, CAPITAL_JOB, spot_value, tier_of, token_prices
from profile_app.capital.models import CapitalMetrics, CapitalReading

PARTS = {"spot": ("spot_holdings_usd", "spot_read_at"), "perp": ("perp_value_usd", "perp_read_at")}
UNREAD = (SourceFailed, SourceRests, UnusableError, KeyError, TypeError, ArithmeticError)


def measure(*, owner_id: int, now: datetime) -> dict[str, Any] | None:
    """Measure the capital of an owner with own accounts at the exchange; nothing where there is none."""
    owner = User.objects.filter(pk=owner_id).first()
    if owner is None:
        return None
    with one_run(CAPITAL_JOB, owner_id, now=now) as run:
        if run is None:
            return None
        rows = [row for row in list_accounts(owner=owner) if reader_of(row, owner) is Reader.HYPERLIQUID]
        if not rows:
            return {"accounts": 0}
        values = {"perp": read_perps(rows), "spot": read_spot(rows)}
        unread = list_accounts(owner=owner).exclude(pk__in=[row.pk for row in rows]).exists()
        store(owner, values, now=now, has_unread=unread)
        run.next_at = now + CAPITAL_EVERY
    return {"accounts": len(rows), "missing": sum(value is None for value in values.values())}


def read_perps(rows: list[Account]) -> Decimal | None:
    """Return the value of derivative accounts, on the main venue and on each other one with fills; None if unread."""
    total = Decimal(0)
    try:
        for row in rows:
            symbols = FillDay.objects.filter(account=row, symbol__contains=":").values_list("symbol", flat=True)
            for dex in ["", *sorted({symbol.partition(":")[0] for symbol in symbols})]:
                state = hyperliquid.fetch_state("clearinghouseState", row.wallet, dex=dex)
                total += read_amount(state["marginSummary"]["accountValue"], "accountValue")
    except UNREAD:
        return None
    return total


def read_spot(rows: list[Account]) -> Decimal | None:
    """Return what spot balances are worth at the exchange's mids; None if one is unread or has no price."""
    balances = dict[str, Decimal]()
    try:
        prices = token_prices(hyperliquid.fetch_mids(), hyperliquid.fetch_spot_names())
        for row in rows:
            for each in hyperliquid.fetch_state("spotClearinghouseState", row.wallet)["balances"]:
                token = str(each["coin"])
                balances[token] = balances.get(token, Decimal(0)) + read_amount(each["total"], "total")
    except UNREAD:
        return None
    return spot_value(balances, prices)


def store(owner: User, values: dict[str, Decimal | None], *, now: datetime, has_unread: bool) -> None:
    """Store a measurement: parts that were read, the last value of the others, and the total once both are known."""
    with transaction.atomic():
        lock_owner(owner.pk)
        row = CapitalMetrics.objects.filter(pk=owner.pk).first() or CapitalMetrics(owner=owner)
        for part, value in values.items():
            column, read_at = PARTS[part]
            if value is not None:
                setattr(row, column, value)
                setattr(row, read_at, now)
        row.missing = [part for part, value in values.items() if value is None] + ["other_accounts"] * has_unread
        spot, perp = row.spot_holdings_usd, row.perp_value_usd
        row.capital_total_usd = None if spot is None or perp is None else spot + perp
        row.tier = "" if row.capital_total_usd is None else tier_of(row.capital_total_usd)
        row.updated_at = now
        row.save()
        copied = ("spot_holdings_usd", "perp_value_usd", "capital_total_usd", "tier", "missing")
        CapitalReading.objects.create(owner=owner, at=now, **{name: getattr(row, name) for name in copied})


def measure_all(*, now: datetime) -> dict[str, int]:
    """Ask for a measurement of each owner with own accounts."""
    owners = list(Account.objects.live().values_list("owner", flat=True).distinct())
    nudge_all(CAPITAL_JOB, owners, now=now)
    return {"owners": len(owners)}


def nudge_capital(sender: object, *, owner_id: int, **facts: Any) -> None:
    """Let the capital of an owner be measured who traded; an hour later at the earliest."""
    nudge(CAPITAL_JOB, owner_id, now=timezone.now(), interval=CAPITAL_COOLDOWN)
