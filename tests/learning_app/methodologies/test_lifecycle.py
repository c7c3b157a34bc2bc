"""The trust ladder and Wilson's bound, each against another computation (trust R-17, R-18)."""

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binomtest, norm

from learning_app.methodologies.core.lifecycle import (
    Trust,
    TrustRules,
    ask_rule,
    count,
    count_missing,
    replay,
    should_demote,
)
from learning_app.methodologies.core.wilson import wilson_interval, wilson_lower_bound
from learning_app.vocabulary import LifecycleKind, QuarantinedBy
from tests.kit.tables import table

RULES = TrustRules(0.55, 10, 0.40, 20)
LEVEL = norm.cdf(1.96)


def low(correct, used):
    """Return the lower bound as scipy computes it."""
    return binomtest(correct, used, alternative="greater").proportion_ci(LEVEL, "wilson").low


def test_ten_thousand_bounds_are_those_of_scipy():
    drawn = random.Random(17)
    pairs = [(drawn.randint(0, used), used) for used in (drawn.randint(1, 5_000) for _ in range(10_000))]
    assert max(abs(wilson_lower_bound(*pair) - low(*pair)) for pair in pairs) < 1e-9


def test_a_bound_rises_with_what_was_right_and_few_uses_prove_little():
    for used in (1, 2, 19, 20, 400):
        bounds = [wilson_lower_bound(correct, used) for correct in range(used + 1)]
        assert bounds == sorted(set(bounds))
        for correct, bound in enumerate(bounds):
            assert 0 <= bound <= correct / used <= wilson_interval(correct, used)[1] + 1e-12
    assert wilson_lower_bound(1, 1) < wilson_lower_bound(15, 30)
    assert wilson_interval(0, 0) == (0, 1)


STEPS = st.lists(st.sampled_from([True, True, True, False, "release", *QuarantinedBy]), max_size=50)


def check_path(steps):
    """Walk the ladder: quarantine ends by both conditions or by a release at the bar, and begins by loss or a person."""
    trust = Trust(0, 0, quarantine=True)
    for step in steps:
        if step == "release":  # by an operator: services ask `is_at_bar` first
            at_bar = trust.times_used >= 10 and low(trust.times_correct, trust.times_used) >= 0.55
            assert trust.is_at_bar(RULES) == at_bar
            trust = Trust(trust.times_used, trust.times_correct, quarantine=trust.quarantine and not at_bar)
        elif isinstance(step, str):
            by = QuarantinedBy(step)
            trust = replace(trust, quarantine=True, quarantined_by=by) if by else trust
        else:
            trust = check_outcome(trust, correct=step)


def check_outcome(before, *, correct):
    after, change = ask_rule(count(before, correct=correct), RULES)
    assert (after.times_used, after.times_correct) == (before.times_used + 1, before.times_correct + correct)
    assert count(count(before, correct=correct), correct=correct, is_reversed=True) == before
    bound = low(after.times_correct, after.times_used)
    is_by_rule = before.quarantined_by in {QuarantinedBy.RULE, QuarantinedBy.JUDGE}
    graduates = before.quarantine and is_by_rule and after.times_used >= 10 and bound >= 0.55
    assert after.quarantined_by == (QuarantinedBy.RULE if graduates else before.quarantined_by)
    falls = not before.quarantine and after.times_used >= 20 and bound < 0.40
    assert after.quarantine == ((before.quarantine and not graduates) or falls)
    assert change == (LifecycleKind.GRADUATED if graduates else LifecycleKind.DEMOTED if falls else None)
    assert not should_demote(after, RULES)
    return after


@settings(max_examples=50)
@given(STEPS)
def test_the_ladder_has_no_other_way(steps):
    check_path(steps)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(STEPS)
def test_two_thousand_paths_know_no_other_way(steps):
    check_path(steps)


def test_both_conditions_one_step_before_and_at_them():
    def after(used, correct, *, quarantine):
        return ask_rule(count(Trust(used, correct, quarantine), correct=True), RULES)[1]

    assert after(8, 8, quarantine=True) is None, "nine uses"
    assert after(9, 9, quarantine=True) == LifecycleKind.GRADUATED
    assert wilson_lower_bound(8, 10) < 0.55
    assert after(9, 7, quarantine=True) is None, "ten uses, the bound below"
    assert after(18, 1, quarantine=False) is None, "nineteen uses"
    assert after(19, 1, quarantine=False) == LifecycleKind.DEMOTED
    assert wilson_lower_bound(12, 20) < 0.40 < wilson_lower_bound(13, 20)
    assert after(19, 11, quarantine=False) == LifecycleKind.DEMOTED
    assert after(19, 12, quarantine=False) is None


def test_counts_the_least_number_of_right_outcomes_that_bring_it_to_the_bar():
    wanted = {(0, 0): 10, (9, 9): 1, (10, 10): 0, (6, 7): 3, (3, 27): 45, (100, 100): 0, (0, 100): 157}
    assert {pair: count_missing(Trust(pair[1], pair[0], quarantine=True), RULES) for pair in wanted} == wanted
    for (correct, used), missing in wanted.items():
        later = [Trust(used + more, correct + more, quarantine=True).is_at_bar(RULES) for more in range(missing + 1)]
        assert later == [False] * missing + [True]
    assert count_missing(Trust(5, 5, quarantine=True), replace(RULES, injection_threshold=1.0)) is None


@table(
    ("hands", "change"),
    [
        ([(10, 10), (1, 1), (1, 1)], None),  # three owners, one of whom has nearly all
        ([(4, 4), (4, 4), (4, 4)], None),  # less one 8 uses stay
        ([(5, 5), (5, 5), (5, 5)], LifecycleKind.GRADUATED),
        ([(0, 0), (30, 24)], None),
        ([(20, 10), (30, 26)], None),  # less the good one 20 uses at a bound of .30 stay
        ([(20, 15), (30, 26)], LifecycleKind.GRADUATED),  # .53 stay, short of the full bar
    ],
)
def test_a_graduation_holds_without_any_single_owner(hands, change):
    used, right = (sum(values) for values in zip(*hands, strict=True))
    trust = Trust(used, right, quarantine=True, hands=tuple(hands))
    assert ask_rule(trust, RULES)[1] == change
    assert ask_rule(replace(trust, hands=()), RULES)[1] == LifecycleKind.GRADUATED


def test_one_owner_alone_demotes_nothing():
    trust = Trust(45, 16, quarantine=False, hands=((25, 3),))
    assert ask_rule(trust, RULES) == (trust, None), "without that owner 13 of 20 are right"
    assert ask_rule(replace(trust, hands=()), RULES)[1] == LifecycleKind.DEMOTED
    assert ask_rule(replace(trust, times_correct=15), RULES)[1] == LifecycleKind.DEMOTED, "12 of 20 stay"


def test_events_add_up_from_the_last_beginning_on():
    def event(kind, used=None, right=None, **details):
        return SimpleNamespace(kind=kind, times_used=used, times_correct=right, details=details)

    def outcome(correct, **more):
        return event(LifecycleKind.OUTCOME_RECORDED, correct=correct, **more)

    story = [event(LifecycleKind.CREATED, 0, 0), outcome(correct=True), outcome(correct=False)]
    assert replay(story) == (2, 1)
    assert replay([*story, outcome(correct=True, reverses=1)]) == (1, 0)
    assert replay([*story, event(LifecycleKind.IMPORTED, 7, 5), outcome(correct=True)]) == (8, 6)
    assert replay([*story, event(LifecycleKind.REWORDED, 0, 0), outcome(correct=True)]) == (1, 1)
