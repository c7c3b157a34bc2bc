"""What no decider can override, tried with every kind on every pair."""

from dataclasses import replace
from datetime import UTC, datetime

from memory_app.facts.core.decision import Decision, DecisionKind, Pair, Problem, Side, find_problem, retired_by
from tests.kit.tables import table

OLDER = Side(1, "prefers weekly charts", "agent_recorded", datetime(2026, 1, 1, tzinfo=UTC), True, False)
NEWER = replace(OLDER, id=2, content="prefers daily charts")
PAIR = Pair(OLDER, NEWER)


@table("kind", DecisionKind)
def test_lets_an_honest_decision_through(kind):
    assert find_problem(Decision(kind, 1, 2), PAIR) is None


@table("kind", ["", "delete", "SUPERSEDE", "retire both"])
def test_refuses_a_kind_that_nobody_knows(kind):
    assert find_problem(Decision(kind, 1, 2), PAIR) is Problem.UNKNOWN_KIND


@table("ids", [(1, 3), (3, 2), (2, 1), (1, 1)])
def test_refuses_facts_outside_the_pair(ids):
    assert find_problem(Decision("supersede", *ids), PAIR) is Problem.OUTSIDE_THE_PAIR


@table("kind", DecisionKind)
def test_refuses_what_is_not_settled(kind):
    assert find_problem(Decision(kind, 1, 2), Pair(replace(OLDER, is_settled=False), NEWER)) is Problem.NOT_SETTLED
    assert find_problem(Decision(kind, 1, 2), Pair(OLDER, replace(NEWER, is_settled=False))) is Problem.NOT_SETTLED


@table("kind", DecisionKind)
def test_never_retires_what_a_user_typed(kind):
    pair = Pair(replace(OLDER, is_protected=True), replace(NEWER, is_protected=True))
    decision = Decision(kind, 1, 2)
    assert (find_problem(decision, pair) is Problem.PROTECTED) == (retired_by(decision, pair) is not None)
