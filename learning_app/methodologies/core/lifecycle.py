"""The lifecycle of a methodology: what an outcome does to it, and what its events add up to. Pure.

Sources: S2 (confidence bumping), decisions (Wilson), court.md (two hands).

Quarantine ends by the rule, by an operator's release at the bar, or by a signed import; nothing else lowers it. What
the rule changes for everybody holds without the outcomes of any single owner too.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from learning_app.methodologies.core.wilson import wilson_lower_bound
from learning_app.vocabulary import LifecycleKind, QuarantinedBy

MAX_MISSING = 1_000_000
INSTANCE_HAND = 0
"""Whose outcomes an operator recorded: the instance's own, which are never left out."""
LESS_ONE_USES, LESS_ONE_BOUND = 10, 0.50
"""What must stay of a methodology without the outcomes of any single owner, so that it may graduate."""
BY_RULE = frozenset({QuarantinedBy.RULE, QuarantinedBy.JUDGE})
"""Whose quarantine ends at an outcome that finds a methodology at the bar."""


BEGINNINGS = frozenset({LifecycleKind.CREATED, LifecycleKind.IMPORTED, LifecycleKind.REWORDED})


@dataclass(frozen=True, slots=True)
class TrustRules:
    """The four numbers of the settings: bounds in [0, 1], uses as counts."""

    injection_threshold: float
    min_uses: int
    demotion_threshold: float
    min_uses_before_demotion: int


@dataclass(frozen=True, slots=True)
class Trust:
    """How far a methodology got. `quarantined_by` is the rule's unless a person, the scan or the judge holds it.

    One that is not `may_graduate` stays in quarantine at the bar: the guard holds its text, or the court, enforced,
    sees that its skill is gone. `hands` are the uses, and how many of them were right, of each single owner without
    whom the rule has to hold too.
    """

    times_used: int
    times_correct: int
    quarantine: bool
    quarantined_by: QuarantinedBy = QuarantinedBy.RULE
    may_graduate: bool = True
    hands: tuple[tuple[int, int], ...] = ()

    @property
    def bound(self) -> float:
        """The Wilson lower bound of what it got right."""
        return wilson_lower_bound(self.times_correct, self.times_used)

    def is_at_bar(self, rules: TrustRules) -> bool:
        """Say whether it may leave quarantine."""
        return self.times_used >= rules.min_uses and self.bound >= rules.injection_threshold

    def less_each(self) -> list["Trust"]:
        """Return it without the outcomes of each single owner."""
        return [
            replace(self, times_used=self.times_used - used, times_correct=self.times_correct - right, hands=())
            for used, right in self.hands
        ]

    def may_stay(self, rules: TrustRules) -> bool:
        """Say whether it would stay in prompts if it were there."""
        return self.may_graduate and not should_demote(replace(self, quarantine=False), rules)


def count(trust: Trust, *, correct: bool, is_reversed: bool = False) -> Trust:
    """Return the trust after one more outcome, or without one that was counted."""
    sign = -1 if is_reversed else 1
    return replace(
        trust,
        times_used=trust.times_used + sign,
        times_correct=trust.times_correct + sign * correct,
    )


def ask_rule(trust: Trust, rules: TrustRules) -> tuple[Trust, LifecycleKind | None]:
    """Return the trust as the rule leaves it, and the change of state that this is, if any."""
    if trust.quarantine:
        if trust.quarantined_by in BY_RULE and trust.may_graduate and should_graduate(trust, rules):
            return replace(trust, quarantine=False, quarantined_by=QuarantinedBy.RULE), LifecycleKind.GRADUATED
        return trust, None
    if should_demote(trust, rules):
        return replace(trust, quarantine=True), LifecycleKind.DEMOTED
    return trust, None


def should_graduate(trust: Trust, rules: TrustRules) -> bool:
    """Say whether it is at the bar, and near it without any single owner."""
    return trust.is_at_bar(rules) and all(
        less.times_used >= LESS_ONE_USES and less.bound >= LESS_ONE_BOUND for less in trust.less_each()
    )


def should_demote(trust: Trust, rules: TrustRules) -> bool:
    """Say whether one that is in prompts lost too often, without any single owner too."""
    if trust.quarantine or not is_fallen(trust, rules):
        return False
    return all(is_fallen(less, rules) for less in trust.less_each())


def is_fallen(trust: Trust, rules: TrustRules) -> bool:
    """Say whether counters are below the demotion bar after enough uses."""
    return trust.times_used >= rules.min_uses_before_demotion and trust.bound < rules.demotion_threshold


def count_missing(trust: Trust, rules: TrustRules) -> int | None:
    """Return the least number of further right outcomes that bring it to the bar, 0 at the bar; None beyond a million.

    Each right outcome raises the bound, so the first number that does is the least.
    """

    def would_do(number: int) -> bool:
        later = replace(
            trust,
            times_used=trust.times_used + number,
            times_correct=trust.times_correct + number,
        )
        return later.is_at_bar(rules)

    missing = bisect_left(range(MAX_MISSING + 1), x=True, key=would_do)
    return missing if missing <= MAX_MISSING else None


def replay(events: Iterable[Any]) -> tuple[int, int]:
    """Return the uses, and how many of them were right, that lifecycle events add up to, the oldest first.

    A methodology begins with the counts that it was created or imported with, and anew when it is reworded. An outcome
    that `reverses` another takes that one's away.
    """
    used = correct = 0
    for event in events:
        if event.kind in BEGINNINGS:
            used, correct = event.times_used or 0, event.times_correct or 0
        elif event.kind == LifecycleKind.OUTCOME_RECORDED:
            sign = -1 if "reverses" in event.details else 1
            used, correct = used + sign, correct + sign * bool(event.details["correct"])
    return used, correct
