"""How often the court and the sources' rule are wrong, on markets with a known truth. Source: court.md (proof).

Hourly closes; a call may read prices up to and with the one at its decision, which is also its entry. A call is a block
when it left the noise band and has a control. Many paths are simulated at once; one path of each market is judged
again by the product's own functions, one call after the other. `make soak` prints what was measured.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache, partial
from itertools import product
from math import exp, log, nan, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from learning_app.court.core import (
    ALTERNATIVES,
    DECAYING,
    FEE,
    LOG_BEATS_CHANCE,
    MAX_DETECTOR,
    MIN_WINDOWS,
    SHARES,
    STAKES,
    WINDOWS,
    CourtState,
    add_block,
    chance_of,
    control_windows,
    decay_ratio,
    find_met,
    grid_start,
    is_same_bet,
    surviving,
    weigh,
)
from learning_app.methodologies.core.lifecycle import Trust, TrustRules, should_graduate
from minara_site.kernel.market.outcome import Direction, Outcome, change_pct, judge_change

pytestmark = pytest.mark.soak

Array = Any

SEEDS = (18, 19, 20)
PATHS = 400
CALLS = {4: 520, 24: 440}
"""By horizon in hours: so many that about 400 leave the noise band."""
BLOCKS, POWER_BLOCKS = 400, 200
HOUR, BAND = 0.01, 0.5
"""An hour's standard deviation as a ratio; half the width of the noise band in percent."""
PAST = 20
"""Horizons before the first call, for methods to read."""
AFTER = 10
"""Horizons after the last call's start: its own, the eight of its control, and up to a quarter to reach the grid."""
STARTS_AT = datetime(2026, 1, 1, tzinfo=UTC)
DAY = 24


def as_drawn(shocks: Array) -> Array:
    return shocks


def clustered(shocks: Array) -> Array:
    """Return GARCH(.05, .93) steps of variance 1 over the long run."""
    steps, variance = np.empty_like(shocks), np.ones(len(shocks))
    for hour in range(shocks.shape[1]):
        steps[:, hour] = np.sqrt(variance) * shocks[:, hour]
        variance = 0.02 + 0.05 * steps[:, hour] ** 2 + 0.93 * variance
    return steps


def correlated(shocks: Array, *, share: float) -> Array:
    """Return AR(1) steps of variance 1."""
    steps = shocks.copy()
    for hour in range(1, shocks.shape[1]):
        steps[:, hour] = share * steps[:, hour - 1] + sqrt(1 - share**2) * shocks[:, hour]
    return steps


REGIMES: dict[str, Any] = {  # drift in standard deviations an hour before and after the middle call; None: in turns
    "flat": ((0, 0), as_drawn),
    "rising": ((0.1, 0.1), as_drawn),
    "flat, then rising": ((0, 0.1), as_drawn),
    "rising, then flat": ((0.1, 0), as_drawn),
    "rising, then falling": ((0.1, -0.1), as_drawn),
    "GARCH, rising": ((0.1, 0.1), clustered),
    "autocorrelation +.05": ((0, 0), partial(correlated, share=0.05)),
    "autocorrelation -.05": ((0, 0), partial(correlated, share=-0.05)),
    "bull and bear in turns": (None, as_drawn),
}


def in_turns(random: np.random.Generator, hours: int) -> Array:
    """Return a drift of .1 and -.1 in turns of 20 to 120 days; the first may already be under way."""
    drift = np.empty((PATHS, hours))
    for path in range(PATHS):
        lengths = random.integers(20 * DAY, 120 * DAY, 2 + hours // (20 * DAY), endpoint=True)
        lengths[0] = random.integers(1, lengths[0], endpoint=True)
        signs = random.choice([-1, 1]) * (-1) ** np.arange(len(lengths))
        drift[path] = 0.1 * np.repeat(signs, lengths)[:hours]
    return drift


@dataclass(frozen=True)
class Market:
    """What happened: logarithms of prices by path and hour; drift, outcome and control by path and call.

    `starts` are the hours of the calls. `went` is 1 up, -1 down, 0 inside the band; `chance` is how often up was right
    in the control, NaN without one.
    """

    horizon: int
    logs: Array
    starts: Array
    drift: Array
    went: Array
    chance: Array


def make_market(random: np.random.Generator, regime: str, horizon: int, calls: int, *, first: int = 0) -> Market:
    """Simulate a market with one call a horizon; `first` is the hour of the day of the first one."""
    starts = PAST * horizon + first + horizon * np.arange(calls)
    hours = starts[-1] + AFTER * horizon
    drifts, make_steps = REGIMES[regime]
    shocks = random.standard_t(4, (PATHS, hours)) / sqrt(2)
    if drifts is None:
        drift = in_turns(random, hours)
    else:
        is_late = np.arange(hours) >= starts[calls // 2]
        drift = np.broadcast_to(np.where(is_late, drifts[1], drifts[0]), (PATHS, hours))
    steps = HOUR * (make_steps(shocks) + drift)
    logs = np.concatenate([np.zeros((PATHS, 1)), np.cumsum(steps, axis=1)], axis=1)
    went = moves(logs, starts, horizon)
    return Market(horizon, logs, starts, drift[:, starts], went, controls(logs, starts + horizon, horizon))


def moves(logs: Array, starts: Array, horizon: int) -> Array:
    """Return where the price went in windows: 1 up, -1 down, 0 inside the band."""
    change = 100 * np.expm1(logs[:, starts + horizon] - logs[:, starts])
    return np.where(np.abs(change) <= BAND, 0, np.sign(change)).astype(np.int8)


def controls(logs: Array, ends: Array, horizon: int) -> Array:
    """Return how often up was right in the controls of calls with these ends; NaN with too few clear windows."""
    step = horizon // 4
    grid = -(-ends // step) * step
    up, down, clear = np.zeros((3, len(logs), len(ends)))
    for number in range(WINDOWS):
        move = moves(logs, grid + number * step, horizon)
        weight = 2 ** (-number / 12)
        up += weight * (move > 0)
        down += weight * (move < 0)
        clear += move != 0
    with np.errstate(invalid="ignore"):
        return np.where(clear < MIN_WINDOWS, np.nan, up / (up + down))


def methods_without_skill(random: np.random.Generator, market: Market) -> dict[str, Array]:
    """Return the calls of each method by path: 1 long, -1 short, 0 none; whole, and its long half."""
    logs, starts, horizon = market.logs, market.starts, market.horizon
    now, shape = logs[:, starts], market.went.shape
    before = {length: logs[:, starts - length * horizon] for length in (1, 5, 20)}
    highest = np.max([logs[:, starts - number * horizon] for number in range(11)], axis=0)
    whole = {
        "always long": np.ones(shape),
        "coin": random.choice([-1, 1], shape),
        **{f"trend {length}": np.where(now > price, 1, -1) for length, price in before.items()},
        **{f"revert {length}": np.where(now > price, -1, 1) for length, price in before.items()},
        "dip-buyer": np.where(now < highest - HOUR * sqrt(horizon), 1, 0),  # silent without a dip
        "3/3": np.where(np.arange(shape[1]) // 3 % 2 == 0, np.ones(shape), -1),
    }
    halves = {f"{name}, long half": np.maximum(calls, 0) for name, calls in whole.items() if (calls < 0).any()}
    return whole | halves


def skilled(random: np.random.Generator, market: Market, edge: float) -> Array:
    """Return calls both ways that are right as much more often than the market of their moment and direction.

    The market's share of ups among clear outcomes is that of all paths at the same drift.
    """
    up = np.empty(market.went.shape)
    for drift in np.unique(market.drift):
        same = market.drift == drift
        up[same] = (market.went[same] > 0).sum() / (market.went[same] != 0).sum()
    long_before_up, long_before_down = (up + edge) / (2 * up), (1 - up - edge) / (2 * (1 - up))
    is_long = random.random(up.shape) < np.where(market.went > 0, long_before_up, long_before_down)
    return np.where(is_long, 1, -1)


WAYS = {
    "both": lambda calls: calls,
    "long": lambda calls: np.maximum(calls, 0),
    "short": lambda calls: np.minimum(calls, 0),
}


@dataclass(frozen=True)
class Blocks:
    """By path and call: whether it is a block, its score and its chance; 0 where it is none."""

    counts: Array
    score: Array
    chance: Array


def blocks_of(market: Market, calls: Array, most: int) -> Blocks:
    """Return the first blocks of a method; calls are known in their order, each nine horizons later."""
    counts = (calls != 0) & (market.went != 0) & ~np.isnan(market.chance)
    counts &= np.cumsum(counts, axis=1) <= most
    chance = np.where(calls > 0, market.chance, 1 - market.chance)
    return Blocks(counts, np.where(counts, calls == market.went, 0), np.where(counts, chance, 0))


def log_evidence(blocks: Blocks) -> Array:
    """Return the logarithm of E after each call."""
    gain = np.where(blocks.counts, blocks.score - blocks.chance - FEE, 0)
    small, large = (
        log(share) + np.cumsum(np.log1p(stake * gain), axis=1) for share, stake in zip(SHARES, STAKES, strict=True)
    )
    return np.logaddexp(small, large)


def is_marked(blocks: Blocks) -> Array:
    """Say after each call whether E ever reached 20."""
    return np.maximum.accumulate(log_evidence(blocks), axis=1) >= LOG_BEATS_CHANCE


def verdict(blocks: Blocks) -> tuple[Array, Array]:
    """Return by path the mark and the logarithm of E at the end, as copies: the paths before them need not be kept."""
    return is_marked(blocks)[:, -1].copy(), log_evidence(blocks)[:, -1].copy()


def is_lit(blocks: Blocks) -> Array:
    """Say after each call whether the light is on."""
    watched = blocks.counts & is_marked(blocks)
    figures, lit = np.zeros((len(ALTERNATIVES), len(watched))), np.zeros(watched.shape, dtype=bool)
    for call in range(watched.shape[1]):
        seen = 0.46 + blocks.score[:, call] - blocks.chance[:, call]
        ratios = np.array([decay_ratio(alternative, seen) for alternative in ALTERNATIVES])
        figures = np.where(watched[:, call], np.minimum(MAX_DETECTOR, (1 + figures) * ratios), figures)
        lit[:, call] = figures.mean(axis=0) >= DECAYING
    return lit


def check_with_core(market: Market, calls: Array, path: int) -> None:
    """Judge one path again, call by call, with the product's own functions."""
    horizon = timedelta(hours=market.horizon)

    @cache
    def price(moment: datetime) -> Decimal:
        return Decimal(exp(market.logs[path, (moment - STARTS_AT) // timedelta(hours=1)]))

    @cache
    def move(start: datetime, end: datetime) -> int:
        judged = judge_change(change_pct(price(start), price(end)), Direction.BULLISH, band_pct=BAND)
        return {Outcome.RIGHT: 1, Outcome.WRONG: -1, Outcome.UNCLEAR: 0}[judged.outcome]

    state, blocks = CourtState(), blocks_of(market, calls, BLOCKS)
    evidence, lit = log_evidence(blocks)[path], is_lit(blocks)[path]
    for number, hour in enumerate(market.starts.tolist()):
        start = STARTS_AT + timedelta(hours=hour)
        windows = control_windows(grid_start(start + horizon, market.horizon), market.horizon)
        weights = weigh([move(each.starts_at, each.ends_at) for each in windows])
        up, went, side = chance_of(Direction.BULLISH, weights), move(start, start + horizon), calls[path, number]
        assert went == market.went[path, number]
        assert market.chance[path, number] == pytest.approx(nan if up is None else up, abs=1e-9, nan_ok=True)
        if side and went and up is not None and state.blocks < BLOCKS:
            chance = chance_of(Direction.BULLISH if side > 0 else Direction.BEARISH, weights)
            state = add_block(state, score=side == went, chance=chance)
        assert (state.log_evidence, state.is_decaying) == (pytest.approx(evidence[number], abs=1e-9), lit[number])
    assert state.beats_chance == is_marked(blocks)[path, -1]


def measure(regime: str, horizon: int, seed: int) -> Any:
    """Return for each path of a cell: marks and last E of the methods without skill and of those with it."""
    random = np.random.default_rng([seed, horizon, list(REGIMES).index(regime)])
    market = make_market(random, regime, horizon, CALLS[horizon], first=seed % horizon)
    shorter = make_market(random, regime, horizon, CALLS[horizon] // 2, first=seed % horizon)
    without = methods_without_skill(random, market)
    found = SimpleNamespace(false={}, power={}, evidence={True: [], False: []})
    for name, calls in without.items():
        blocks = blocks_of(market, calls, BLOCKS)
        found.false[name], last = verdict(blocks)
        found.evidence[False].append((found.false[name], last))
    for edge in (0.15, 0.10):
        for way, choose in WAYS.items():  # one that calls one way is silent half of the time
            where = shorter if way == "both" else market
            blocks = blocks_of(where, choose(skilled(random, where, edge)), POWER_BLOCKS)
            found.power[edge, way], last = verdict(blocks)
            if edge == 0.15:
                found.evidence[True].append((found.power[edge, way], last))
    path = int(random.integers(PATHS))
    for calls in (without["coin"], without["dip-buyer"], skilled(random, market, 0.15)):
        check_with_core(market, calls, path)
    return found


def percent(share: float) -> str:
    return f"{100 * share:7.1f}"


def test_court_is_wrong_as_rarely_as_it_says(capsys):
    rows, false, single, power, evidence = [], {}, {}, {}, {True: [], False: []}
    for regime, horizon in product(REGIMES, CALLS):
        seeds = [measure(regime, horizon, seed) for seed in SEEDS]
        for name in seeds[0].false:
            by_seed = [each.false[name].mean() for each in seeds]
            false[regime, horizon, name], single[regime, horizon, name] = np.mean(by_seed), max(by_seed)
        for key in seeds[0].power:
            power[regime, horizon, *key] = np.mean([each.power[key] for each in seeds])
        for is_good, each in product(evidence, seeds):
            evidence[is_good] += each.evidence[is_good]
        cells = {name: false[regime, horizon, name] for name in seeds[0].false}
        worst = max(cells, key=lambda name: cells[name])
        figures = [np.mean(list(cells.values())), cells[worst], max(single[regime, horizon, name] for name in cells)]
        figures += [power[regime, horizon, *key] for key in seeds[0].power]
        rows.append(f"{regime:24}{horizon:3}{''.join(map(percent, figures))}  {worst}")
    means = {edge: np.mean([share for key, share in power.items() if key[2] == edge]) for edge in (0.15, 0.10)}
    good = {key: share for key, share in power.items() if key[2] == 0.15}
    marked, surviving_share, kept = false_shares(np.random.default_rng(SEEDS[0]), evidence)
    with capsys.disabled():
        print(f"\nP(E >= 20 ever) in % of {len(SEEDS)} x {PATHS} paths, seeds {SEEDS}")
        print(f"{'':27}{f'without skill, {BLOCKS} blocks':>24}{f'edge .15, {POWER_BLOCKS} blocks':>22}{'edge .10':>18}")
        columns = ["mean", "worst", "1 seed", *WAYS, *WAYS]
        print(f"{'regime and hours':27}{''.join(f'{each:>7}' for each in columns)}  worst without skill")
        print(*rows, sep="\n")
        print(f"mean of {len(false)} cells without skill{percent(np.mean(list(false.values())))}")
        print(f"worst cell {percent(max(false.values()))}, with one seed {percent(max(single.values()))}")
        print(
            f"mean power at .15 {percent(means[0.15])}, least {percent(min(good.values()))}; .10 {percent(means[0.10])}"
        )
        print(f"mixed stores, false among: marked {percent(marked)}, surviving e-BH {percent(surviving_share)}")
        print(f"mixed stores, good ones that survive {percent(kept)}")
    assert np.mean(list(false.values())) <= 0.02
    assert {key: share for key, share in single.items() if share > 0.08} == {}
    assert means[0.15] >= 0.90
    assert {key: share for key, share in good.items() if share < 0.87} == {}
    assert surviving_share <= marked
    assert surviving_share < 0.10


def false_shares(random: np.random.Generator, evidence: Any, *, stores: int = 200, size: int = 120) -> Array:
    """Draw stores, one method in four really good; return false of marked, false of surviving, surviving of good."""
    marks, logs = ({good: np.concatenate([each[k] for each in evidence[good]]) for good in evidence} for k in (0, 1))
    counts = np.zeros((3, 2))
    for _ in range(stores):
        good = random.random(size) < 0.25
        runs = [(is_good, random.integers(len(logs[is_good]))) for is_good in good.tolist()]
        marked = np.array([marks[is_good][run] for is_good, run in runs])
        kept = surviving({number: exp(logs[is_good][run]) for number, (is_good, run) in enumerate(runs)})
        survives = np.isin(np.arange(size), list(kept))
        parts, wholes = (marked & ~good, survives & ~good, survives & good), (marked, survives, good)
        counts += [[part.sum(), whole.sum()] for part, whole in zip(parts, wholes, strict=True)]
    return counts[:, 0] / counts[:, 1]


LIGHT_REGIMES = ("flat", "rising", "bull and bear in turns")
FALLS_AFTER, NOTICED_WITHIN, STEADY_BLOCKS = 200, 250, 700


def lights(regime: str, horizon: int, way: str, seed: int) -> list[float]:
    """Return the share of paths whose fall from .15 to 0 is noticed, and that are warned of at a steady .15 and .10.

    A fall can be noticed where E had reached 20 before it.
    """
    random = np.random.default_rng([seed, horizon, LIGHT_REGIMES.index(regime), list(WAYS).index(way)])
    calls = CALLS[horizon] * (2 if way == "both" else 4)  # enough for the steady ones, of which half are silent
    market, choose = make_market(random, regime, horizon, calls, first=seed % horizon), WAYS[way]
    able, blind, weaker = (choose(skilled(random, market, edge)) for edge in (0.15, 0, 0.10))
    before = blocks_of(market, able, calls).counts
    has_fallen = np.cumsum(before, axis=1) - before >= FALLS_AFTER
    falling = blocks_of(market, np.where(has_fallen, blind, able), FALLS_AFTER + NOTICED_WITHIN)
    can_lose = (is_marked(falling) & ~has_fallen).any(axis=1)
    noticed = (is_lit(falling) & has_fallen).any(axis=1)[can_lose]
    steady = [is_lit(blocks_of(market, each, STEADY_BLOCKS)).any(axis=1).mean() for each in (able, weaker)]
    assert falling.counts.sum() == falling.counts.shape[0] * (FALLS_AFTER + NOTICED_WITHIN)
    return [noticed.mean(), *steady]


def test_lost_edge_is_noticed_and_a_steady_one_rarely_warned_of(capsys):
    found = {
        (regime, horizon, way): np.mean([lights(regime, horizon, way, seed) for seed in SEEDS], axis=0)
        for regime, horizon, way in product(LIGHT_REGIMES, CALLS, WAYS)
    }
    noticed, warned, weaker = np.mean([shares for key, shares in found.items() if key[2] == "both"], axis=0)
    with capsys.disabled():
        print(
            f"\nThe light, % of {len(SEEDS)} x {PATHS} paths, seeds {SEEDS}: an edge of .15 that falls to 0 is noticed"
        )
        print(f"within {NOTICED_WITHIN} blocks; a steady .15 and .10 is warned of in {STEADY_BLOCKS} blocks")
        for (regime, horizon, way), shares in found.items():
            print(f"{regime:24}{horizon:3} {way:6}{''.join(map(percent, shares))}")
        print(f"{'mean, both ways':34}{percent(noticed)}{percent(warned)}{percent(weaker)}")
    assert noticed >= 0.85
    assert warned <= 0.05


LAYOUTS, RUNS = 20, 100
"""So often the cases are drawn up anew, and so many runs each."""
MOMENTS = (25, 100, 400)
ASSETS, OWNERS, AT_ONCE, APART = 8, 8, 12, 5
"""APART is the hours between two moments where windows of four hours are not meant to meet."""


@dataclass(frozen=True)
class Case:
    """One call: its moment, when its window begins and ends, and whose it is."""

    moment: int
    starts_at: datetime
    ends_at: datetime
    decided_at: datetime
    hand: int = 0


def case_of(moment: int, decided: int, horizon: int, *, seconds: float = 0, hand: int = 0) -> Case:
    decided_at = STARTS_AT + timedelta(hours=decided)
    starts_at = decided_at + timedelta(seconds=seconds)
    return Case(moment, starts_at, starts_at + timedelta(hours=horizon), decided_at, hand)


def count_once(cases: list[Case]) -> list[list[int]]:
    """Return the numbers of the cases of each block: one that meets none opens one, one of the same bet joins it."""
    places: list[Any] = []
    for number, case in enumerate(cases):
        met = find_met(places, case.starts_at, case.ends_at)
        bet = {"decided_at": case.decided_at, "recorded_at": case.starts_at, "hand": case.hand}
        if not met:
            places.append(SimpleNamespace(starts_at=case.starts_at, ends_at=case.ends_at, **bet, cases=[number]))
        elif len(met) == 1 and is_same_bet(met[0], **bet):
            met[0].ends_at = max(met[0].ends_at, case.ends_at)
            met[0].cases.append(number)
    return [place.cases for place in places]


def bound(right: Array, used: Array) -> Array:
    """Return Wilson's lower bound; 0 without uses."""
    n = np.maximum(used, 1)
    share, z = right / n, 1.96
    spread = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return np.where(used > 0, (share + z * z / (2 * n) - spread) / (1 + z * z / n), 0)


def at_bar(outcomes: Array, least: float) -> Array:
    """Say after each outcome (1 right, -1 wrong, 0 unclear) whether the sources' rule holds with this bound."""
    used, right = np.cumsum(outcomes != 0, axis=1), np.cumsum(outcomes > 0, axis=1)
    return (used >= 10) & (bound(right, used) >= least)


def graduates(outcomes: Array, hands: Array) -> Array:
    """Say after each outcome whether a method may graduate; with several hands, less each owner's too."""
    passes = at_bar(outcomes, 0.55)
    for hand in np.unique(hands[hands > 0]):
        passes &= at_bar(np.where(hands == hand, 0, outcomes), 0.50)
    return passes


def check_with_rule(outcomes: Array, hands: Array, passes: Array) -> None:
    """Ask the product's rule after each outcome of one run."""
    rules = TrustRules(0.55, 10, 0, 0)
    right, used, tallies = 0, 0, {int(hand): (0, 0) for hand in np.unique(hands[hands > 0])}
    for outcome, hand, passed in zip(outcomes.tolist(), hands.tolist(), passes.tolist(), strict=True):
        used, right = used + (outcome != 0), right + (outcome > 0)
        if hand:
            of_hand = tallies[hand]
            tallies[hand] = (of_hand[0] + (outcome != 0), of_hand[1] + (outcome > 0))
        assert should_graduate(Trust(used, right, quarantine=True, hands=tuple(tallies.values())), rules) == passed


def within(passes: Array, moments: Array) -> list[float]:
    """Return which share of the runs graduates within so many moments."""
    return [passes[:, moments < most].any(axis=1).mean() for most in MOMENTS]


def overlapping(random: np.random.Generator, horizon: int) -> tuple[list[Case], Array]:
    """Bet each hour; the direction is drawn anew once a horizon."""
    count = MOMENTS[-1]
    logs = np.cumsum(HOUR * random.standard_t(4, (RUNS, count + horizon)) / sqrt(2), axis=1)
    logs = np.concatenate([np.zeros((RUNS, 1)), logs], axis=1)
    sides = np.repeat(random.choice([-1, 1], (RUNS, count // horizon + 1)), horizon, axis=1)[:, :count]
    return [case_of(each, each, horizon) for each in range(count)], sides * moves(logs, np.arange(count), horizon)


def apart(random: np.random.Generator, cases: list[Case], *, correlation: float = 1) -> tuple[list[Case], Array]:
    """Bet one drawn direction with all cases of a moment; the moments are apart."""
    moments = np.array([case.moment for case in cases])
    common = random.standard_normal((RUNS, MOMENTS[-1]))[:, moments]
    change = sqrt(correlation) * common + sqrt(1 - correlation) * random.standard_normal(common.shape)
    went = moves(np.stack([np.zeros(change.size), HOUR * 2 * change.ravel()], axis=1), np.array([0]), 1)
    return cases, went.reshape(change.shape) * random.choice([-1, 1], (RUNS, MOMENTS[-1]))[:, moments]


def one_method_of_all(random: np.random.Generator) -> list[Case]:
    """Return cases of one published method: each moment all owners record it, in any order, a second apart."""
    orders = ((moment, random.permutation(OWNERS).tolist()) for moment in range(MOMENTS[-1]))
    return [
        case_of(moment, APART * moment, 4, seconds=second, hand=owner + 1)
        for moment, owners in orders
        for second, owner in enumerate(owners)
    ]


def several(number: int, seconds: float) -> list[Case]:
    """Return cases of one hand, so many a moment, recorded within so many seconds."""
    return [
        case_of(moment, APART * moment, 4, seconds=each * seconds / number)
        for moment in range(MOMENTS[-1])
        for each in range(number)
    ]


COUNTED: dict[str, Any] = {  # how, and which share graduates in 25, 100 and 400 moments, in percent
    "overlapping hourly bets at 4 h": (partial(overlapping, horizon=4), (0, 3, 5)),
    "overlapping hourly bets at 24 h": (partial(overlapping, horizon=24), (0, 0, 2)),
    "eight correlated assets": (
        lambda random: apart(random, several(ASSETS, seconds=50), correlation=0.8),
        (3, 5, 5),
    ),
    "eight owners, two hands": (lambda random: apart(random, one_method_of_all(random)), (1, 3, 3)),
    "twelve cases in one second": (lambda random: apart(random, several(AT_ONCE, seconds=1)), (2, 4, 5)),
}


def graduations(random: np.random.Generator, make: Any) -> Any:
    """Return which share of the runs graduates within so many moments: by each case, and with one bet once."""
    cases, outcomes = make(random)
    moments, hands = (np.array([getattr(case, fact) for case in cases]) for fact in ("moment", "hand"))
    blocks = count_once(cases)
    firsts = [members[0] for members in blocks]
    once = np.stack([first_clear(outcomes[:, members]) for members in blocks], axis=1)
    passes = graduates(once, hands[firsts])
    check_with_rule(once[0], hands[firsts], passes[0])
    return within(graduates(outcomes, np.zeros(len(cases))), moments), within(passes, moments[firsts])


def test_counts_one_bet_once(capsys):
    random, runs = np.random.default_rng(SEEDS[0]), LAYOUTS * RUNS
    found = {
        name: np.mean([graduations(random, make) for _ in range(LAYOUTS)], axis=0)
        for name, (make, _) in COUNTED.items()
    }
    with capsys.disabled():
        print(f"\nGraduated without skill in {MOMENTS} moments, % of {runs} runs, seed {SEEDS[0]}")
        print(f"{'':34}{'by each case':>21}{'one bet once':>24}")
        for name, (before, after) in found.items():
            print(f"{name:34}{''.join(map(percent, before))}   {''.join(map(percent, after))}")
    too_often = {
        (name, most): share
        for name, (_, after) in found.items()
        for most, share, figure in zip(MOMENTS, after.tolist(), COUNTED[name][1], strict=True)
        if share > above(figure / 100, runs)
    }
    assert too_often == {}


def first_clear(outcomes: Array) -> Array:
    """Return the first outcome that is clear, by run; 0 without one."""
    first = np.argmax(outcomes != 0, axis=1)
    return np.take_along_axis(outcomes, first[:, None], axis=1)[:, 0]


def above(share: float, runs: int) -> float:
    """Return a share with what a simulation of so many runs may add by chance."""
    return share + 3 * sqrt(share * (1 - share) / runs)
