"""Whether one revision of the lessons earns more per trade than another. Source: court.md (Lessons, A against B). Pure.

A verdict needs revisions that took turns: where one only followed the other in time, a change of the market looks
like a better lesson, and every test is wrong in most cases.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import numpy as np

MIN_TRADES, SEED, RESAMPLES, AT_ONCE = 20, 45, 5_000, 100
BETS, CLIP, PROVEN = np.array((0.1, 0.2, 0.3, 0.45, 0.6, 0.8)), 3.0, 20.0


@dataclass(frozen=True, slots=True)
class Result:
    """A trade and the lessons that stood before the agent when it opened, empty for none.

    `next_lessons` are those that stood in the answer to its opening. `net` is its P&L after fees in USD, `in_r` the
    same in units of what its stop risked, None without a stop. `takes_turns` says that two revisions took turns by
    then. One without `closed_at` is open.
    """

    lessons: str
    next_lessons: str
    opened_at: datetime
    closed_at: datetime | None
    net: float
    in_r: float | None = None
    regime: str | None = None
    takes_turns: bool = False


@dataclass(frozen=True, slots=True)
class RegimeMean:
    """The closed trades of one regime; None is not classified."""

    regime: str | None
    count: int
    mean: float


@dataclass(frozen=True, slots=True)
class Arm:
    """The closed trades under one revision. `interval` is that of the mean, `won_pct` of 0 to 100."""

    lessons: str
    count: int
    mean: float
    median: float
    won_pct: float
    interval: tuple[float, float]
    regimes: Sequence[RegimeMean]

    @property
    def is_enough(self) -> bool:
        """Whether there are enough of them to say anything."""
        return self.count >= MIN_TRADES


class Finding(StrEnum):
    """What can be said of two revisions."""

    NOTHING_TO_COMPARE = "nothing_to_compare"
    FOLLOWED = "followed"
    TOO_FEW = "too_few"
    OPEN = "open"
    BETTER = "better"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found after so many `pairs`, with the evidence `e`; `better` names the lessons that earn more."""

    finding: Finding
    pairs: int = 0
    e: float = 1.0
    better: str = ""
    is_in_r: bool = False


def split_by_turns(results: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    """Return the closed trades in the order in which they closed, and apart those that were open at a change of turns.

    The turn changes at an opening; the trade that it opens is not apart for that.
    """
    changes = sorted(each.opened_at for each in results if each.takes_turns and each.next_lessons != each.lessons)
    kept: list[Result] = []
    apart: list[Result] = []
    for result in results:
        if result.closed_at is not None:
            met = bisect_right(changes, result.opened_at) < bisect_left(changes, result.closed_at)
            (apart if met else kept).append(result)
    return sorted(kept, key=closing), sorted(apart, key=closing)


def closing(result: Result) -> datetime:
    """Return when a closed trade closed."""
    return result.closed_at or result.opened_at


def summarise(results: Sequence[Result]) -> dict[str, Arm]:
    """Return the closed trades by the lessons that they were made under."""
    by_lessons: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_lessons[result.lessons].append(result)
    return {lessons: summarise_arm(lessons, found) for lessons, found in by_lessons.items()}


def summarise_arm(lessons: str, results: Sequence[Result]) -> Arm:
    """Return what trades under one revision came to; there is at least one."""
    values = np.array([each.net for each in results])
    regimes: defaultdict[str | None, list[float]] = defaultdict(list)
    for each in results:
        regimes[each.regime].append(each.net)
    means = [RegimeMean(regime, len(found), float(np.mean(found))) for regime, found in regimes.items()]
    return Arm(
        lessons,
        len(results),
        float(values.mean()),
        float(np.median(values)),
        100 * float((values > 0).mean()),
        mean_interval(values),
        sorted(means, key=lambda each: (-each.count, each.regime or "")),
    )


def mean_interval(values: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of the mean, by the bootstrap's percentiles; the same for the same values."""
    generator, count = np.random.default_rng(SEED), len(values)
    chosen = (generator.integers(0, count, (AT_ONCE, count)) for _each in range(RESAMPLES // AT_ONCE))
    means = np.concatenate([values[places].mean(axis=1) for places in chosen])
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)


def weigh_evidence(differences: Sequence[float]) -> tuple[float, int]:
    """Return the largest E against "no difference", and its sign: 1 where the differences are above 0, else -1.

    Each bet goes both ways on the difference as a share of three mean absolute ones of the past, clipped at one.
    """
    up, down = np.ones_like(BETS), np.ones_like(BETS)
    past, best, sign = 0.0, 1.0, 1
    for number, difference in enumerate(differences):
        if past:
            score = max(-1.0, min(1.0, difference * number / (CLIP * past)))
            up, down = up * (1 + BETS * score), down * (1 - BETS * score)
            e = float(up.mean() + down.mean()) / 2
            if e > best:
                best, sign = e, 1 if up.sum() > down.sum() else -1
        past += abs(difference)
    return best, sign


def compare(results: Sequence[Result], *, newest: str, before: str | None, take_turns: bool) -> Verdict:
    """Say whether the newest lessons or those before them earn more, by trades in the order in which they closed.

    `before` is None without an earlier revision. Pairs are the j-th trade under each since the two take turns.
    """
    if before is None or newest == before:
        return Verdict(Finding.NOTHING_TO_COMPARE)
    if not take_turns:
        return Verdict(Finding.FOLLOWED)
    turns = [each for each in results if each.takes_turns]
    arms = [[each for each in turns if each.lessons == lessons] for lessons in (newest, before)]
    is_in_r = all(each.in_r is not None for arm in arms for each in arm)
    values = [[(each.in_r or 0.0) if is_in_r else each.net for each in arm] for arm in arms]
    differences = [one - other for one, other in zip(*values, strict=False)]
    if len(differences) < MIN_TRADES:
        return Verdict(Finding.TOO_FEW, len(differences), is_in_r=is_in_r)
    e, sign = weigh_evidence(differences)
    if e < PROVEN:
        return Verdict(Finding.OPEN, len(differences), e, is_in_r=is_in_r)
    return Verdict(Finding.BETTER, len(differences), e, newest if sign > 0 else before, is_in_r)
