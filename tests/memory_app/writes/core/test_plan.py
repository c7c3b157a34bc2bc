"""What a roll-back does to one row, as a full table."""

from datetime import UTC, datetime
from typing import Any

from memory_app.writes.core.entries import Done
from memory_app.writes.core.plan import (
    EntryStep,
    Left,
    Plan,
    Repetition,
    Stands,
    Step,
    Touched,
    Why,
    decide,
    decide_entries,
)
from tests.kit.clock import NOON
from tests.kit.tables import table

ME, OTHER = "key:me", "user:2"
EARLIER = datetime(2026, 6, 1, tzinfo=UTC)


def stands(**fields: Any) -> Stands:
    """A live row at version 1 that somebody else created."""
    start: dict[str, Any] = {
        "version": 1,
        "batch": None,
        "deleted_at": None,
        "is_kept": True,
        "actor": ME,
        "first_actor": OTHER,
    }
    return Stands(**start | fields)


def created(**fields: Any) -> Stands:
    return stands(first_actor=ME, **fields)


def touched(
    *moves: tuple[str, Done], made: bool = False, versions: tuple[int, ...] = (), since: str | None = None
) -> Touched:
    marks = Touched(versions=set(versions))
    if made:
        marks.create()
    for batch, done in moves:
        marks.move(batch, done, since)
    return marks


GONE, BACK = ("b1", Done.DELETED), ("b2", Done.RESTORED)
SINCE = EARLIER.isoformat()
STEPS = {
    "a new row goes to the trash": (touched(made=True), created(), (Done.CREATED, None, True, "")),
    "a new row that its writer edited, too": (
        touched(made=True, versions=(2, 3)),
        created(version=3),
        (Done.CREATED, None, True, ""),
    ),
    "an edit gives the text before the first": (
        touched(versions=(4, 5)),
        stands(version=5),
        (Done.EDITED, 3, False, ""),
    ),
    "versions of a roll-back that was undone are nobody's": (
        touched(versions=(2,)),
        stands(version=4, again={3: 1, 4: 2}),
        (Done.EDITED, 1, False, ""),
    ),
    "an edit upon somebody else's gives theirs back": (
        touched(versions=(2, 4)),
        stands(version=4),
        (Done.EDITED, 3, False, ""),
    ),
    "a new row that somebody else edited in between gives theirs back": (
        touched(made=True, versions=(3,)),
        created(version=3),
        (Done.EDITED, 2, False, ""),
    ),
    "a row that somebody else edited before it was deleted comes back with their text": (
        touched(GONE, versions=(2,)),
        stands(version=3, batch="b1", deleted_at=NOON, actor=OTHER),
        (Done.DELETED, None, False, ""),
    ),
    "a deleted row comes back": (
        touched(GONE),
        stands(batch="b1", deleted_at=NOON),
        (Done.DELETED, None, False, ""),
    ),
    "a row that was edited and deleted comes back with its text": (
        touched(GONE, versions=(2,)),
        stands(version=2, batch="b1", deleted_at=NOON),
        (Done.DELETED, 1, False, ""),
    ),
    "a restored row goes back to where it lay": (
        touched(BACK, since=SINCE),
        stands(batch="b2"),
        (Done.RESTORED, None, True, SINCE),
    ),
    "a row that was restored and deleted again lies there since then": (
        touched(BACK, ("b3", Done.DELETED), since=SINCE),
        stands(batch="b3", deleted_at=NOON),
        (Done.RESTORED, None, True, SINCE),
    ),
}
NOTHING = {
    "a new row that its writer deleted": (touched(GONE, made=True), created(batch="b1", deleted_at=NOON)),
    "an edit that was taken back already": (touched(versions=(2,)), stands(version=3, again={3: 1})),
    "a row that was deleted and restored": (touched(GONE, BACK), stands(batch="b2")),
    "a new row that is gone": (touched(made=True), created(is_kept=False)),
    "a row of somebody else between those of an import": (touched(made=True), stands()),
}
LEFT = {
    "edited by somebody else": (touched(versions=(2,)), stands(version=3, actor=OTHER), Why.EDITED_SINCE),
    "a new row that somebody else edited": (touched(made=True), created(version=2, actor=OTHER), Why.EDITED_SINCE),
    "a new row that somebody else deleted": (touched(made=True), created(batch="x", deleted_at=NOON), Why.MOVED_SINCE),
    "a new row that somebody else restored": (touched(made=True), created(batch="x"), Why.MOVED_SINCE),
    "an edited row that somebody else deleted": (
        touched(versions=(2,)),
        stands(version=2, batch="x", deleted_at=NOON),
        Why.MOVED_SINCE,
    ),
    "a deleted row that somebody else restored": (touched(GONE), stands(batch="x"), Why.MOVED_SINCE),
    "a deleted row that is gone": (touched(GONE), stands(is_kept=False, deleted_at=EARLIER), Why.GONE),
}


@table("case", STEPS)
def test_a_step(case: str) -> None:
    marks, now, (done, text, is_deleted, since) = STEPS[case]
    [step], left = decide({7: marks}, {7: now}, ME)
    assert (step.done, step.text, step.is_deleted, step.deleted_at) == (done, text, is_deleted, since)
    assert (step.version, step.batch, left) == (now.version, now.batch, [])


@table("case", NOTHING)
def test_nothing_to_do(case: str) -> None:
    marks, now = NOTHING[case]
    assert decide({7: marks}, {7: now}, ME) == ([], [])


@table("case", LEFT)
def test_left_alone(case: str) -> None:
    marks, now, why = LEFT[case]
    steps, [left] = decide({7: marks}, {7: now}, ME)
    assert (steps, left.why, left.memory_id) == ([], why, 7)


def test_a_row_that_was_never_found_is_gone() -> None:
    assert decide({7: touched(GONE)}, {}, ME) == ([], [Left(Why.GONE, 7)])
    assert decide({7: touched(made=True)}, {}, ME) == ([], [])


def test_an_entry_gets_the_value_before_the_first_change() -> None:
    changes = [(4, 1, "zone", ME), (5, 1, "zone", ME), (6, 1, "home", OTHER), (7, 2, "zone", ME)]
    steps, left = decide_entries(changes, mine={4, 5, 7}, again={})
    assert steps == [EntryStep(1, "zone", 4, 5), EntryStep(2, "zone", 7, 7)]
    assert left == []


def test_an_entry_that_somebody_else_set_since_is_left_alone() -> None:
    steps, left = decide_entries([(4, 1, "zone", ME), (5, 1, "zone", OTHER)], mine={4}, again={})
    assert steps == []
    assert left == [Left(Why.CHANGED_SINCE, owner_id=1, key="zone", by=OTHER)]


def test_an_entry_that_was_set_upon_somebody_elses_value_gets_theirs_back() -> None:
    changes = [(4, 1, "zone", ME), (5, 1, "zone", OTHER), (6, 1, "zone", ME), (7, 1, "zone", ME)]
    assert decide_entries(changes, mine={4, 6, 7}, again={}) == ([EntryStep(1, "zone", 6, 7)], [])


def test_changes_of_an_entry_that_were_taken_back_count_for_nobody() -> None:
    changes = [(4, 1, "zone", ME), (5, 1, "zone", OTHER), (6, 1, "zone", OTHER)]
    assert decide_entries(changes[:2], mine={4}, again={5: 4}) == ([], [])
    assert decide_entries(changes, mine={4}, again={5: 4, 6: 5}) == ([EntryStep(1, "zone", 4, 6)], [])


def test_the_hash_knows_every_part() -> None:
    step = Step(7, Done.CREATED, 1, None, text=None, is_moved=True, is_deleted=True)
    entry, left = EntryStep(1, "zone", 4, 5), Left(Why.GONE, 9)
    plans = [
        Plan((), (), ()),
        Plan((step,), (), ()),
        Plan((step,), (entry,), ()),
        Plan((step,), (entry,), (left,)),
        Plan((step,), (entry,), (left,), (Repetition(8, 3),)),
        Plan((Step(7, Done.CREATED, 2, None, text=None, is_moved=True, is_deleted=True),), (), ()),
    ]
    hashes = [plan.sha256("key:me") for plan in plans] + [plans[0].sha256("key:you")]
    assert len(set(hashes)) == len(hashes)
    assert plans[3].sha256("key:me") == hashes[3]
    assert plans[4].counts == {
        "created": 1,
        "edited": 0,
        "deleted": 0,
        "restored": 0,
        "profile": 1,
        "unretired": 1,
        "left": 1,
    }
