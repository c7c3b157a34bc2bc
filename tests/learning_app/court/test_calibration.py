"""How often the court and the sources' rule are wrong, on markets with a known truth. Source: the table of court.md.

Every price is a random walk; a call is right when the price goes its way within its window. `make soak` prints what was
measured. Errors of the simulation itself: three standard deviations are allowed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from learning_app.court.core import (
    add_block,
    beats_chance,
    block_of,
    is_decaying,
    log_evidence,
    new_state,
    shrink_base_rate,
    surviving,
)
from learning_app.methodologies.core.evidence import e_value

pytestmark = pytest.mark.soak

RUNS, CALLS, PAST_WINDOWS, MAX_WINDOWS = 2_000, 200, 500, 1_000
RISING = 0.58
"""How often the price is higher at the end of a window, in a market that rises."""

Array = Any
SHRINK = np.vectorize(shrink_base_rate)


@dataclass(frozen=True)
class World:
    """Calls in order: when each starts and ends, and for every run whether it was right, and its base rate."""

    spans: list[tuple[int, int]]
    right: Array
    base: Array


def make_world(
    random: np.random.Generator,
    directions: Callable[[np.random.Generator, int], Array],
    *,
    up: float = 0.5,
    skill: float | None = None,
    window: int = 1,
    assets: int = 1,
    correlation: float = 0.0,
) -> World:
    """Simulate calls on every bar and asset; with `skill` a call knows the outcome that often, whatever its direction."""
    bars, past = CALLS // assets, PAST_WINDOWS * window
    steps = random.standard_normal((RUNS, assets, past + bars + window), dtype=np.float32)
    common = random.standard_normal((RUNS, 1, past + bars + window), dtype=np.float32)
    steps = sqrt(correlation) * common + sqrt(1 - correlation) * steps + NormalDist().inv_cdf(up) / sqrt(window)
    prices = np.concatenate([np.zeros((RUNS, assets, 1)), np.cumsum(steps, axis=2, dtype=np.float64)], axis=2)
    is_up = prices[:, :, window:] > prices[:, :, :-window]  # by the bar in which a window starts
    spans, right, base = [], [], []
    sides = directions(random, bars)
    for bar in range(bars):
        start = past + bar
        closed = is_up[:, :, start - window :: -window][:, :, :MAX_WINDOWS]
        for asset in range(assets):
            went, side = is_up[:, asset, start], sides[:, bar]
            if skill is not None:
                side = np.where(random.random(RUNS) < skill, went, ~went)
            ups, count = closed[:, asset].sum(axis=1), closed.shape[2]
            spans.append((bar, bar + window))
            right.append(went == side)
            base.append(SHRINK(np.where(side, ups, count - ups), count))
    return World(spans, np.array(right).T, np.array(base).T)


def by_chance(long: float = 0.5, held_bars: int = 1) -> Callable[[np.random.Generator, int], Array]:
    """Choose a direction at random, and keep it for so many bars."""
    return lambda random, bars: np.repeat(random.random((RUNS, bars // held_bars + 1)) < long, held_bars, axis=1)


def graduates(right: Array) -> Array:
    """Say for every run whether the sources' rule ever graduates it: Wilson's lower bound, looked at after every outcome."""
    n, z = np.arange(1, right.shape[1] + 1), 1.96
    share = np.cumsum(right, axis=1) / n
    bound = (share + z * z / (2 * n) - z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)
    return ((bound >= 0.55) & (n >= 10)).any(axis=1)


def judge(world: World) -> tuple[Array, Array]:
    """Return for every run whether the court says that it beats chance, and its E at the end."""
    blocks: dict[int, list[int]] = {}
    spans: list[Any] = []
    for number, (at, ends_at) in enumerate(world.spans):
        if block_of(at, ends_at, spans[-1:]) is not None:  # type: ignore[arg-type]
            spans.append((at, ends_at))
            blocks.setdefault(at, []).append(number)
    scores = np.stack([world.right[:, each].mean(axis=1) for each in blocks.values()], axis=1)
    rates = np.stack([world.base[:, each].mean(axis=1) for each in blocks.values()], axis=1)
    states = []
    for run in zip(scores.tolist(), rates.tolist(), strict=True):
        state = new_state()
        for score, rate in zip(*run, strict=True):
            state = add_block(state, score=score, base_rate=rate)
        states.append(state)
    return np.array([beats_chance(each) for each in states]), np.array([e_value(log_evidence(each)) for each in states])


FALSE: dict[str, Any] = {
    "fair coin, independent calls": (by_chance(), {}),
    "random calls, 3 of 4 long, rising market": (by_chance(long=0.75), {"up": RISING}),
    "always long, rising market": (by_chance(long=1), {"up": RISING}),
    "the same bet on each bar of its window": (by_chance(held_bars=24), {"window": 24}),
    "one bet on eight correlated assets": (by_chance(), {"assets": 8, "correlation": 0.8}),
}
GOOD: dict[str, Any] = {f"really good, {skill}": (by_chance(), {"skill": skill}) for skill in (0.65, 0.70, 0.75)}


def above(share: float, runs: int) -> float:
    """Return a share with what a simulation of so many runs may add by chance."""
    return share + 3 * sqrt(share * (1 - share) / runs)


def test_court_is_wrong_as_rarely_as_it_says(capsys):
    random = np.random.default_rng(18)
    rules, marks, evidence = {}, {}, {}
    for name, (directions, market) in (FALSE | GOOD).items():
        world = make_world(random, directions, **market)
        rules[name], (marks[name], evidence[name]) = graduates(world.right), judge(world)
    stores = [false_shares(random, rules, marks, evidence) for _ in range(200)]
    by_rule, by_court, by_store, kept = np.sum(stores, axis=0)
    lines = [f"{name:44}{100 * rules[name].mean():8.1f}{100 * marks[name].mean():8.1f}" for name in rules]
    lines.append(f"{'mixed store: false among graduated':44}{100 * ratio(by_rule):8.1f}{100 * ratio(by_court):8.1f}")
    lines.append(f"{'mixed store: false among surviving (e-BH)':44}{'':8}{100 * ratio(by_store):8.1f}")
    lines.append(f"{'mixed store: really good ones that survive':44}{'':8}{100 * ratio(kept):8.1f}")
    with capsys.disabled():
        print(f"\n{f'% of {RUNS} runs':44}{'rule':>8}{'court':>8}", *lines, sep="\n")
    assert {name: marks[name].mean() for name in FALSE if marks[name].mean() > above(0.05, RUNS)} == {}
    assert {name: marks[name].mean() for name in GOOD if marks[name].mean() < 1 - above(0.10, RUNS)} == {}
    assert ratio(by_rule) > 0.4
    assert ratio(by_store) < ratio(by_court) < 0.10


def false_shares(
    random: np.random.Generator,
    rules: Any,
    marks: Any,
    evidence: Any,
    size: int = 120,
) -> Array:
    """Draw a store, one in four really good; return false and all of: graduated, beating chance, surviving; missed, good."""
    good = random.random(size) < 0.25
    names = np.where(good, random.choice(list(GOOD), size), random.choice(list(FALSE), size))
    runs = list(zip(names.tolist(), random.integers(RUNS, size=size).tolist(), strict=True))
    kept = surviving({number: float(evidence[name][run]) for number, (name, run) in enumerate(runs)})
    survives = np.isin(np.arange(size), list(kept))
    chosen = [np.array([table[name][run] for name, run in runs]) for table in (rules, marks)]
    shares = [((each & ~good).sum(), each.sum()) for each in (*chosen, survives)]
    return np.array([*shares, ((survives & good).sum(), good.sum())])


def ratio(pair: Array) -> float:
    return float(pair[0] / pair[1])


def uses_until_warned(random: np.random.Generator, rates: Array) -> int | None:
    state = new_state()
    for number, right in enumerate((random.random(len(rates)) < rates).tolist()):
        state = add_block(state, score=right, base_rate=0.5)
        if is_decaying(state):
            return number
    return None


def test_decay_to_a_coin_is_noticed_and_a_steady_method_rarely_warned_of(capsys):
    random, runs = np.random.default_rng(18), 1_000
    falls = np.repeat([0.65, 0.50], [200, 500])
    warned = [uses_until_warned(random, falls) for _ in range(runs)]
    noticed = [at - 200 for at in warned if at is not None and at >= 200]
    stable = np.mean([uses_until_warned(random, np.full(700, 0.65)) is not None for _ in range(runs)])
    share, median = len(noticed) / runs, np.median(noticed)
    with capsys.disabled():
        print(f"\ndecay from .65 to a coin: noticed within 500 uses {share:.1%}, median {median:.0f} uses")
        print(f"a steady .65 over 700 uses: warned of {stable:.1%}")
    assert share >= 0.85
    assert stable <= 0.02
