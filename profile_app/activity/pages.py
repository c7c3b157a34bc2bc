"""How own trades look on `/profile/activity/`: figures that lead with net, days, markets, accounts and their state."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.jobs.models import OwnerSchedule
from minara_site.web.moments import number_label, zone_of
from profile_app.activity.core.accounts import MAX_ACCOUNTS, SYNC, SyncSource
from profile_app.activity.core.figures import Figures, moment_of
from profile_app.activity.models import Account, SpotActivity, SyncState
from profile_app.activity.selectors import (
    PROFILE_DAYS,
    has_exchange,
    has_gateway,
    list_accounts,
    load_funding,
    load_states,
    load_trading_profile,
    reader_of,
    state_key,
    wait_seconds,
)

WEEKS, MAX_MARKETS, MAX_ACTIVITIES, CENTS_BELOW = 5, 20, 10, 10


def page_context(owner: User, reader: User, *, now: datetime) -> dict[str, Any]:
    """Return what the page shows of an owner's trades; labels of another owner are masked. Twelve queries at most."""
    profile, states, zone = load_trading_profile(owner, now=now), load_states(owner), zone_of(owner.time_zone)
    accounts = list(list_accounts(owner=owner).order_by("pk"))
    removed = Account.objects.for_owner(owner).filter(removed_at__isnull=False).order_by("-removed_at", "-pk")
    names = name_actors({row.actor for row in accounts}, reader=reader, known=[owner])
    schedule = OwnerSchedule.objects.filter(owner=owner, job=SYNC).first()
    markets = sorted(profile.by_market.items(), key=lambda each: (-each[1].fills, -each[1].volume_usd, each[0]))
    spot = SpotActivity.objects.for_owner(owner).order_by("-ts_ms", "-pk")
    rows = [
        {
            "account": masked_for(reader, account),
            "reader": reader_of(account, owner),
            "state": state,
            "failing": state if state.consecutive_failures or not funding else funding,
            "newest_at": moment_of(state.last_synced_ts_ms),
            "gap_at": moment_of(state.gap_at_ms),
            "added_by": "" if account.actor == f"user:{owner.pk}" else names[account.actor],
        }
        for account, state, funding in (
            (row, states.get(state_key(row), SyncState()), states.get((SyncSource.PERPS_FUNDING, row.wallet)))
            for row in accounts
        )
    ]
    return {
        "is_own": owner.pk == reader.pk,
        "owner_name": "" if owner.pk == reader.pk else owner.username,
        "days_shown": PROFILE_DAYS,
        "perps": profile.perps,
        "spot": profile.spot,
        "funding": load_funding(owner, since=now - timedelta(days=PROFILE_DAYS)),
        "unreadable": sum(state.unreadable for state in states.values()),
        "markets": markets[:MAX_MARKETS],
        "weeks": shape_weeks(profile.days, today=now.astimezone(zone).date()),
        "zone": str(zone),
        "accounts": rows,
        "removed": [masked_for(reader, row) for row in removed[:MAX_ACCOUNTS]],
        "max_accounts": MAX_ACCOUNTS,
        "activities": [(row, moment_of(row.ts_ms)) for row in spot[: MAX_ACTIVITIES + 1]],
        "max_activities": MAX_ACTIVITIES,
        "has_gateway": has_gateway(owner),
        "has_exchange": has_exchange(),
        "next_sync": schedule.due_at if schedule else None,
        "wait_seconds": wait_seconds(schedule, now=now),
    }


def shape_weeks(days: Mapping[date, Figures], *, today: date) -> list[dict[str, Any]]:
    """Return the last weeks, Monday first; nothing where no day has a fill.

    A day without fills has no result, one to come has no figures. `is_large` is at least half of the largest.
    """
    largest = max((abs(figures.net_usd) for figures in days.values()), default=None)
    if largest is None:
        return []
    places = 2 if largest < CENTS_BELOW else 0
    monday = today - timedelta(days=today.weekday() + 7 * (WEEKS - 1))
    weeks = []
    for number in range(WEEKS):
        cells, total = [], Figures()
        for place in range(7):
            day = monday + timedelta(days=7 * number + place)
            figures = days.get(day, Figures())
            total.add(figures)
            cells.append(
                {
                    "day": day,
                    "figures": None if day > today else figures,
                    "net": net_label(figures, places),
                    "is_large": abs(figures.net_usd) * 2 >= largest,
                }
            )
        weeks.append({"days": cells, "net": net_label(total, places)})
    return weeks


def net_label(figures: Figures, places: int) -> str:
    """Return a result in dollars with its sign, without the sign of the currency, and nothing without a fill."""
    shown = round(figures.net_usd, places)
    return f"{'+' if shown > 0 else ''}{number_label(shown or abs(shown), places)}" if figures.fills else ""
