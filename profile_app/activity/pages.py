"""How own trades look on `/profile/activity/`: figures that lead with net, days, markets, accounts and their state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.jobs.models import OwnerSchedule
from minara_site.web.moments import money_label, number_label, signed_money_label
from profile_app.activity.core.accounts import (
    FORCED_EVERY,
    MAX_ACCOUNTS,
    SYNC,
    AccountSource,
    Reader,
    SyncSource,
)
from profile_app.activity.core.figures import Figures, moment_of, zone_of
from profile_app.activity.core.fills import UNREADABLE
from profile_app.activity.models import Account, SpotActivity, SyncState
from profile_app.activity.selectors import (
    PROFILE_DAYS,
    TradingProfile,
    has_exchange,
    has_gateway,
    list_accounts,
    list_removed,
    list_states,
    load_funding,
    load_trading_profile,
    reader_of,
    state_key,
)

Label = str | Promise
WEEKS, MAX_MARKETS, MAX_ACTIVITIES, CENTS_BELOW = 5, 20, 10, 10
READERS: dict[Reader | None, Label] = {
    Reader.HYPERLIQUID: gettext_lazy("read from Hyperliquid"),
    Reader.GATEWAY: gettext_lazy("read through the Minara gateway"),
    None: gettext_lazy("nothing reads this account: it is kept, without trades"),
}
READER_NAMES: dict[Reader, Label] = {
    Reader.HYPERLIQUID: "Hyperliquid",
    Reader.GATEWAY: gettext_lazy("The Minara gateway"),
}
DEMO_READER = gettext_lazy("demo data: no source is asked")
SOURCES: dict[str, Label] = {
    AccountSource.PERPS: gettext_lazy("Derivatives"),
    AccountSource.SPOT: gettext_lazy("Spot"),
}
ERRORS: dict[str, Label] = {
    "timeout": gettext_lazy("the source did not answer in time"),
    "not_json": gettext_lazy("the source answered something else than a history"),
    "no_list": gettext_lazy("the source answered something else than a history"),
    "not_newer": gettext_lazy("the source repeats itself"),
    "http_401": gettext_lazy("the source refuses the key"),
    "http_403": gettext_lazy("the source refuses the key"),
    "http_404": gettext_lazy("the source does not know the call"),
}


@dataclass(frozen=True, slots=True)
class AccountRow:
    """An account and how reading it goes. `error` is empty while it goes well; then `probe_at` is None too."""

    account: Account
    source: Label
    reader: Label
    is_read: bool
    synced_at: datetime | None
    newest_at: datetime | None
    gap_at: datetime | None
    unreadable: int
    error: Label
    failures: int
    probe_at: datetime | None
    added_by: str


@dataclass(frozen=True, slots=True)
class MarketRow:
    """Figures of one market, in words."""

    symbol: str
    fills: int
    volume: str
    net: str
    tone: str


@dataclass(frozen=True, slots=True)
class DayCell:
    """A day of the calendar; without fills it has no result. `is_large` is at least half of the largest."""

    day: date
    net: str
    tone: str
    fills: int
    is_large: bool
    is_to_come: bool


@dataclass(frozen=True, slots=True)
class Week:
    """A week of the calendar with its sum, empty without a fill."""

    days: Sequence[DayCell]
    net: str
    tone: str


def page_context(owner: User, reader: User, *, now: datetime) -> dict[str, Any]:
    """Return what the page shows of an owner's trades; labels of another owner are masked. Twelve queries at most."""
    profile, is_own = load_trading_profile(owner, now=now), owner.pk == reader.pk
    accounts = [masked_for(reader, row) for row in list_accounts(owner=owner).order_by("pk")]
    states = {(row.source, row.sub_account_id): row for row in list_states(owner=owner)}
    schedule = OwnerSchedule.objects.filter(owner=owner, job=SYNC).first()
    spot = SpotActivity.objects.for_owner(owner).order_by("-ts_ms", "-pk")[: MAX_ACTIVITIES + 1]
    ran_at = schedule.ran_at if schedule else None
    return {
        "is_own": is_own,
        "owner_name": "" if is_own else owner.username,
        "days_shown": PROFILE_DAYS,
        "perps": profile.perps,
        "spot": profile.spot,
        "figures": shape_figures(profile.perps, load_funding(owner, since=profile.since)),
        "notices": list_notices(profile, states.values()),
        "markets": shape_markets(most_traded(profile)[:MAX_MARKETS]),
        "weeks": shape_weeks(profile, now=now),
        "zone": str(zone_of(owner.time_zone)),
        "accounts": shape_accounts(accounts, states, owner, reader, now=now),
        "removed": [masked_for(reader, row) for row in list_removed(owner=owner)],
        "max_accounts": MAX_ACCOUNTS,
        "activities": [(row, moment_of(row.ts_ms)) for row in spot[:MAX_ACTIVITIES]],
        "has_more_activities": len(spot) > MAX_ACTIVITIES,
        "has_gateway": has_gateway(owner),
        "has_exchange": has_exchange(),
        "next_sync": schedule.due_at if schedule else None,
        "synced_at": ran_at,
        "wait_seconds": round(max((ran_at + FORCED_EVERY - now).total_seconds(), 0)) if ran_at else 0,
    }


def tone_of(amount: Decimal) -> str:
    """Return whether an amount is a gain, a loss, or flat to the cent."""
    cents = round(amount, 2)
    return "gain" if cents > 0 else "loss" if cents < 0 else "flat"


def share_label(part: float | None) -> str:
    """Return a share in percent."""
    return number_label(None) if part is None else f"{part * 100:.1f} %"


def shape_figures(perps: Figures, funding: Decimal | None) -> list[tuple[Label, str, str]]:
    """Return name, value and tone of the figures of derivatives, net first."""
    if not perps.fills:
        return []
    sides = perps.long_usd + perps.short_usd
    fees = money_label(perps.fees_usd)
    if perps.unpriced_fees:
        other = ngettext(
            "%(n)d fee in another token or unknown, not counted",
            "%(n)d fees in other tokens or unknown, not counted",
            perps.unpriced_fees,
        )
        fees += " · " + other % {"n": perps.unpriced_fees}
    return [
        (_("Net result"), signed_money_label(perps.net_usd), tone_of(perps.net_usd)),
        (_("Before fees"), signed_money_label(perps.pnl_usd), tone_of(perps.pnl_usd)),
        (_("Fees"), fees, ""),
        (
            _("Funding, not in net"),
            _("not known") if funding is None else signed_money_label(funding),
            "" if funding is None else tone_of(funding),
        ),
        (
            _("Won"),
            _("%(share)s of closing fills (%(n)s)")
            % {"share": share_label(perps.win_rate), "n": number_label(perps.closing_fills)}
            if perps.closing_fills
            else number_label(None),
            "",
        ),
        (
            "",
            _("%(share)s of closing orders (%(n)s)")
            % {"share": share_label(perps.order_win_rate), "n": number_label(perps.closing_orders)}
            if perps.closing_orders
            else "",
            "",
        ),
        (
            _("Long, short"),
            f"{share_label(float(perps.long_usd / sides))}, {share_label(float(perps.short_usd / sides))}"
            if sides
            else number_label(None),
            "",
        ),
        (_("Average size"), money_label(perps.average_usd), ""),
        (
            _("Volume"),
            _("%(usd)s, fills: %(n)s") % {"usd": money_label(perps.volume_usd), "n": number_label(perps.fills)},
            "",
        ),
    ]


def list_notices(profile: TradingProfile, states: Any) -> list[str]:
    """Return what the figures do not have, each in a sentence."""
    perps, unreadable = profile.perps, sum(state.unreadable for state in states)
    said = (
        (
            perps.gaps,
            ngettext(
                "Fills are missing in %(n)d place: the source no longer has them, or they were made elsewhere.",
                "Fills are missing in %(n)d places: the source no longer has them, or they were made elsewhere.",
                perps.gaps,
            ),
        ),
        (
            perps.unknown_dirs,
            ngettext(
                "%(n)d fill has a direction that is not known; it counts, and in no split.",
                "%(n)d fills have a direction that is not known; they count, and in no split.",
                perps.unknown_dirs,
            ),
        ),
        (
            perps.liquidations,
            ngettext("%(n)d fill is a liquidation.", "%(n)d fills are liquidations.", perps.liquidations),
        ),
        (
            unreadable,
            ngettext(
                "%(n)d row of the last sync could not be read and does not count.",
                "%(n)d rows of the last sync could not be read and do not count.",
                unreadable,
            ),
        ),
    )
    return [sentence % {"n": number} for number, sentence in said if number]


def most_traded(profile: TradingProfile) -> list[tuple[str, Figures]]:
    """Return the markets with the most fills, by volume where these are equal."""
    return sorted(profile.by_market.items(), key=lambda each: (-each[1].fills, -each[1].volume_usd, each[0]))


def shape_markets(markets: Sequence[tuple[str, Figures]]) -> list[MarketRow]:
    """Return markets in words, in their order."""
    return [
        MarketRow(
            _("name not readable") if symbol == UNREADABLE else symbol,
            figures.fills,
            money_label(figures.volume_usd),
            signed_money_label(figures.net_usd),
            tone_of(figures.net_usd),
        )
        for symbol, figures in markets
    ]


def shape_weeks(profile: TradingProfile, *, now: datetime) -> list[Week]:
    """Return the last weeks, Monday first; nothing where no day has a fill."""
    if not profile.days:
        return []
    today = now.astimezone(zone_of(profile.zone)).date()
    monday = today - timedelta(days=today.weekday() + 7 * (WEEKS - 1))
    largest = max(abs(figures.net_usd) for figures in profile.days.values())
    places = 2 if largest < CENTS_BELOW else 0
    weeks = []
    for number in range(WEEKS):
        cells, total, fills = [], Decimal(0), 0
        for place in range(7):
            day = monday + timedelta(days=7 * number + place)
            figures = profile.days.get(day, Figures())
            total, fills = total + figures.net_usd, fills + figures.fills
            cells.append(
                DayCell(
                    day,
                    day_label(figures.net_usd, places) if figures.fills else "",
                    tone_of(figures.net_usd) if figures.fills else "",
                    figures.fills,
                    is_large=bool(figures.fills) and abs(figures.net_usd) * 2 >= largest,
                    is_to_come=day > today,
                )
            )
        weeks.append(Week(cells, day_label(total, places) if fills else "", tone_of(total)))
    return weeks


def day_label(amount: Decimal, places: int) -> str:
    """Return a result in dollars with its sign, without the sign of the currency; nothing is neither + nor -."""
    shown = round(amount, places)
    return f"{'+' if shown > 0 else ''}{number_label(shown or abs(shown), places)}"


def shape_accounts(
    accounts: Sequence[Account],
    states: Mapping[tuple[str, str], SyncState],
    owner: User,
    reader: User,
    *,
    now: datetime,
) -> list[AccountRow]:
    """Return accounts with their state, in their order."""
    names = name_actors({row.actor for row in accounts}, reader=reader, known=[owner]) if accounts else {}
    cooldown = timedelta(milliseconds=settings.MINARA.history_sync_failure_cooldown_ms)
    rows = []
    for account in accounts:
        state, read_by = states.get(state_key(account)), reader_of(account, owner)
        funding = states.get((SyncSource.PERPS_FUNDING, account.wallet))
        failing = next((each for each in (state, funding) if each and each.consecutive_failures), None)
        failures, why = (failing.consecutive_failures, error_label(failing.last_error or "")) if failing else (0, "")
        is_left_out = failures >= settings.MINARA.history_sync_max_failures
        rows.append(
            AccountRow(
                account,
                SOURCES[account.source],
                DEMO_READER if account.is_demo else READERS[read_by],
                read_by is not None,
                state.last_success_at if state else None,
                moment_of(state.last_synced_ts_ms) if state and state.last_synced_ts_ms else None,
                moment_of(state.gap_at_ms) if state and state.gap_at_ms else None,
                state.unreadable if state else 0,
                _("funding: %(why)s") % {"why": why} if failing and failing is funding else why,
                failures,
                failing.last_synced_at + cooldown if failing and is_left_out else None,
                "" if account.actor == f"user:{owner.pk}" else names[account.actor],
            )
        )
    return rows


def error_label(code: str) -> Label:
    """Return why a source could not be read."""
    if code.startswith("unreadable"):
        return _("a row of the source has no time, so its page was refused")
    return ERRORS.get(code) or _("the source could not be read (%(code)s)") % {"code": code}
