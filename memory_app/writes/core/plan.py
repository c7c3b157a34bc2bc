"""What a roll-back does to each row, decided from what the log says and how the row stands now.

A row gets back what it said before the writer's last words; where somebody else wrote last it is left alone: nobody's
work is lost by undoing another's. A plan is a value with a hash; what is applied is exactly what was shown.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import astuple, dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import takewhile
from typing import Any

from memory_app.writes.core.entries import Done

UNRETIRED, LEFT = "unretired", "left"  # what is counted beside the kinds of steps


class Why(StrEnum):
    """Why a row is left alone."""

    EDITED_SINCE = "edited_since"
    MOVED_SINCE = "moved_since"
    CHANGED_SINCE = "changed_since"
    GONE = "gone"
    WAITS = "waits"


@dataclass(slots=True)
class Touched:
    """What one writer did to one memory: the versions it wrote, and its deletes and restores by batch, in order.

    `was_deleted` is the state before the first of these; `deleted_at` since when, where the log says so.
    """

    created: bool = False
    versions: set[int] = field(default_factory=set)
    batches: list[str] = field(default_factory=list)
    was_deleted: bool = False
    deleted_at: str | None = None

    def create(self) -> None:
        """Note that the writer made the row."""
        self.created = True
        self.versions.add(1)

    def move(self, batch: str, done: Done, deleted_at: str | None) -> None:
        """Note a delete or a restore."""
        if not self.batches:
            self.was_deleted, self.deleted_at = done is Done.RESTORED, deleted_at
        self.batches.append(batch)


@dataclass(frozen=True, slots=True)
class Stands:
    """How a memory stands now. `again` are the versions that say an earlier one again, as a roll-back does: which."""

    version: int
    batch: str | None
    deleted_at: datetime | None
    is_kept: bool
    actor: str
    first_actor: str
    again: Mapping[int, int] = field(default_factory=dict)

    @property
    def line(self) -> list[int]:
        """The versions that led to what it says now, newest first; without those that were taken back."""
        line: list[int] = []
        version = self.version
        while version > 0:
            while version in self.again:
                version = self.again[version]
            line.append(version)
            version -= 1
        return line


@dataclass(frozen=True, slots=True)
class Step:
    """One memory of a plan: how it must stand (`version`, `batch`), and what becomes of it.

    `text` is the version whose words come back (None: they stay). `is_moved` says that it goes into the trash or
    comes out of it, or lies there since another moment: `deleted_at`, empty for "from now on". `batch_back` is what
    an undo puts back; a roll-back gives the rows that it moves a batch of its own.
    """

    memory_id: int
    done: Done
    version: int
    batch: str | None
    text: int | None
    is_moved: bool
    is_deleted: bool
    deleted_at: str = ""
    batch_back: str | None = None


@dataclass(frozen=True, slots=True)
class EntryStep:
    """One entry of a user profile: it gets the value of `revision_id`; `newest_id` is its newest revision now."""

    owner_id: int
    key: str
    revision_id: int
    newest_id: int


@dataclass(frozen=True, slots=True)
class Repetition:
    """A fact that `event_id` retired because it says the same as a row that goes: it waits for the sweep again."""

    memory_id: int
    event_id: int


@dataclass(frozen=True, slots=True)
class Left:
    """A row that is left alone: a memory, or an entry of somebody's profile; `by` is who changed it, where known."""

    why: Why
    memory_id: int | None = None
    owner_id: int | None = None
    key: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a roll-back would do, in a stable order."""

    steps: tuple[Step, ...]
    entries: tuple[EntryStep, ...]
    left: tuple[Left, ...]
    repetitions: tuple[Repetition, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.steps and not self.entries

    @property
    def counts(self) -> dict[str, int]:
        """Return how many rows each kind of step touches, all kinds named."""
        counts = dict.fromkeys(Done, 0)
        for step in self.steps:
            counts[step.done] += 1
        counts[Done.PROFILE] = len(self.entries)
        others = {UNRETIRED: len(self.repetitions), LEFT: len(self.left)}
        return {**{kind.value: count for kind, count in counts.items()}, **others}

    def sha256(self, *about: str) -> str:
        """Return the hash that stands for this plan and what it is about, as 64 hex digits."""
        rows = [[astuple(each) for each in kind] for kind in (self.steps, self.entries, self.left, self.repetitions)]
        return hashlib.sha256(json.dumps([about, rows]).encode()).hexdigest()


def decide(touched: Mapping[int, Touched], standing: Mapping[int, Stands], actor: str) -> tuple[list[Step], list[Left]]:
    """Return a step or a reason for each memory that the writer touched; what stands as it stood needs neither."""
    steps, left = [], []
    for memory_id in sorted(touched):
        stands, marks = standing.get(memory_id), touched[memory_id]
        if stands is None or not stands.is_kept:
            if not marks.created:  # a row of the writer's that is gone is as good as taken back
                left.append(Left(Why.GONE, memory_id))
            continue
        if marks.created and stands.first_actor != actor:
            continue  # a run of an older import, with somebody else's row in between
        why = find_reason(marks, stands)
        if why is not None:
            left.append(Left(why, memory_id, by=stands.actor if why is Why.EDITED_SINCE else ""))
        elif step := find_step(memory_id, marks, stands):
            steps.append(step)
    return steps, left


def find_reason(marks: Touched, stands: Stands) -> Why | None:
    """Return why the row is left alone, None when nobody else changed it last."""
    newest, *older = stands.line
    lies_as_it_was = not marks.batches or lies_as_before(marks, stands)
    if lies_as_it_was and newest not in marks.versions and not marks.versions.isdisjoint(older):
        return Why.EDITED_SINCE
    if marks.batches:
        return None if stands.batch == marks.batches[-1] else Why.MOVED_SINCE
    moved = stands.batch is not None if marks.created else stands.deleted_at is not None
    return Why.MOVED_SINCE if moved else None


def find_step(memory_id: int, marks: Touched, stands: Stands) -> Step | None:
    """Return what becomes of a row, None when nothing of the writer's stands in it."""
    newest, *older = stands.line
    others = next((version for version in (newest, *older) if version not in marks.versions), None)
    if marks.created and others is None:
        if stands.deleted_at is not None:
            return None
        return Step(memory_id, Done.CREATED, stands.version, stands.batch, text=None, is_moved=True, is_deleted=True)
    text = others if others != newest else None
    is_moved = bool(marks.batches) and not lies_as_before(marks, stands)
    if text is None and not is_moved:
        return None
    done = Done.EDITED
    if is_moved:
        done = Done.RESTORED if marks.was_deleted else Done.DELETED
    is_deleted = marks.was_deleted if is_moved else stands.deleted_at is not None
    since = (marks.deleted_at or "") if is_moved else ""
    return Step(memory_id, done, stands.version, stands.batch, text, is_moved, is_deleted, since)


def lies_as_before(marks: Touched, stands: Stands) -> bool:
    """Say whether a row lies in the trash, or out of it, as it did before the writer's first delete or restore."""
    if stands.deleted_at is None or not marks.was_deleted:
        return (stands.deleted_at is not None) == marks.was_deleted
    return marks.deleted_at in {None, stands.deleted_at.isoformat()}


def decide_entries(
    changes: Iterable[tuple[int, int, str, str]], *, mine: AbstractSet[int], again: Mapping[int, int]
) -> tuple[list[EntryStep], list[Left]]:
    """Return a step or a reason for each entry of a profile in which something of the writer's stands.

    `changes` are all revisions (id, owner, key, who replaced it) since the first of the writer's, oldest first; `mine`
    are the ids of the writer's; `again` are those by which a roll-back gave back the value of another: which.
    """
    by_place: dict[tuple[int, str], dict[int, str]] = {}
    for revision_id, owner_id, key, replaced_by in changes:
        by_place.setdefault((owner_id, key), {})[revision_id] = replaced_by
    steps, left = [], []
    for place, writers in sorted(by_place.items()):
        line = list(entry_line(list(writers), again))
        own = list(takewhile(lambda change: change in mine, line))
        if own:
            steps.append(EntryStep(*place, own[-1], max(writers)))
        elif not mine.isdisjoint(line):
            left.append(Left(Why.CHANGED_SINCE, owner_id=place[0], key=place[1], by=writers[line[0]]))
    return steps, left


def entry_line(ids: Sequence[int], again: Mapping[int, int]) -> Iterator[int]:
    """Yield the changes that led to the value of an entry, newest first; without those that were taken back."""
    place = len(ids) - 1
    while place >= 0:
        if ids[place] in again:
            place = ids.index(again[ids[place]]) - 1
        else:
            yield ids[place]
            place -= 1


def record_left(left: Left) -> dict[str, Any]:
    """Return what was left alone as the record of a roll-back keeps it."""
    return {"why": left.why.value, "memory": left.memory_id, "owner": left.owner_id, "key": left.key, "by": left.by}
