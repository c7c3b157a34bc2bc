"""Plans of a roll-back for memories. Sources of truth: the audit log and the rows' histories."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Q

from memory_app.facts.selectors import find_repetitions
from memory_app.memories.core import REVERT_REASON, ROLL_BACK_REASON, FactState
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.selectors import retention_cutoff
from memory_app.writes.core.memories import UNRETIRED, ChangedRow, Repetition, RollBackStep, RowState, WriteKind
from memory_app.writes.models import RolledBackMemory
from minara_site.kernel.db import slices
from minara_site.kernel.rollback import KindPlan, UnchangedRow
from minara_site.kernel.unchanged import UnchangedReason

Rows = Mapping[int, Memory]


def load_rows(ids: Iterable[int], *, lock: bool) -> dict[int, Memory]:
    """Return these memories by id, whoever owns them; an owner gets here with the ids of their own alone."""
    found: dict[int, Memory] = {}
    for chosen in slices(sorted(ids)):
        rows = Memory.objects.filter(pk__in=chosen).order_by("pk")
        found |= {row.pk: row for row in (rows.select_for_update(of=("self",)) if lock else rows)}
    return found


def find_rolled_back(writer: str) -> set[int]:
    """Return the memories that lie in the trash because this writer was rolled back and that was not undone."""
    standing = RolledBackMemory.objects.filter(
        rollback__writer=writer,
        rollback__undoes=None,
        rollback__undone_by=None,
    )
    return set(standing.filter(memory__deleted_at__isnull=False).values_list("memory_id", flat=True))


def load_row_states(
    rows: Rows,
    changed: Mapping[int, ChangedRow],
    *,
    now: datetime,
) -> dict[int, RowState]:
    """Return the state of each memory, with what led to its text."""
    cutoff, first_actors = retention_cutoff(now), dict[int, str]()
    edited = [pk for pk, row in rows.items() if row.version > 1]
    reapplied = find_reapplied_versions(rows, edited)
    for chosen in slices(pk for pk in edited if changed[pk].is_created):
        first = MemoryRevision.objects.filter(memory__in=chosen, version=1)
        first_actors |= dict(first.values_list("memory_id", "actor"))
    return {
        pk: RowState(
            version=row.version,
            batch=row.batch,
            deleted_at=row.deleted_at,
            is_kept=row.deleted_at is None or row.deleted_at > cutoff,
            actor=row.actor,
            first_actor=first_actors.get(pk, row.actor),
            reapplied=reapplied.get(pk, {}),
        )
        for pk, row in rows.items()
    }


def find_reapplied_versions(rows: Rows, ids: Iterable[int]) -> dict[int, dict[int, int]]:
    """Return by memory the versions by which a roll-back, its undo or a discard gave an earlier one back, and which.

    Such a version says the same, by the same writer, of the same moment.
    """
    found: dict[int, dict[int, int]] = {}
    for chosen in slices(ids):
        revisions = MemoryRevision.objects.filter(memory__in=chosen)
        replaced = revisions.filter(Q(reason__startswith=ROLL_BACK_REASON) | Q(reason__startswith=REVERT_REASON))
        copies = {(memory_id, version + 1) for memory_id, version in replaced.values_list("memory", "version")}
        copied = sorted({memory_id for memory_id, _version in copies})
        versions: dict[tuple[Any, ...], int] = {}
        each: Any  # a revision, or the memory as its newest
        for each in (
            *revisions.filter(memory__in=copied).order_by("memory", "version"),
            *(rows[pk] for pk in copied),
        ):
            pk = each.pk if isinstance(each, Memory) else each.memory_id
            moment = each.updated_at or rows[pk].created_at
            text = (
                pk,
                each.content,
                each.fact_type,
                tuple(each.tickers),
                each.actor,
                moment,
            )
            if (pk, each.version) in copies and text in versions:
                found.setdefault(pk, {})[each.version] = versions[text]
            versions[text] = each.version
    return found


def build_plan(
    steps: Sequence[RollBackStep],
    unchanged: Sequence[UnchangedRow],
    rows: Rows,
    *,
    lock: bool,
) -> KindPlan:
    """Return the plan of these steps, with the facts that are retired as repetitions of what they take away.

    What goes to the trash itself stays retired. Only facts, and what their owner typed, are repeated.
    """
    deleted = {step.memory_id for step in steps if step.is_deleted}
    edited = {step.memory_id for step in steps if step.text is not None}
    live = [rows[pk] for pk in sorted(deleted | edited) if rows[pk].deleted_at is None]
    events: dict[int, int] = {}
    for chosen in slices(row.pk for row in live if row.fact_state is not None or row.is_editable):
        events |= find_repetitions(chosen)
    found = load_rows(events.keys() - deleted, lock=lock)
    retired = {pk: row for pk, row in found.items() if row.fact_state == FactState.RETIRED}
    by_effect: dict[str, Sequence[Any]] = {done: [step for step in steps if step.done is done] for done in WriteKind}
    by_effect[UNRETIRED] = [Repetition(pk, events[pk]) for pk in retired]
    return KindPlan(by_effect, unchanged, {**retired, **rows})


def decide_undo(items: Sequence[RolledBackMemory], rows: Rows) -> tuple[list[RollBackStep], list[UnchangedRow]]:
    """Return a step, or why it stays, for each memory that a roll-back changed: it gets back its state before that."""
    steps, unchanged = [], []
    for item in items:
        row, deleted_at = rows[item.memory_id], item.deleted_at.isoformat() if item.deleted_at else ""
        if row.version != item.version_after:
            unchanged.append(UnchangedRow(UnchangedReason.EDITED_SINCE, row.pk, by=row.actor))
        elif row.batch != item.batch_after:
            unchanged.append(UnchangedRow(UnchangedReason.MOVED_SINCE, row.pk))
        else:
            step = partial(
                RollBackStep,
                row.pk,
                WriteKind(item.done),
                version=row.version,
                batch=row.batch,
            )
            step = partial(
                step,
                text=item.version,
                is_moved=item.is_moved,
                batch_back=item.batch,
            )
            steps.append(step(is_deleted=bool(deleted_at), deleted_at=deleted_at))
    return steps, unchanged


def load_texts(steps: Sequence[Any]) -> dict[int, MemoryRevision]:
    """Return by memory the earlier version that a step brings back."""
    versions = {step.memory_id: step.text for step in steps if isinstance(step, RollBackStep) and step.text is not None}
    found = MemoryRevision.objects.filter(
        memory__in=versions,
        version__in=set(versions.values()),
    )
    return {each.memory_id: each for each in found if each.version == versions[each.memory_id]}
