"""States of rows, and where a row goes when changes to it are undone. Pure."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

State = Mapping[str, Any]
TEXT_VERSION = "text_version"
"""The column that says by number which words a row says, for kinds whose earlier words are kept here."""


@dataclass(frozen=True, slots=True)
class Step:
    """A row of a plan: it reads `before` and goes to `after`; None is a row that is not there."""

    kind: str
    key: str
    owner_id: int | None
    before: State | None
    after: State | None


@dataclass(frozen=True, slots=True)
class Stay:
    """A row of a plan that stays as it is: why, and the set of the act that changed it last, where known."""

    kind: str
    key: str
    owner_id: int | None
    reason: str
    since: Any = None


@dataclass(frozen=True)
class Plan:
    """What an undo would do at a moment: `steps` in the order in which rows are locked, kind by kind.

    `follows` are further changes that these bring, as kind and key. `has_others` says that the same acts changed rows
    of owners whom the asking one does not reach.
    """

    at: datetime
    steps: Sequence[Step] = ()
    stays: Sequence[Stay] = ()
    follows: Sequence[tuple[str, str]] = ()
    has_others: bool = False

    @cached_property
    def sha256(self) -> str:
        """Return the hash that stands for this plan, whoever carries it out and when, as 64 hex digits."""
        steps = [(step.kind, step.key, step.before) for step in self.steps]
        return hashlib.sha256(repr([steps, self.stays, self.follows]).encode()).hexdigest()


def is_same_state(state: State | None, other: State | None, *, beside: Collection[str]) -> bool:
    """Say whether two states say the same in the columns that both know, but for those `beside`."""
    if state is None or other is None:
        return state is other
    return all(state[name] == other[name] for name in state.keys() & other.keys() - set(beside))


def undo_changes(
    state: State | None,
    changes: Iterable[tuple[State | None, State | None]],
    *,
    beside: Collection[str],
) -> State | None:
    """Return where a row goes whose changes, newest first as before and after, are undone as far as they fit.

    A column `beside` goes back where it reads what the change left, and is never in the way.
    """
    for before, after in changes:
        if not is_same_state(state, after, beside=beside):
            break
        kept = {name: state[name] for name in beside if state[name] != after.get(name)} if state and after else {}
        state = before and {**(state or {}), **before, **kept}
    return state
