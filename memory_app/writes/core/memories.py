"""What a roll-back does to each memory, decided from what the log says and from its state now. Pure.

A row gets back what it said before the writer's last words; where another writer came last it stays: no one's work is
lost by undoing another's.
"""

from collections import defaultdict
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import partial
from itertools import islice

from memory_app.writes.core.entries import id_runs
from minara_site.kernel.rollback import MAX_ROWS, Entries, UnchangedRow
from minara_site.kernel.unchanged import UnchangedReason

UNRETIRED = "unretired"  # the effect that follows of others


class WriteKind(StrEnum):
    """What a writer did to a memory."""

    CREATED = "created"
    EDITED = "edited"
    DELETED = "deleted"
    RESTORED = "restored"


IMPORT_ACTS = ("memory_import", "memory_import.signed", "memory_import.unsigned")  # of a bundle one entry a file (S1)
MEMORY_WRITES: Mapping[str, WriteKind] = {
    "memory_write": WriteKind.CREATED,
    **dict.fromkeys(IMPORT_ACTS, WriteKind.CREATED),
    "memory_edited": WriteKind.EDITED,
    "memory_reverted": WriteKind.EDITED,
    "memory_removed": WriteKind.DELETED,
    "memory_restored": WriteKind.RESTORED,
}
"""Acts of the log that a roll-back undoes. The demo is none: its rows are removed with it."""


@dataclass(slots=True)
class ChangedRow:
    """What one writer did to one memory: the versions it wrote, and its deletes and restores by batch, in order.

    `was_deleted` is the state before the first of these; `deleted_at` since when, where the log says so.
    """

    versions: set[int] = field(default_factory=set)
    batches: list[str] = field(default_factory=list)
    was_deleted: bool = False
    deleted_at: str | None = None

    @property
    def is_created(self) -> bool:
        """Whether the writer made the row."""
        return 1 in self.versions

    def move(self, batch: str, done: WriteKind, deleted_at: str | None) -> None:
        """Add a delete or a restore."""
        if not self.batches:
            self.was_deleted, self.deleted_at = done is WriteKind.RESTORED, deleted_at
        self.batches.append(batch)


@dataclass(frozen=True, slots=True)
class RowState:
    """A memory now. `reapplied` are versions by which a roll-back or a discard gave an earlier one back: which."""

    version: int
    batch: str | None
    deleted_at: datetime | None
    is_kept: bool
    actor: str
    first_actor: str
    reapplied: Mapping[int, int] = field(default_factory=dict)

    @property
    def line(self) -> list[int]:
        """The versions that led to what it says now, newest first; without those that were undone."""
        line: list[int] = []
        version = self.version
        while version > 0:
            while version in self.reapplied:
                version = self.reapplied[version]
            line.append(version)
            version -= 1
        return line

    def is_moved_as_before(self, changed: ChangedRow) -> bool:
        """Whether it is in the trash, or out of it, as before the writer's first delete or restore."""
        if self.deleted_at is None or not changed.was_deleted:
            return (self.deleted_at is not None) == changed.was_deleted
        return changed.deleted_at in {None, self.deleted_at.isoformat()}


@dataclass(frozen=True, slots=True)
class RollBackStep:
    """One memory of a plan: its `version` and `batch` now, and what becomes of it.

    `text` is the version whose words come back (None: they stay). `is_moved` says that it goes into the trash or
    comes out of it, or is there since another moment: `deleted_at`, empty for "from now on". `batch_back` is what
    an undo puts back; a roll-back gives the rows that it moves a batch of its own.
    """

    memory_id: int
    done: WriteKind
    version: int
    batch: str | None
    text: int | None
    is_moved: bool
    is_deleted: bool
    deleted_at: str = ""
    batch_back: str | None = None


@dataclass(frozen=True, slots=True)
class Repetition:
    """A fact that `event_id` retired because it says the same as a row that goes: it is pending again."""

    memory_id: int
    event_id: int


def find_changed(entries: Entries, *, gone: Container[int] = ()) -> tuple[dict[int, ChangedRow], bool]:
    """Return what these entries did to each memory, of as many as one roll-back takes, and whether there are more.

    What the writer made and is `gone` already takes no place.
    """
    found: defaultdict[int, ChangedRow] = defaultdict(ChangedRow)
    for entry in entries:
        match MEMORY_WRITES[entry.tool_call]:
            case WriteKind.CREATED:
                ids = (pk for first, last in id_runs(entry.details) for pk in range(first, last + 1) if pk not in gone)
                for pk in islice(ids, MAX_ROWS + 1):
                    found[pk].versions.add(1)
            case WriteKind.EDITED:
                found[entry.details["id"]].versions.add(entry.details["version"])
            case done:
                for row in entry.details["memories"]:
                    found[row["id"]].move(
                        entry.details["batch"],
                        done,
                        row.get("deleted_at"),
                    )
        if len(found) > MAX_ROWS:
            return dict(islice(found.items(), MAX_ROWS)), True
    return found, False


def decide(
    changed_rows: Mapping[int, ChangedRow],
    states: Mapping[int, RowState],
    actor: str,
) -> tuple[list[RollBackStep], list[UnchangedRow]]:
    """Return a step, or why it stays, for each memory that the writer changed and that still shows it."""
    steps, unchanged = [], []
    for memory_id, changed in sorted(changed_rows.items()):
        state = states.get(memory_id)
        if state is None or not state.is_kept:
            if not changed.is_created:  # a row of the writer's that is gone is as good as undone
                unchanged.append(UnchangedRow(UnchangedReason.GONE, memory_id))
            continue
        if changed.is_created and state.first_actor != actor:
            continue  # a run of an older import, with another writer's row in between
        reason = find_reason(changed, state)
        if reason is not None:
            by = state.actor if reason is UnchangedReason.EDITED_SINCE else ""
            unchanged.append(UnchangedRow(reason, memory_id, by=by))
        elif step := find_step(memory_id, changed, state):
            steps.append(step)
    return steps, unchanged


def find_reason(changed: ChangedRow, state: RowState) -> UnchangedReason | None:
    """Return why a row stays, None when its writer changed it last."""
    newest, *older = state.line
    is_in_place = not changed.batches or state.is_moved_as_before(changed)
    if is_in_place and newest not in changed.versions and not changed.versions.isdisjoint(older):
        return UnchangedReason.EDITED_SINCE
    if changed.batches:
        return None if state.batch == changed.batches[-1] else UnchangedReason.MOVED_SINCE
    is_moved = state.batch is not None if changed.is_created else state.deleted_at is not None
    return UnchangedReason.MOVED_SINCE if is_moved else None


def find_step(
    memory_id: int,
    changed: ChangedRow,
    state: RowState,
) -> RollBackStep | None:
    """Return what becomes of a row, None when it shows nothing of the writer's."""
    newest, *older = state.line
    others = next(
        (version for version in (newest, *older) if version not in changed.versions),
        None,
    )
    step = partial(
        RollBackStep,
        memory_id,
        version=state.version,
        batch=state.batch,
    )
    if changed.is_created and others is None:
        return None if state.deleted_at else step(done=WriteKind.CREATED, text=None, is_moved=True, is_deleted=True)
    text = others if others != newest else None
    if changed.batches and not state.is_moved_as_before(changed):
        done = WriteKind.RESTORED if changed.was_deleted else WriteKind.DELETED
        since = changed.deleted_at or ""
        return step(
            done=done,
            text=text,
            is_moved=True,
            is_deleted=changed.was_deleted,
            deleted_at=since,
        )
    if text is None:
        return None
    return step(
        done=WriteKind.EDITED,
        text=text,
        is_moved=False,
        is_deleted=state.deleted_at is not None,
    )
