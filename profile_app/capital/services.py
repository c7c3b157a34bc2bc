"""Measuring what an owner has at the exchange; what cannot be read keeps its last value, never 0. Source: S3."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from minara_site.access.models import User
from minara_site.kernel.jobs.owner_schedule import nudge_all, one_run
from minara_site.kernel.market.core.values import UnusableError, read_amount
from minara_site.kernel.ownership import owner_locked
from profile_app.activity.adapters import SourceFailed, SourceRests, hyperliquid
from profile_app.activity.core.accounts import Reader
from profile_app.activity.models import Account, FillDay
from profile_app.activity.selectors import list_accounts, reader_of
from profile_app.capital.core import CAPITAL_EVERY, CAPITAL_JOB, spot_value, tier_of, token_prices
from profile_app.capital.models import CapitalMetrics, CapitalReading

UNREAD = (SourceFailed, SourceRests, UnusableError, KeyError, TypeError, ArithmeticError)


def measure(*, owner_id: int, now: datetime) -> dict[str, Any] | None:
    """Measure the capital of an owner with own accounts at the exchange; nothing where there is none."""
    with one_run(CAPITAL_JOB, owner_id, now=now) as run:
        if run is None:
            return None
        owner = run.owner
        accounts = list(list_accounts(owner=owner))
        rows = [row for row in accounts if reader_of(row, owner) is Reader.HYPERLIQUID]
        if not rows:
            return {"accounts": 0}
        values = dict[str, Decimal | None]()
        for part, read in (("perp", read_perps), ("spot", read_spot)):
            try:
                values[part] = read(rows)
            except UNREAD:
                values[part] = None
        store(owner, values, now=now, has_unread=len(rows) < len(accounts))
        run.next_at = now + CAPITAL_EVERY
    return {"accounts": len(rows), "missing": sum(value is None for value in values.values())}


def read_perps(rows: list[Account]) -> Decimal:
    """Return the value of derivative accounts, on the main venue and on each other one with fills. Raises UNREAD."""
    total = Decimal(0)
    for row in rows:
        symbols = FillDay.objects.filter(account=row, symbol__contains=":").values_list("symbol", flat=True)
        for dex in ["", *sorted({symbol.partition(":")[0] for symbol in symbols})]:
            state = hyperliquid.fetch_state("clearinghouseState", row.wallet, dex=dex)
            total += read_amount(state["marginSummary"]["accountValue"], "accountValue")
    return total


def read_spot(rows: list[Account]) -> Decimal | None:
    """Return what spot balances are worth at the exchange's mids; None if one has no price. Raises UNREAD."""
    prices, balances = token_prices(hyperliquid.fetch_mids(), hyperliquid.fetch_spot_names()), dict[str, Decimal]()
    for row in rows:
        for each in hyperliquid.fetch_state("spotClearinghouseState", row.wallet)["balances"]:
            token = str(each["coin"])
            balances[token] = balances.get(token, Decimal(0)) + read_amount(each["total"], "total")
    return spot_value(balances, prices)


def store(owner: User, values: Mapping[str, Decimal | None], *, now: datetime, has_unread: bool) -> None:
    """Store a measurement: parts that were read, the last value of the others, and the total once both are known."""
    with owner_locked(owner.pk):
        row = CapitalMetrics.objects.filter(pk=owner.pk).first() or CapitalMetrics(owner=owner)
        if values["spot"] is not None:
            row.spot_holdings_usd, row.spot_read_at = values["spot"], now
        if values["perp"] is not None:
            row.perp_value_usd, row.perp_read_at = values["perp"], now
        if row.spot_holdings_usd is not None and row.perp_value_usd is not None:
            row.capital_total_usd = row.spot_holdings_usd + row.perp_value_usd
            row.tier = tier_of(row.capital_total_usd)
        row.missing = [part for part, value in values.items() if value is None] + ["other_accounts"] * has_unread
        row.updated_at = now
        row.save()
        copied = ("spot_holdings_usd", "perp_value_usd", "capital_total_usd", "tier", "missing")
        CapitalReading.objects.create(owner=owner, at=now, **{name: getattr(row, name) for name in copied})


def measure_all(*, now: datetime) -> dict[str, int]:
    """Ask for a measurement of each owner with own accounts."""
    owners = list(Account.objects.live().values_list("owner", flat=True).distinct())
    nudge_all(CAPITAL_JOB, owners, now=now)
    return {"owners": len(owners)}
