"""What a roll-back does to one row, as a full table."""

from datetime import UTC, datetime
from typing import Any

from memory_app.writes.core.memories import ChangedRow, RowState, WriteKind, decide
from minara_site.kernel.rollback import UnchangedRow
from minara_site.kernel.unchanged import UnchangedReason
from tests.kit.clock import NOON
from tests.kit.tables import table

ME, OTHER = "key:me", "user:2"
EARLIER = datetime(2026, 6, 1, tzinfo=UTC)


def state(**fields: Any) -> RowState:
    """A live row at version 1 that somebody else created."""
    start: dict[str, Any] = {"version": 1, "batch": None, "deleted_at": None, "is_kept": True}
    return RowState(**start | {"actor": ME, "first_actor": OTHER} | fields)


def created(**fields: Any) -> RowState:
    return state(first_actor=ME, **fields)


def changed(
    *moves: tuple[str, WriteKind],
    made: bool = False,
    versions: tuple[int, ...] = (),
    since: str | None = None,
) -> ChangedRow:
    marks = ChangedRow(versions=set(versions))
    if made:
        marks.versions.add(1)
    for batch, done in moves:
        marks.move(batch, done, since)
    return marks


def lying(**fields: Any) -> RowState:
    """A row that the batch of GONE put into the trash."""
    return state(batch="b1", deleted_at=NOON, **fields)


GONE, BACK = ("b1", WriteKind.DELETED), ("b2", WriteKind.RESTORED)
SINCE = EARLIER.isoformat()
Step = tuple[WriteKind, int | None, bool, str]
TO_TRASH: Step = (WriteKind.CREATED, None, True, "")
FROM_TRASH: Step = (WriteKind.DELETED, None, False, "")
TO_TRASH_AGAIN: Step = (WriteKind.RESTORED, None, True, SINCE)


def text_of(version: int) -> Step:
    return (WriteKind.EDITED, version, False, "")


STEPS = {
    "a new row goes to the trash": (changed(made=True), created(), TO_TRASH),
    "a new row that its writer edited, too": (changed(made=True, versions=(2, 3)), created(version=3), TO_TRASH),
    "an edit gives the text before the first": (changed(versions=(4, 5)), state(version=5), text_of(3)),
    "versions of a roll-back that was undone are nobody's": (
        changed(versions=(2,)),
        state(version=4, reapplied={3: 1, 4: 2}),
        text_of(1),
    ),
    "an edit upon somebody else's gives theirs back": (changed(versions=(2, 4)), state(version=4), text_of(3)),
    "a new row with an edit of somebody else's in between gives theirs back": (
        changed(made=True, versions=(3,)),
        created(version=3),
        text_of(2),
    ),
    "a row that somebody else edited before it was deleted comes back with their text": (
        changed(GONE, versions=(2,)),
        lying(version=3, actor=OTHER),
        FROM_TRASH,
    ),
    "a deleted row comes back": (changed(GONE), lying(), FROM_TRASH),
    "a row that was edited and deleted comes back with its text": (
        changed(GONE, versions=(2,)),
        lying(version=2),
        (WriteKind.DELETED, 1, False, ""),
    ),
    "a restored row goes back to where it lay": (changed(BACK, since=SINCE), state(batch="b2"), TO_TRASH_AGAIN),
    "a row that was restored and deleted again lies there since then": (
        changed(BACK, ("b3", WriteKind.DELETED), since=SINCE),
        state(batch="b3", deleted_at=NOON),
        TO_TRASH_AGAIN,
    ),
}
NOTHING = {
    "a new row that its writer deleted": (changed(GONE, made=True), created(batch="b1", deleted_at=NOON)),
    "an edit that was taken back already": (changed(versions=(2,)), state(version=3, reapplied={3: 1})),
    "a row that was deleted and restored": (changed(GONE, BACK), state(batch="b2")),
    "a new row that is gone": (changed(made=True), created(is_kept=False)),
    "a row of somebody else between those of an import": (changed(made=True), state()),
}
EDITED, MOVED = UnchangedReason.EDITED_SINCE, UnchangedReason.MOVED_SINCE
AWAY = {"batch": "x", "deleted_at": NOON}
UNCHANGED = {
    "edited by somebody else": (changed(versions=(2,)), state(version=3, actor=OTHER), EDITED),
    "a new row that somebody else edited": (changed(made=True), created(version=2, actor=OTHER), EDITED),
    "a new row that somebody else deleted": (changed(made=True), created(**AWAY), MOVED),
    "a new row that somebody else restored": (changed(made=True), created(batch="x"), MOVED),
    "an edited row that somebody else deleted": (changed(versions=(2,)), state(version=2, **AWAY), MOVED),
    "a deleted row that somebody else restored": (changed(GONE), state(batch="x"), MOVED),
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
