"""Acts as they stood when each room remembered for itself what was before, and what their undo leads to."""

from datetime import timedelta
from typing import Any

from tests.kit.clock import NOON
from tests.learning_app.learnings.rows import make_learning
from tests.learning_app.rows import make_methodology, make_preference

BEFORE = [
    ("memory_app", "0020_lists_of_everyone"),
    ("learning_app", "0010_lists_of_everyone"),
    ("kernel", "0015_stored_files"),
]
BAD, LATER = "key:bad00000", NOON + timedelta(hours=3)
PREFERENCES = ("approved", "archived", "rejected", "proposed again")
LEARNINGS = ("edited", "deleted", "words back", "gone")
METHODOLOGIES = ("quarantined", "into quarantine", "out again")
BY_PERSONS = (*PREFERENCES[:2], *LEARNINGS[:2], *METHODOLOGIES[:1])
"""Rows that a person's act is about; the first roll-back is about the others, but for the last of each kind."""
STOOD = {
    "approved": ("active", "New words."),
    "archived": ("archived", "Prefers limit orders."),
    "rejected": ("rejected", "Prefers limit orders."),
    "proposed again": ("proposed", "Prefers limit orders."),
    "edited": (True, "New guidance."),
    "deleted": (False, ""),
    "words back": (True, "Old guidance."),
    "gone": (False, ""),
    "quarantined": (1, "operator"),
    "into quarantine": (1, "operator"),
    "out again": (0, ""),
}
UNDONE = STOOD | {
    "approved": ("proposed", "Old words."),
    "archived": ("active", "Prefers limit orders."),
    "rejected": ("proposed", "Prefers limit orders."),
    "edited": (True, "Old guidance."),
    "deleted": (True, ""),
    "words back": (True, "New guidance."),
    "gone": (True, ""),
    "quarantined": (0, ""),
    "into quarantine": (0, ""),
}


def make(owner: Any) -> dict[str, Any]:
    """Make the rows, as nobody has decided on them."""
    graduated = {"correct": 20, "used": 21, "quarantine": 0, "quarantined_by": ""}
    return {
        **{name: make_preference(owner) for name in PREFERENCES},
        **{name: make_learning(owner) for name in LEARNINGS},
        **{name: make_methodology(**graduated) for name in METHODOLOGIES},
    }


def kind_of(name: str) -> str:
    """Return the kind of a row."""
    kinds = {"preference": PREFERENCES, "learning": LEARNINGS, "methodology": METHODOLOGIES}
    return next(kind for kind, names in kinds.items() if name in names)


def read(rows: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return what the rows say now."""
    found: dict[str, tuple[Any, ...]] = {}
    for name, row in rows.items():
        row.refresh_from_db()
        if name in PREFERENCES:
            found[name] = row.state, row.statement
        elif name in LEARNINGS:
            found[name] = row.deleted_at is None, row.guidance
        else:
            found[name] = row.quarantine, row.quarantined_by
    return found


def store(apps: Any, rows: dict[str, Any], ana: Any, olga: Any) -> None:
    """Let the acts have happened: those of persons, a roll-back, and another one that is undone."""
    tables = {
        **dict.fromkeys(PREFERENCES, apps.get_model("learning_app", "Preference")),
        **dict.fromkeys(LEARNINGS, apps.get_model("learning_app", "Learning")),
        **dict.fromkeys(METHODOLOGIES, apps.get_model("learning_app", "Methodology")),
    }

    def change(name: str, **columns: Any) -> None:
        tables[name].objects.filter(pk=rows[name].pk).update(**columns)

    first, second, undo = store_records(apps, f"user:{olga.pk}")
    by_ana, at = {"decided_by": f"user:{ana.pk}", "decided_at": NOON}, {"updated_at": NOON}
    words = {"statement": "New words.", "statement_before": "Old words."}
    change("approved", state="active", state_before="proposed", **words, **by_ana, **at)
    change("archived", state="archived", state_before="active", **by_ana, **at)
    rejected = {"decided_by": first.actor, "decided_at": first.at, "version": 2}
    change("rejected", state="rejected", **rejected)
    change("proposed again", version=3)
    guidance = {"guidance": "New guidance.", "guidance_before": "Old guidance.", "edited_by": BAD}
    change("edited", **guidance)
    change("deleted", deleted_at=NOON, deleted_by=f"user:{ana.pk}")
    back = {"guidance": "Old guidance.", "guidance_before": "New guidance.", "edited_by": f"rollback:{first.pk}"}
    change("words back", **back)
    change("gone", deleted_at=first.at, deleted_by=f"rollback:{first.pk}")
    kept = {"quarantine": 1, "quarantined_by": "operator"}
    change("quarantined", **kept)
    change("into quarantine", **kept)
    rolled_back = apps.get_model("learning_app", "RolledBackPreference").objects
    rolled_back.create(rollback_id=first.pk, preference_id=rows["rejected"].pk, version=2)
    rolled_back.create(rollback_id=second.pk, preference_id=rows["proposed again"].pk, version=2)
    was = {"quarantine": 0, "quarantined_by": "", "reviewed_at": None}
    store_event(apps, rows["quarantined"], f"user:{olga.pk}", NOON, {"before": was})
    for record, name, before in (
        (first, "into quarantine", (0, "")),
        (second, "out again", (0, "")),
        (undo, "out again", (1, "operator")),
    ):
        event = store_event(apps, rows[name], record.actor, record.at, {"rollback": record.pk})
        apps.get_model("learning_app", "RolledBackMethodology").objects.create(
            rollback_id=record.pk,
            methodology_id=rows[name].pk,
            quarantine=before[0],
            quarantined_by=before[1],
            updated_at=NOON,
            event_id=event.pk,
        )


def store_records(apps: Any, actor: str) -> list[Any]:
    """Store two roll-backs, and the undo of the second."""
    records: list[Any] = []
    for hours in (1, 1, 2):
        about = {"writer": BAD, "since": NOON, "reason": "bad", "counts": {}, "batch": str(len(records))}
        undoes = records[1] if hours == 2 else None
        at = NOON + timedelta(hours=hours, minutes=len(records))
        make = apps.get_model("memory_app", "WriteRollback").objects.create
        records.append(make(**about, actor=actor, at=at, undoes=undoes, plan_sha256="0" * 64))
    return records


def store_event(apps: Any, row: Any, actor: str, at: Any, details: dict[str, Any]) -> Any:
    """Store what happened to a methodology."""
    kind = "released" if row.quarantine else "quarantined"
    events = apps.get_model("learning_app", "LifecycleEvent").objects
    return events.create(methodology_id=row.pk, kind=kind, at=at, actor=actor, details=details)
