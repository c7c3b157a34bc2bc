"""The plan of a sweep over pending facts; every rule of it stands here. Source: S1 (general fact layer)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from memory_app.facts.core.states import EventKind


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact, or something that the owner stated. `is_protected`: the owner typed it, so nothing retires it."""

    id: int
    key: str
    created_at: datetime
    is_protected: bool

    @property
    def age(self) -> tuple[datetime, int]:
        """What the older of two has less of."""
        return self.created_at, self.id


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of a sweep: the fact settles, or it is retired because `other_id` says the same."""

    kind: EventKind
    fact_id: int
    other_id: int | None = None


def plan_sweep(pending: Iterable[Statement], standing: Iterable[Statement]) -> list[Step]:
    """Return what happens to pending facts, oldest first, beside the statements that stand: one step for each change.

    Each settles as it is processed, so that a later one meets it. Of two that say the same the older stays; what the
    owner typed always stays.
    """
    foremost: dict[str, Statement] = {}  # by key, what others give way to
    for each in standing:
        foremost[each.key] = primary_of(each, foremost.get(each.key))
    steps: list[Step] = []
    for fact in sorted(pending, key=lambda each: each.age):
        steps += steps_for(fact, foremost.get(fact.key))
        foremost[fact.key] = primary_of(fact, foremost.get(fact.key))
    return steps


def primary_of(one: Statement, other: Statement | None) -> Statement:
    """Return which of two the other gives way to: what the owner typed, else the older."""
    if other is None:
        return one
    return min(one, other, key=lambda each: (not each.is_protected, each.age))


def steps_for(fact: Statement, other: Statement | None) -> list[Step]:
    """Return what happens to a pending fact that meets a statement of its key, or none."""
    settles = Step(EventKind.SETTLED, fact.id)
    if other is None or (fact.is_protected and other.is_protected):
        return [settles]
    if primary_of(fact, other) is other:
        return [Step(EventKind.DEDUPLICATED, fact.id, other.id)]
    return [settles, Step(EventKind.DEDUPLICATED, other.id, fact.id)]  # it was written earlier and came later


def ids_of(steps: Iterable[Step], kind: EventKind) -> list[int]:
    """Return the facts of the steps of one kind."""
    return [step.fact_id for step in steps if step.kind is kind]
