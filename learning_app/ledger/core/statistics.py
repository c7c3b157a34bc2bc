"""What closed round trips say together: results, rates, drawdown, groups and days. Sources: issue Ledger, S4. Pure.

Money is Decimal and holds the cent. `net` is after fees that are known; a trip whose fees are not known counts before
them, and `unknown_fees` says of how many that is so. Trips are taken in the order in which they were closed.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import date, datetime, tzinfo
from decimal import Decimal
from statistics import NormalDist, stdev
from typing import Any, NamedTuple, TypeVar

from learning_app.ledger.core import WITHOUT_WORDS, net_of
from learning_app.methodologies.core.wilson import wilson_interval

Key = TypeVar("Key", bound=Hashable)
ZERO = Decimal(0)
MIN_TRIPS = 5
"""Below so many trips there is no interval, and a group is drawn hollow."""
Z = NormalDist().inv_cdf(0.975)
CORRECTIONS = (
    (4, (1, 1)),
    (96, (5, 16, 3)),
    (384, (3, 19, 17, -15)),
    (92_160, (79, 776, 1_482, -1_920, -945)),
)
"""Terms of Student's t in powers of 1/freedom: divisor, and factors of falling odd powers of z (Fisher, Cornish)."""


class Closed(NamedTuple):
    """A closed round trip, by the columns that are read of it."""

    symbol: str
    side: str
    entry_tick_at: datetime
    exit_tick_at: datetime
    entry_price: Decimal
    entry_size_usd: Decimal
    stop_price: Decimal | None
    entry_regime_tag: str | None
    exit_reason: str
    realized_pnl_usd: Decimal
    fees_usd: Decimal | None
    mfe_usd: Decimal | None
    entry_lessons_hash: str | None = None

    @property
    def net(self) -> Decimal:
        """What it won or lost in USD."""
        return net_of(self)

    @property
    def ended(self) -> str:
        """Why it ended, empty where its trader closed it."""
        return self.exit_reason if self.exit_reason in WITHOUT_WORDS else ""


class Drawdown(NamedTuple):
    """The deepest fall from a peak: in USD, as a share of the equity there, from and to, and when it was made up.

    `share` is None where the equity at the start is not known, `began_at` None where the start is the peak.
    """

    usd: Decimal
    share: float | None
    began_at: datetime | None
    ended_at: datetime
    back_at: datetime | None


class Balance(NamedTuple):
    """Where the results stand after a day: their sum, and the deepest fall of the day below the peak before, <= 0."""

    day: date
    total: Decimal
    fall: Decimal
    fall_share: float | None


class Group(NamedTuple):
    """The trips that have something in common."""

    trips: int
    won: int
    net: Decimal

    def add(self, net: Decimal) -> "Group":
        """Return them with one more of this result in USD."""
        return Group(self.trips + 1, self.won + (net > 0), self.net + net)

    @property
    def mean(self) -> Decimal:
        """The mean result in USD."""
        return self.net / self.trips

    @property
    def won_pct(self) -> float:
        """How many of 100 won."""
        return 100 * self.won / self.trips

    @property
    def is_hollow(self) -> bool:
        """Whether they are too few to say anything."""
        return self.trips < MIN_TRIPS


NOTHING = Group(0, 0, ZERO)


class Statistics(NamedTuple):
    """What closed trips say; what cannot be known is None. Money in USD, `won_range` and `captured` as shares.

    `mean_range` is the 95 % interval of the mean by Student's t. `r` is the mean result in units of what stood at
    risk, over the `r_trips` with a stop. `captured` is the P&L as a share of the best marks, the exit's among them. The
    streaks are the longest; a result of 0 ends both.
    """

    trips: int
    net: Decimal
    fees: Decimal
    unknown_fees: int
    won: int
    lost: int
    won_range: tuple[float, float]
    mean: Decimal | None
    mean_range: tuple[float, float] | None
    mean_won: Decimal | None
    mean_lost: Decimal | None
    profit_factor: Decimal | None
    r: Decimal | None
    r_trips: int
    captured: Decimal | None
    won_streak: int
    lost_streak: int
    drawdown: Drawdown | None

    @property
    def won_pct(self) -> float | None:
        """How many of 100 won."""
        return 100 * self.won / self.trips if self.trips else None


def statistics_of(trips: Sequence[Closed], *, start: Decimal | None) -> Statistics:
    """Return what trips say, in the order in which they were closed. `start` is the equity in USD before the first."""
    nets = [trip.net for trip in trips]
    won, lost = [net for net in nets if net > 0], [net for net in nets if net < 0]
    risks = [(trip.net, risk) for trip in trips if (risk := risk_of(trip))]
    best = [(trip.realized_pnl_usd, most) for trip in trips if (most := best_of(trip)) is not None]
    most_usd = sum((most for _pnl, most in best), ZERO)
    return Statistics(
        trips=len(trips),
        net=sum(nets, ZERO),
        fees=sum((trip.fees_usd or ZERO for trip in trips), ZERO),
        unknown_fees=sum(trip.fees_usd is None for trip in trips),
        won=len(won),
        lost=len(lost),
        won_range=wilson_interval(len(won), len(trips)),
        mean=mean_of(nets),
        mean_range=mean_interval([float(net) for net in nets]),
        mean_won=mean_of(won),
        mean_lost=mean_of(lost),
        profit_factor=sum(won, ZERO) / -sum(lost, ZERO) if lost else None,
        r=mean_of([net / risk for net, risk in risks]),
        r_trips=len(risks),
        captured=sum((pnl for pnl, _most in best), ZERO) / most_usd if most_usd else None,
        won_streak=longest(net > 0 for net in nets),
        lost_streak=longest(net < 0 for net in nets),
        drawdown=drawdown_of(trips, start),
    )


def mean_of(amounts: Sequence[Decimal]) -> Decimal | None:
    """Return the mean, None of nothing."""
    return sum(amounts, ZERO) / len(amounts) if amounts else None


def risk_of(trip: Any) -> Decimal | None:
    """Return what a trip would have lost at its stop in USD, None without one."""
    if trip.stop_price is None:
        return None
    return abs(trip.entry_price - trip.stop_price) / trip.entry_price * trip.entry_size_usd


def best_of(trip: Any) -> Decimal | None:
    """Return the most that a trip was ever worth in USD, before fees; None where no mark is known but its exit's."""
    return None if trip.mfe_usd is None else max(trip.mfe_usd, trip.realized_pnl_usd)


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean by Student's t, None below MIN_TRIPS values."""
    freedom = len(values) - 1
    if freedom + 1 < MIN_TRIPS:
        return None
    reach = Z
    for order, (divisor, factors) in enumerate(CORRECTIONS, 1):
        highest = 2 * len(factors) - 1
        terms = (factor * Z ** (highest - 2 * place) for place, factor in enumerate(factors))
        reach += sum(terms) / (divisor * freedom**order)
    middle, spread = sum(values) / len(values), reach * stdev(values) / math.sqrt(len(values))
    return middle - spread, middle + spread


def longest(hits: Iterable[bool]) -> int:
    """Return how many hits came in a row at most."""
    most = run = 0
    for hit in hits:
        run = run + 1 if hit else 0
        most = max(most, run)
    return most


def drawdown_of(trips: Sequence[Closed], start: Decimal | None) -> Drawdown | None:
    """Return the deepest fall, None where the results never fell."""
    total = peak = ZERO
    peak_at: datetime | None = None
    deepest: Drawdown | None = None
    bottom_peak = ZERO
    for trip in trips:
        total += trip.net
        if deepest and deepest.back_at is None and total >= bottom_peak:
            deepest = deepest._replace(back_at=trip.exit_tick_at)
        if total >= peak:
            peak, peak_at = total, trip.exit_tick_at
        elif deepest is None or peak - total > deepest.usd:
            fall, bottom_peak = peak - total, peak
            deepest = Drawdown(fall, share_of(fall, peak, start), peak_at, trip.exit_tick_at, None)
    return deepest


def share_of(fall: Decimal, peak: Decimal, start: Decimal | None) -> float | None:
    """Return a fall as a share of the equity at the peak, None where that is not known or nothing."""
    return float(fall / (start + peak)) if start is not None and start + peak > 0 else None


def balances_of(trips: Sequence[Closed], *, zone: tzinfo, start: Decimal | None) -> list[Balance]:
    """Return where the results stood after each day of a zone on which a trip was closed."""
    found: dict[date, Balance] = {}
    total = peak = ZERO
    for trip in trips:
        day = trip.exit_tick_at.astimezone(zone).date()
        total += trip.net
        peak = max(peak, total)
        fall, before = peak - total, found.get(day)
        if before and -before.fall >= fall:
            found[day] = before._replace(total=total)
        else:
            share = share_of(fall, peak, start)
            found[day] = Balance(day, total, -fall, None if share is None else -share)
    return list(found.values())


def lessons_days(trips: Iterable[Closed], *, zone: tzinfo) -> dict[date, str]:
    """Return when trips under other lessons closed first, by the name of the lessons; in the order of their ends."""
    first: dict[str, date] = {}
    for trip in trips:
        first.setdefault(trip.entry_lessons_hash or "", trip.exit_tick_at.astimezone(zone).date())
    return {day: lessons for lessons, day in list(first.items())[1:]}


def group_by(trips: Iterable[Closed], key: Callable[[Closed], Key]) -> dict[Key, Group]:
    """Return trips in groups, in the order of their first ones."""
    found: dict[Key, Group] = {}
    for trip in trips:
        name = key(trip)
        found[name] = found.get(name, NOTHING).add(trip.net)
    return found


def groups_of(trips: Sequence[Closed], *, zone: tzinfo) -> Mapping[str, Mapping[Any, Group]]:
    """Return trips by what they have in common; hour (0 to 23) and weekday (Monday is 0) are of the entry in a zone.

    `day` is the date of the exit there. A regime is None where none was known at the entry.
    """

    def entry_of(trip: Closed) -> datetime:
        return trip.entry_tick_at.astimezone(zone)

    keys: dict[str, Callable[[Closed], Any]] = {
        "symbol": lambda trip: trip.symbol,
        "side": lambda trip: trip.side,
        "regime": lambda trip: trip.entry_regime_tag,
        "hour": lambda trip: entry_of(trip).hour,
        "weekday": lambda trip: entry_of(trip).weekday(),
        "ended": lambda trip: trip.ended,
        "day": lambda trip: trip.exit_tick_at.astimezone(zone).date(),
    }
    return {name: group_by(trips, key) for name, key in keys.items()}
