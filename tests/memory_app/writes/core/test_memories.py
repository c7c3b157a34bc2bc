"""What a roll-back does to one row, as a full table."""

from datetime import UTC, datetime
from typing import Any

from memory_app.writes.core.memories import ChangedRow, RowState, WriteKind, decide
from minara_site.kernel.rollback import UnchangedReason, UnchangedRow
from tests.kit.clock import NOON
from tests.kit.tables import table

ME, OTHER = "key:me", "user:2"
EARLIER = datetime(2026, 6, 1, tzinfo=UTC)


def state(**fields: Any) -> RowState:
    """A live row at version 1 that somebody else created."""
    start: dict[str, Any] = {
        "version": 1,
        "batch": None,
        "deleted_at": None,
        "is_kept": True,
        "actor": ME,
        "first_actor": OTHER,
    }
    return RowState(**start | fields)


def created(**fields: Any) -> RowState:
    return state(first_actor=ME, **fields)


def changed(
    *moves: tuple[str, WriteKind], made: bool = False, versions: tuple[int, ...] = (), since: str | None = None
) -> ChangedRow:
    marks = ChangedRow(versions=set(versions))
    if made:
        marks.versions.add(1)
    for batch, done in moves:
        marks.move(batch, done, since)
    return marks


GONE, BACK = ("b1", WriteKind.DELETED), ("b2", WriteKind.RESTORED)
SINCE = EARLIER.isoformat()
STEPS = {
    "a new row goes to the trash": (changed(made=True), created(), (WriteKind.CREATED, None, True, "")),
    "a new row that its writer edited, too": (
        changed(made=True, versions=(2, 3)),
        created(version=3),
        (WriteKind.CREATED, None, True, ""),
    ),
    "an edit gives the text before the first": (
        changed(versions=(4, 5)),
        state(version=5),
        (WriteKind.EDITED, 3, False, ""),
    ),
    "versions of a roll-back that was undone are nobody's": (
        changed(versions=(2,)),
        state(version=4, reapplied={3: 1, 4: 2}),
        (WriteKind.EDITED, 1, False, ""),
    ),
    "an edit upon somebody else's gives theirs back": (
        changed(versions=(2, 4)),
        state(version=4),
        (WriteKind.EDITED, 3, False, ""),
    ),
    "a new row that somebody else edited in between gives theirs back": (
        changed(made=True, versions=(3,)),
        created(version=3),
        (WriteKind.EDITED, 2, False, ""),
    ),
    "a row that somebody else edited before it was deleted comes back with their text": (
        changed(GONE, versions=(2,)),
        state(version=3, batch="b1", deleted_at=NOON, actor=OTHER),
        (WriteKind.DELETED, None, False, ""),
    ),
    "a deleted row comes back": (
        changed(GONE),
        state(batch="b1", deleted_at=NOON),
        (WriteKind.DELETED, None, False, ""),
    ),
    "a row that was edited and deleted comes back with its text": (
        changed(GONE, versions=(2,)),
        state(version=2, batch="b1", deleted_at=NOON),
        (WriteKind.DELETED, 1, False, ""),
    ),
    "a restored row goes back to where it lay": (
        changed(BACK, since=SINCE),
        state(batch="b2"),
        (WriteKind.RESTORED, None, True, SINCE),
    ),
    "a row that was restored and deleted again lies there since then": (
        changed(BACK, ("b3", WriteKind.DELETED), since=SINCE),
        state(batch="b3", deleted_at=NOON),
        (WriteKind.RESTORED, None, True, SINCE),
    ),
}
NOTHING = {
    "a new row that its writer deleted": (changed(GONE, made=True), created(batch="b1", deleted_at=NOON)),
    "an edit that was taken back already": (changed(versions=(2,)), state(version=3, reapplied={3: 1})),
    "a row that was deleted and restored": (changed(GONE, BACK), state(batch="b2")),
    "a new row that is gone": (changed(made=True), created(is_kept=False)),
    "a row of somebody else between those of an import": (changed(made=True), state()),
}
UNCHANGED = {
    "edited by somebody else": (changed(versions=(2,)), state(version=3, actor=OTHER), UnchangedReason.EDITED_SINCE),
    "a new row that somebody else edited": (
        changed(made=True),
        created(version=2, actor=OTHER),
        UnchangedReason.EDITED_SINCE,
    ),
    "a new row that somebody else deleted": (
        changed(made=True),
        created(batch="x", deleted_at=NOON),
        UnchangedReason.MOVED_SINCE,
    ),
    "a new row that somebody else restored": (changed(made=True), created(batch="x"), UnchangedReason.MOVED_SINCE),
    "an edited row that somebody else deleted": (
        changed(versions=(2,)),
        state(version=2, batch="x", deleted_at=NOON),
        UnchangedReason.MOVED_SINCE,
    ),
    "a deleted row that somebody else restored": (changed(GONE), state(batch="x"), UnchangedReason.MOVED_SINCE),
    "a deleted row that is gone": (changed(GONE), state(is_kept=False, deleted_at=EARLIER), UnchangedReason.GONE),
}


@table("case", STEPS)
def test_a_step(case: str) -> None:
    marks, now, (done, text, is_deleted, since) = STEPS[case]
    [step], unchanged = decide({7: marks}, {7: now}, ME)
    assert (step.done, step.text, step.is_deleted, step.deleted_at) == (done, text, is_deleted, since)
    assert (step.version, step.batch, unchanged) == (now.version, now.batch, [])


@table("case", NOTHING)
def test_nothing_to_do(case: str) -> None:
    marks, now = NOTHING[case]
    assert decide({7: marks}, {7: now}, ME) == ([], [])


@table("case", UNCHANGED)
def test_unchanged(case: str) -> None:
    marks, now, reason = UNCHANGED[case]
    steps, [row] = decide({7: marks}, {7: now}, ME)
    assert (steps, row.reason, row.object_id) == ([], reason, 7)


def test_a_row_that_was_never_found_is_gone() -> None:
    assert decide({7: changed(GONE)}, {}, ME) == ([], [UnchangedRow(UnchangedReason.GONE, 7)])
    assert decide({7: changed(made=True)}, {}, ME) == ([], [])
