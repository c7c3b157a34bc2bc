"""States of rows, and where a row goes when changes to it are undone. Pure."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

State = Mapping[str, Any]
TEXT_VERSION = "text_version"
"""The column that says by number which words a row says, for kinds whose earlier words are kept here."""


@dataclass(frozen=True, slots=True)
class Step:
    """A row of a plan, or of a set: it reads `before` and goes to `after`."""

    kind: str
    key: str
    row: Any
    owner_id: int | None
    before: State
    after: State


@dataclass(frozen=True, slots=True)
class Stay:
    """A row of a plan that stays as it is: why, and the set of the act that changed it last, where known."""

    kind: str
    key: str
    row: Any
    reason: Any
    since: Any


@dataclass(frozen=True)
class Plan:
    """What an undo would do at a moment: `steps` in the order in which rows are locked, kind by kind.

    `follows` are further changes that these bring, as kind and key. `has_others` says that the same acts changed rows
    of owners whom the asking one does not reach.
    """

    at: datetime
    has_others: bool = False
    steps: list[Step] = field(default_factory=list)
    stays: list[Stay] = field(default_factory=list)
    follows: list[tuple[str, str]] = field(default_factory=list)

    @cached_property
    def sha256(self) -> str:
        """Return the hash that stands for this plan, whoever carries it out and when, as 64 hex digits.

        What a row of it reads, and where it goes, is known by its sets: one that reads otherwise stays.
        """
        steps = [(step.kind, step.key) for step in self.steps]
        stays = [(stay.kind, stay.key, stay.reason) for stay in self.stays]
        return hashlib.sha256(repr([steps, stays, self.follows]).encode()).hexdigest()


def is_same_state(state: State, other: State, beside: Collection[str]) -> bool:
    """Say whether two states say the same in the columns that both know, but for those `beside`."""
    return all(state[name] == other[name] for name in state.keys() & other.keys() - set(beside))


def undo_changes(state: State, changes: Iterable[tuple[State, State]], beside: Collection[str]) -> State:
    """Return where a row goes whose changes, newest first as before and after, are undone as far as they fit.

    A column `beside` goes back where it reads what the change left, and is never in the way.
    """
    for before, after in changes:
        if not is_same_state(state, after, beside):
            break
        kept = {name: state[name] for name in beside if state.get(name) != after.get(name)}
        state = {**state, **before, **kept}
    return state
