"""The lifecycle of a methodology: what an outcome does to it, and what its events add up to. Pure.

Sources: S2 (confidence bumping), decisions (Wilson).

Quarantine ends by the rule, by an operator's release at the bar, or by a signed import; nothing else lowers it.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from learning_app.methodologies.core.wilson import wilson_lower_bound
from learning_app.vocabulary import LifecycleKind, QuarantinedBy

MAX_MISSING = 1_000_000


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
    sees that its skill is gone.
    """

    times_used: int
    times_correct: int
    quarantine: bool
    quarantined_by: QuarantinedBy = QuarantinedBy.RULE
    may_graduate: bool = True

    @property
    def bound(self) -> float:
        """The Wilson lower bound of what it got right."""
        return wilson_lower_bound(self.times_correct, self.times_used)

    def is_at_bar(self, rules: TrustRules) -> bool:
        """Say whether it may leave quarantine."""
        return self.times_used >= rules.min_uses and self.bound >= rules.injection_threshold

    def may_stay(self, rules: TrustRules) -> bool:
        """Say whether it would stay in prompts if it were there."""
        return self.may_graduate and not should_demote(replace(self, quarantine=False), rules)


def after_outcome(
    trust: Trust,
    *,
    correct: bool,
    rules: TrustRules,
) -> tuple[Trust, LifecycleKind | None]:
    """Return the trust after one more outcome, and the change of state that it brought, if any."""
    counted = replace(
        trust,
        times_used=trust.times_used + 1,
        times_correct=trust.times_correct + correct,
    )
    if counted.quarantine:
        is_by_rule = counted.quarantined_by is QuarantinedBy.RULE and counted.may_graduate
        if is_by_rule and counted.is_at_bar(rules):
            return replace(counted, quarantine=False), LifecycleKind.GRADUATED
        return counted, None
    if should_demote(counted, rules):
        return replace(counted, quarantine=True), LifecycleKind.DEMOTED
    return counted, None


def should_demote(trust: Trust, rules: TrustRules) -> bool:
    """Say whether one that is in prompts lost too often."""
    is_proven = trust.times_used >= rules.min_uses_before_demotion
    return not trust.quarantine and is_proven and trust.bound < rules.demotion_threshold


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

    A methodology begins with the counts that it was created or imported with.
    """
    used = correct = 0
    for event in events:
        if event.kind in {LifecycleKind.CREATED, LifecycleKind.IMPORTED}:
            used, correct = event.times_used or 0, event.times_correct or 0
        elif event.kind == LifecycleKind.OUTCOME_RECORDED:
            used, correct = used + 1, correct + bool(event.details["correct"])
    return used, correct
