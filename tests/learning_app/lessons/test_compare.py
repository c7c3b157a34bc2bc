"""Whether one revision earns more than another: figures against SciPy, evidence against paths without an effect."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings as hypothesis_settings, strategies as st
from scipy import stats

from learning_app.lessons.core.compare import (
    PROVEN,
    Finding,
    Result,
    compare,
    mean_interval,
    split_by_turns,
    summarise,
    weigh_evidence,
)
from tests.kit.clock import NOON

A, B = "a" * 16, "b" * 16
HOUR = timedelta(hours=1)
BETS = [0.1, 0.2, 0.3, 0.45, 0.6, 0.8]


def trade(lessons: str, net: float, *, at: datetime = NOON, hours: float = 0.5, **fields: Any) -> Result:
    """Return a closed trade."""
    defaults = {"next_lessons": lessons, "opened_at": at, "closed_at": at + hours * HOUR, "net": net}
    return Result(lessons=lessons, **(defaults | fields))


def turns(first: Sequence[float], second: Sequence[float], **fields: Any) -> list[Result]:
    """Return trades of A and B in turns, one an hour."""
    pairs = zip(first, second, strict=True)
    nets = [each for pair in pairs for each in zip((A, B), pair, strict=True)]
    return [
        trade(lessons, net, at=NOON + place * HOUR, takes_turns=True, **fields)
        for place, (lessons, net) in enumerate(nets)
    ]


def plain_evidence(differences: Sequence[float]) -> tuple[float, int]:
    """Return the same as the product by twelve plain products."""
    wealth = {(bet, way): 1.0 for bet in BETS for way in (1, -1)}
    best, sign = 1.0, 1
    for place, difference in enumerate(differences):
        past = [abs(each) for each in differences[:place]]
        if sum(past):
            score = difference / (3 * sum(past) / len(past))
            score = -1 if score < -1 else min(score, 1)
            for bet, way in wealth:
                wealth[bet, way] *= 1 + way * bet * score
            e = sum(wealth.values()) / 12
            if e > best:
                ahead = sum(wealth[bet, 1] for bet in BETS) > sum(wealth[bet, -1] for bet in BETS)
                best, sign = e, 1 if ahead else -1
    return best, sign


def share_of_verdicts(seed: int, *, paths: int, pairs: int, effect: float) -> float:
    """Return in how many paths A is said to earn more or less; P&L has fat tails, `effect` is in its sd."""
    generator, found = np.random.default_rng(seed), 0
    for _path in range(paths):
        pnl = generator.standard_t(4, (2, pairs)) / np.sqrt(2)
        e, sign = weigh_evidence(list(pnl[0] + effect - pnl[1]))
        found += e >= PROVEN and (sign > 0 or not effect)
    return found / paths


class TestFigures:
    """What is said of one revision."""

    def test_equal_those_of_scipy(self):
        values = np.random.default_rng(3).standard_t(4, 80) * 20 + 4
        arm = summarise([trade(A, float(value)) for value in values])[A]
        expected = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=9_999, rng=1)
        low, high = expected.confidence_interval
        assert arm.interval == pytest.approx((low, high), abs=(high - low) * 0.05)
        assert (arm.count, arm.mean, arm.median) == (80, pytest.approx(values.mean()), pytest.approx(np.median(values)))
        assert arm.won_pct == pytest.approx(100 * np.mean(values > 0))

    def test_are_the_same_each_time(self):
        values = np.random.default_rng(4).normal(size=33)
        assert mean_interval(values) == mean_interval(values.copy())

    def test_are_none_below_20_trades(self):
        arms = summarise([*(trade(A, 1) for _each in range(20)), *(trade(B, 1) for _each in range(19))])
        assert (arms[A].is_enough, arms[B].is_enough) == (True, False)

    def test_part_by_lessons_and_by_regime(self):
        arms = summarise([trade(A, 3, regime="chop_hivol"), trade(A, 1), trade(A, -5), trade("", 7)])
        assert [(each.regime, each.count, each.mean) for each in arms[A].regimes] == [
            (None, 2, -2),
            ("chop_hivol", 1, 3),
        ]
        assert arms[""].mean == 7


class TestTurns:
    """Which trades are in no revision's figures."""

    def test_a_trade_that_was_open_while_the_turn_changed_is_apart(self):
        long = trade(A, 1, at=NOON, hours=5, takes_turns=True, next_lessons=B)
        changes = trade(B, 2, at=NOON + HOUR, takes_turns=True, next_lessons=A)
        kept, apart = split_by_turns([long, changes])
        assert (kept, apart) == ([changes], [long]), "what changed the turn by its own opening is not apart for that"

    def test_an_opening_that_leaves_the_turn_as_it_is_parts_nothing(self):
        long = trade(A, 1, at=NOON, hours=5, takes_turns=True, next_lessons=B)
        stays = trade(B, 2, at=NOON + HOUR, takes_turns=True, next_lessons=B)
        assert split_by_turns([long, stays])[1] == []

    def test_a_change_at_the_tick_that_closes_is_none_while_it_was_open(self):
        first = trade(A, 1, at=NOON, hours=1, takes_turns=True, next_lessons=B)
        second = trade(B, 2, at=NOON + HOUR, takes_turns=True, next_lessons=A)
        assert split_by_turns([first, second])[1] == []

    def test_an_open_trade_changes_the_turn_and_counts_nowhere(self):
        long = trade(A, 1, at=NOON, hours=5, takes_turns=True, next_lessons=B)
        running = trade(B, 0, at=NOON + HOUR, closed_at=None, takes_turns=True, next_lessons=A)
        assert split_by_turns([long, running]) == ([], [long])

    def test_revisions_that_followed_each_other_part_nothing(self):
        followed = [trade(A, 1, hours=5, next_lessons=B), trade(B, 2, at=NOON + HOUR)]
        assert split_by_turns(followed)[1] == []

    def test_they_stand_in_the_order_in_which_they_closed(self):
        late, early = trade(A, 1, hours=3), trade(A, 2, at=NOON + HOUR, hours=1)
        assert split_by_turns([late, early])[0] == [early, late]


class TestEvidence:
    """The e-process."""

    @given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda x: round(x, 2)), max_size=60))
    @hypothesis_settings(max_examples=60, deadline=None)
    def test_equals_twelve_plain_products(self, differences):
        e, sign = weigh_evidence(differences)
        expected, way = plain_evidence(differences)
        assert e == pytest.approx(expected)
        assert sign == way or expected == pytest.approx(1)

    def test_says_nothing_of_nothing(self):
        assert weigh_evidence([]) == (1.0, 1)
        assert weigh_evidence([0.0] * 50) == (1.0, 1)

    def test_seldom_cries_wolf(self):
        assert share_of_verdicts(11, paths=300, pairs=500, effect=0) <= 0.05

    def test_finds_an_effect_of_three_tenths_within_300_pairs(self):
        assert share_of_verdicts(12, paths=150, pairs=300, effect=0.3) >= 0.7

    @pytest.mark.soak
    def test_holds_on_many_paths(self):
        found = {seed: share_of_verdicts(seed, paths=1_000, pairs=500, effect=0) for seed in (1, 2, 3)}
        print(found)
        assert max(found.values()) <= 0.05


class TestVerdict:
    """What a page may say."""

    def test_names_the_better_one_either_way(self):
        generator = np.random.default_rng(5)
        high, low = generator.normal(1, 1, 200), generator.normal(0, 1, 200)
        for arms, better in ((turns(high, low), A), (turns(low, high), B)):
            verdict = compare(arms, newest=A, before=B, take_turns=True)
            assert (verdict.finding, verdict.better, verdict.pairs) == (Finding.BETTER, better, 200)
            assert verdict.e >= PROVEN

    def test_says_that_there_is_too_little_below_20_pairs(self):
        for pairs, finding in ((19, Finding.TOO_FEW), (20, Finding.OPEN)):
            arms = turns([9.0 + place % 3 for place in range(pairs)], [0.0] * pairs)
            verdict = compare(arms, newest=A, before=B, take_turns=True)
            assert (verdict.finding, verdict.pairs) == (finding, pairs)

    def test_is_in_r_where_every_trade_of_both_has_a_stop(self):
        arms = turns([1.0] * 20, [2.0] * 20, in_r=0.5)
        assert compare(arms, newest=A, before=B, take_turns=True).is_in_r
        arms[-1] = trade(B, 2.0, takes_turns=True)
        assert not compare(arms, newest=A, before=B, take_turns=True).is_in_r

    def test_needs_two_revisions_that_differ(self):
        arms = turns([1.0] * 30, [2.0] * 30)
        for before in (None, A):
            verdict = compare(arms, newest=A, before=before, take_turns=True)
            assert verdict.finding is Finding.NOTHING_TO_COMPARE

    def test_counts_no_trade_from_before_they_took_turns(self):
        earlier = [trade(B, 50.0, at=NOON - place * HOUR) for place in range(1, 80)]
        verdict = compare([*earlier, *turns([0.0] * 25, [0.0] * 25)], newest=A, before=B, take_turns=True)
        assert (verdict.finding, verdict.pairs) == (Finding.OPEN, 25)

    def test_is_none_where_one_followed_the_other_whatever_the_market_did(self):
        generator = np.random.default_rng(6)
        would_be = 0
        for _path in range(40):
            drift = np.repeat(generator.normal(0, 1, 10), 50)
            pnl = generator.normal(size=500) + drift
            arms = [
                trade(A if place >= 250 else B, float(net), at=NOON + place * HOUR) for place, net in enumerate(pnl)
            ]
            verdict = compare(arms, newest=A, before=B, take_turns=False)
            assert (verdict.finding, verdict.better) == (Finding.FOLLOWED, "")
            would_be += weigh_evidence(list(pnl[250:] - pnl[:250]))[0] >= PROVEN
        assert would_be >= 15, "the test would have called it in many of them"
