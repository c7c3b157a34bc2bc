"""Sets and changes of what can be undone today, so that it can be undone by them.

A row's state before is known where it kept it: of the last decision on a preference, and of roll-backs. Same act means
same actor, moment and act. Everything is one transaction: it stands as a whole, or is run again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

import django.db.models.deletion
from django.db import migrations, models

EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
SLICE = 500
MOVES = (
    "graduated",
    "demoted",
    "requantized_by_judge",
    "quarantined",
    "released",
    "synthesis_auto_demote",
    "imported",
)
DECISIONS = {
    ("active", "soft_preference"): "preference_approved",
    ("rejected", "soft_preference"): "preference_rejected",
    ("archived", "soft_preference"): "preference_archived",
    ("active", "hard_constraint"): "constraint_activated",
    ("rejected", "hard_constraint"): "preference_rejected",
    ("archived", "hard_constraint"): "constraint_archived",
}


@dataclass(frozen=True)
class Past:
    """One change of a row, and the act that made it; `rollback` is the record of a roll-back."""

    at: datetime
    actor: str
    act: str
    kind: str
    key: int
    owner_id: int | None
    before: list[Any]
    after: list[Any]
    reason: str = ""
    run: str | None = None
    rollback: int = 0

    @property
    def of_act(self) -> tuple[Any, ...]:
        of_one_row = self.key if self.act == "learning_edited" else 0
        return self.at, self.actor, self.act, self.rollback, self.run or "", of_one_row


def moment(at: datetime | None) -> int | None:
    """Return a moment as changes keep it."""
    return None if at is None else (at - EPOCH) // MICROSECOND


def store_changes(apps: Any, schema_editor: Any) -> None:
    """Store the acts of every kind, the oldest first."""
    past = [
        *find_decisions_on_preferences(apps),
        *find_rolled_back_preferences(apps),
        *find_changes_of_learnings(apps),
        *find_decisions_on_methodologies(apps),
        *find_rolled_back_methodologies(apps),
    ]
    past.sort(key=lambda each: each.of_act)
    store_sets(apps, past)
    for number, event in find_standing(apps).items():
        apps.get_model("learning_app", "Methodology").objects.filter(pk=number).update(moved_at=event.at)


def store_sets(apps: Any, past: Iterable[Past]) -> None:
    """Store changes in their order, with a set for each act."""
    sets, changes = apps.get_model("kernel", "ChangeSet").objects, apps.get_model("kernel", "Change")
    rollbacks, made = apps.get_model("memory_app", "WriteRollback").objects, []
    for (at, actor, act, rollback, run, _key), own in groupby(past, key=lambda each: each.of_act):
        rows = list(own)
        changed = sets.create(act=act, actor=actor, at=at, reason=rows[0].reason[:200], run=run or None)
        if rollback:
            rollbacks.filter(pk=rollback).update(change_set=changed)
        made += [
            changes(
                set=changed,
                kind=row.kind,
                key=str(row.key),
                owner_id=row.owner_id,
                before=row.before,
                after=row.after,
            )
            for row in rows
        ]
        if len(made) >= SLICE:
            changes.objects.bulk_create(made, batch_size=SLICE)
            made = []
    changes.objects.bulk_create(made, batch_size=SLICE)
    for undo in rollbacks.exclude(undoes=None).exclude(change_set=None).select_related("undoes"):
        sets.filter(pk=undo.change_set_id).update(undoes=undo.undoes.change_set_id)


def store_words(apps: Any, kind: str, row: Any, words: tuple[dict[str, str], dict[str, str]], by: str, at: datetime) -> None:
    """Store the first two versions of what a row says."""
    revisions = apps.get_model("kernel", "Revision").objects
    of_row = {"kind": kind, "key": str(row.pk), "owner_id": row.owner_id}
    revisions.create(**of_row, number=1, texts=words[0], actor=row.actor, at=row.created_at)
    revisions.create(**of_row, number=2, texts=words[1], actor=by, at=at)


def find_decisions_on_preferences(apps: Any) -> Iterator[Past]:
    """Yield the last decision on each preference that can be undone, and keep the words that it replaced."""
    approvals, runs = read_preference_log(apps)
    rows = apps.get_model("learning_app", "Preference").objects
    for row in rows.exclude(state_before="", statement_before="").order_by("pk").iterator(SLICE):
        has_words = bool(row.statement_before)
        if has_words:
            at = row.decided_at or row.updated_at
            words = {"statement": row.statement_before}, {"statement": row.statement}
            store_words(apps, "preference", row, words, row.decided_by, at)
            rows.filter(pk=row.pk).update(text_version=2)
        if row.state_before and row.decided_at and row.state != "proposed" and not is_rolled_back(apps, row):
            decided = ["", None] if row.state_before == "proposed" else approvals.get(row.pk, [row.decided_by, row.decided_at])
            yield Past(
                row.decided_at,
                row.decided_by,
                DECISIONS[row.state, row.kind],
                "preference",
                row.pk,
                row.owner_id,
                [row.state_before, decided[0], moment(decided[1]), 1, moment(decided[1] or row.created_at)],
                [row.state, row.decided_by, moment(row.decided_at), 1 + has_words, moment(row.updated_at)],
                row.reason,
                runs.get(row.pk) if row.source == "imported" and row.decided_at == row.created_at else None,
            )


def is_rolled_back(apps: Any, row: Any) -> bool:
    """Say whether a preference is as a roll-back left it: that keeps there whether it was active."""
    items = apps.get_model("learning_app", "RolledBackPreference").objects
    return row.state == "rejected" and items.filter(preference_id=row.pk, version=row.version).exists()


def read_preference_log(apps: Any) -> tuple[dict[int, list[Any]], dict[int, str]]:
    """Return by preference who approved it last and when, and the run of the import that proposed it."""
    approvals, runs = dict[int, list[Any]](), dict[int, str]()
    entries = apps.get_model("kernel", "AuditEntry").objects.order_by("pk")
    acts = ("preference_proposed", "preference_approved", "constraint_activated")
    read = entries.filter(tool_call__in=acts).values_list("tool_call", "actor", "at", "details")
    for act, actor, at, details in read.iterator(SLICE):
        for pk in details.get("ids") or [details.get("id")]:
            if act != "preference_proposed":
                approvals[pk] = [actor, at]
            elif "run" in details:
                runs[pk] = details["run"]
    return approvals, runs


def find_rolled_back_preferences(apps: Any) -> Iterator[Past]:
    """Yield what roll-backs rejected."""
    records = apps.get_model("memory_app", "WriteRollback").objects.in_bulk()
    items = apps.get_model("learning_app", "RolledBackPreference").objects.select_related("preference").order_by("pk")
    for item in items.iterator(SLICE):
        row, record = item.preference, records[item.rollback_id]
        was_active = row.version == item.version and row.state_before == "active"
        before = ["active", row.actor, moment(row.created_at)] if was_active else ["proposed", "", None]
        yield Past(
            record.at,
            record.actor,
            "write_rollback",
            "preference",
            row.pk,
            row.owner_id,
            [*before, 1, moment(row.created_at)],
            ["rejected", record.actor, moment(record.at), 1, moment(record.at)],
            record.reason,
            f"rollback:{record.pk}",
            record.pk,
        )


def find_changes_of_learnings(apps: Any) -> Iterator[Past]:
    """Yield the last edit and the deletion of each learning, and the roll-backs whose marks stand on it."""
    records = apps.get_model("memory_app", "WriteRollback").objects.in_bulk()
    entries = apps.get_model("kernel", "AuditEntry").objects.order_by("pk").filter(tool_call="learning_edited")
    edits = {(each["id"], actor): at for actor, at, each in entries.values_list("actor", "at", "details").iterator(SLICE)}
    rows = apps.get_model("learning_app", "Learning").objects
    for row in rows.exclude(edited_by="", deleted_by="").order_by("pk").iterator(SLICE):
        reads = [None, "", "", 1, moment(row.created_at)]
        if row.edited_by:
            rollback = records.get(rollback_of(row.edited_by))
            writer, words = (rollback.writer if rollback else row.edited_by), [row.guidance_before, row.guidance]
            at = edits.get((row.uid, writer), min(row.updated_at, rollback.at if rollback else row.updated_at))
            first, second = reversed(words) if rollback else words
            store_words(apps, "learning", row, ({"guidance": first}, {"guidance": second}), writer, at)
            edited = [None, "", writer, 2, moment(at)]
            yield change_of(row, at, writer, "learning_edited", reads, edited)
            reads = edited
            if rollback:
                reads = [None, "", rollback.actor, 1, moment(rollback.at)]
                yield change_of(row, rollback.at, rollback.actor, "write_rollback", edited, reads, rollback)
        if row.deleted_at:
            rollback = records.get(rollback_of(row.deleted_by))
            by, act = (rollback.actor, "write_rollback") if rollback else (row.deleted_by, "learning_removed")
            deleted = [moment(row.deleted_at), by, *reads[2:4], moment(row.updated_at)]
            yield change_of(row, row.deleted_at, by, act, reads, deleted, rollback)
            reads = deleted
        rows.filter(pk=row.pk).update(deleted_by=reads[1], edited_by=reads[2], text_version=reads[3])


def rollback_of(mark: str) -> int:
    """Return the number of the roll-back that a mark names, 0 where none does."""
    return int(mark.removeprefix("rollback:")) if mark.startswith("rollback:") else 0


def change_of(row: Any, at: datetime, actor: str, act: str, before: list[Any], after: list[Any], rollback: Any = None) -> Past:
    """Return a change of a learning."""
    reason, number = (rollback.reason, rollback.pk) if rollback else ("", 0)
    run = f"rollback:{number}" if number else None
    return Past(at, actor, act, "learning", row.pk, row.owner_id, before, after, reason, run, number)


def find_standing(apps: Any) -> dict[int, Any]:
    """Return by methodology the event by which it stands where it does; what was undone, and its undo, are none."""
    events = apps.get_model("learning_app", "LifecycleEvent").objects.filter(kind__in=MOVES).order_by("-pk")
    standing, undone = dict[int, Any](), set[int]()
    for event in events.iterator(SLICE):
        if "undo" in event.details and "before" in event.details:
            undone.add(event.details["undo"])
        elif event.pk not in undone:
            standing.setdefault(event.methodology_id, event)
    return standing


def find_decisions_on_methodologies(apps: Any) -> Iterator[Past]:
    """Yield the decisions that stand, of persons: their events say what was before."""
    for number, event in find_standing(apps).items():
        if before := event.details.get("before"):
            read_at = datetime.fromisoformat(before["reviewed_at"]) if before["reviewed_at"] else None
            is_kept = event.kind == "quarantined"
            yield Past(
                event.at,
                event.actor,
                "methodology_quarantined" if is_kept else "methodology_released",
                "methodology",
                number,
                None,
                [before["quarantine"], before["quarantined_by"], None, moment(read_at), moment(event.at)],
                [int(is_kept), "operator" if is_kept else "", moment(event.at), moment(event.at), moment(event.at)],
                event.reason_text,
            )


def find_rolled_back_methodologies(apps: Any) -> Iterator[Past]:
    """Yield what roll-backs and their undos moved."""
    records = apps.get_model("memory_app", "WriteRollback").objects.in_bulk()
    items = apps.get_model("learning_app", "RolledBackMethodology").objects.select_related("methodology").order_by("pk")
    earlier: dict[tuple[int, int], list[Any]] = {}
    for item in items.iterator(SLICE):
        record, read_at = records[item.rollback_id], moment(item.methodology.reviewed_at)
        before = [item.quarantine, item.quarantined_by, None, read_at, moment(item.updated_at)]
        earlier[record.pk, item.methodology_id] = before
        after = [1, "operator", moment(record.at), read_at, moment(record.at)]
        if record.undoes_id:
            after = earlier[record.undoes_id, item.methodology_id]
        yield Past(
            record.at,
            record.actor,
            "write_rollback_undone" if record.undoes_id else "write_rollback",
            "methodology",
            item.methodology_id,
            None,
            before,
            after,
            record.reason,
            f"rollback:{record.undoes_id or record.pk}",
            record.pk,
        )


class Migration(migrations.Migration):
    dependencies = [
        ("memory_app", "0020_lists_of_everyone"),
        ("learning_app", "0011_text_versions"),
        ("kernel", "0016_changes"),
    ]

    operations = [
        migrations.AddField(
            "writerollback",
            "change_set",
            models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="rollback",
                to="kernel.changeset",
            ),
        ),
        migrations.RunPython(store_changes, migrations.RunPython.noop, elidable=True),
    ]
