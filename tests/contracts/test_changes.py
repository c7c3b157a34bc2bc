"""Every kind whose rows acts change is undone in the same way, and every act is undone by whom `acts.py` says."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse

from learning_app.learnings.services.change import set_deleted
from learning_app.ledger.models import Deployment, SkillVersion
from learning_app.methodologies.services.decide import quarantine
from learning_app.notes.models import OwnNote
from learning_app.notes.services import write_note
from learning_app.preferences.services.decide import reject
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.services.deployments import deploy
from memory_app.facts.core import Decider
from memory_app.facts.core.decision import Decision, DecisionKind
from memory_app.facts.services import apply_decision
from memory_app.memories.models import FactConflict
from memory_app.memories.services import delete_memories
from minara_site.access.policy import POLICY, Act, Role
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.table import load_acts
from minara_site.kernel.changes import services
from minara_site.kernel.changes.kinds import changes_of
from minara_site.kernel.changes.models import Change, ChangeSet, Revision
from minara_site.kernel.changes.selectors import list_history, plan_undo
from minara_site.kernel.db import update_rows
from minara_site.shell.undo import find_undoable
from tests.kit.clock import NOON
from tests.kit.tables import Faults, table, taken_back
from tests.kit.undo import last_set, undo_last
from tests.kit.visitor import visitor
from tests.learning_app.learnings.rows import make_learning
from tests.learning_app.lessons.rows import make_deployment
from tests.learning_app.rows import make_methodology, make_preference
from tests.memory_app.facts.factories import make_fact
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.database]

EXACT, LATER = NOON + timedelta(microseconds=123_457), NOON + timedelta(hours=1)


@dataclass(frozen=True)
class Sample:
    """A row of a kind, an act on it, and columns that a stranger gives it."""

    make: Callable[[Any], Any]
    act: Callable[[Any, Any], Any]
    other: dict[str, Any]


def delete(row: Any, by: Any) -> None:
    set_deleted(principal=Principal(by, by.role), owner=row.owner, uids=[row.uid], is_deleted=True, now=EXACT)


def make_pair(owner: Any) -> FactConflict:
    older, newer = (make_fact(owner, f"prefers {word} charts", fact_state="settled") for word in ("weekly", "daily"))
    return FactConflict.objects.create(owner=owner, older=older, newer=newer, leaves=older, found_at=NOON)


def keep_both(row: FactConflict, by: Any) -> None:
    decision = Decision(DecisionKind.KEEP_BOTH, row.older_id, row.newer_id)
    told = {"owner": row.owner, "conflict_id": row.pk, "decider": Decider.PERSON, "now": EXACT}
    apply_decision(decision=decision, actor=f"user:{by.pk}", **told)


def deploy_otherwise(row: Deployment, by: Any) -> None:
    said = {"name": row.name, "skill_name": row.version.skill.name, "config": SkillConfig(strategy="Sell highs.")}
    deploy(owner_id=row.owner_id, actor=f"user:{by.pk}", now=EXACT, **said)
    row.refresh_from_db()


def version_of_another(row: Deployment) -> SkillVersion:
    other: SkillVersion = SkillVersion.objects.exclude(skill=row.version.skill).earliest("pk")
    return other


def make_own_note(owner: Any) -> OwnNote:
    said = {"kind": "case", "key": str(OwnNote.objects.count()), "text": "first words"}
    times = {"created_at": NOON, "updated_at": NOON}
    row: OwnNote = OwnNote.objects.create(owner=owner, actor=f"user:{owner.pk}", **said, **times)
    return row


def write_otherwise(row: OwnNote, by: Any) -> None:
    said = {"kind": row.kind, "key": row.key, "text": "other words"}
    write_note(owner_id=row.owner_id, actor=f"user:{by.pk}", now=EXACT, **said)
    row.refresh_from_db()


ONCE_MADE = {"deployment", "own_note"}  # acts change them, no act undoes that they are there
SAMPLES = {
    "fact_conflict": Sample(make_pair, keep_both, {"state": "resolved", "decided_at": LATER}),
    "memory": Sample(
        make_memory,
        lambda row, by: delete_memories(principal=Principal(by, by.role), owner=row.owner, ids=[row.pk], now=EXACT),
        {"deleted_at": LATER},
    ),
    "methodology": Sample(
        lambda owner: make_methodology(correct=20, used=21, quarantine=0),
        lambda row, by: quarantine(uid=row.uid, reason="no", actor=f"user:{by.pk}", now=EXACT),
        {"quarantine": 1, "quarantined_by": "judge", "moved_at": LATER},
    ),
    "deployment": Sample(make_deployment, deploy_otherwise, {"version": version_of_another}),
    "own_note": Sample(make_own_note, write_otherwise, {"text_version": 7, "updated_at": LATER}),
    "learning": Sample(make_learning, delete, {"deleted_at": LATER, "deleted_by": "user:9"}),
    "preference": Sample(
        make_preference,
        lambda row, by: reject(
            preference_id=row.pk, owner=row.owner, actor=f"user:{by.pk}", reason="no sk-ant-api03-x", now=EXACT
        ),
        {"state": "archived", "decided_by": "user:9", "decided_at": LATER},
    ),
}


OF_RUNS = {"tag", "profile_summary"}  # made and undone as runs: tests/profile_app/rebuild


def state(kind: str, row: Any) -> dict[str, Any]:
    row.refresh_from_db()
    return dict(changes_of()[kind].state_of(row))


def change(kind: str, row: Any, columns: dict[str, Any], *, by: Any) -> None:
    """Let a stranger change a row, as a service of its room would."""
    watched = services.watch(kind, [row])
    for name, value in columns.items():
        setattr(row, name, value(row) if callable(value) else value)
    update_rows(type(row), tuple(columns), [row])
    services.record("stranger", watched, actor=f"user:{by.pk}", at=LATER)


def test_every_kind_has_a_sample_and_columns_that_are_no_texts() -> None:
    assert changes_of().keys() == SAMPLES.keys() | OF_RUNS
    for facet in changes_of().values():
        assert {*facet.beside} <= {*facet.columns}
        assert not {*facet.texts} & {*facet.columns}
        assert ("text_version" in facet.columns) == bool(facet.texts)


def named(details: dict[str, Any]) -> list[Any]:
    """Return the rows that an entry of the audit log names."""
    if "memories" in details:
        return [each["id"] for each in details["memories"]]
    return list(details.get("ids", [details.get("id")]))


@table("kind", list(SAMPLES))
def test_an_act_is_undone_and_done_again_and_stands_in_the_history(ana: Any, olga: Any, kind: str) -> None:
    sample = SAMPLES[kind]
    row, by = sample.make(ana), olga
    before = state(kind, row)
    sample.act(row, by)
    after, changed = state(kind, row), last_set(kind, row)
    assert after != before
    undo_last(kind, row, by=by)
    assert state(kind, row) == before
    assert find_undoable(kind, row, Principal(by, by.role)) is None
    undo_last(kind, row, by=by)
    assert state(kind, row) == after
    facet = changes_of()[kind]
    past = [(facet.state_of(old), facet.state_of(new), by.act) for old, new, by in list_history(kind, row)]
    assert past == [(before, after, "undone"), (after, before, "undone"), (before, after, changed.act)]
    told = AuditEntry.objects.filter(details__change_set__isnull=False).values_list("details", flat=True)
    assert {details["change_set"] for details in told} == {by.pk for _old, _new, by in list_history(kind, row)}
    assert {name for details in told for name in named(details)} == {getattr(row, facet.id_column)}
    assert not any(isinstance(value, str) and value == "no" for each in Change.objects.all() for value in each.after)


@table("kind", list(SAMPLES))
def test_what_a_stranger_changed_what_is_purged_and_what_is_held_stays(ana: Any, olga: Any, kind: str) -> None:
    sample = SAMPLES[kind]
    rows = [sample.make(ana) for _number in range(3)]
    for row in rows:
        sample.act(row, olga)
    changed, moved, gone = rows
    sets = list(ChangeSet.objects.order_by("pk").values_list("pk", flat=True))
    moved.refresh_from_db()
    change(kind, moved, sample.other, by=ana)
    numbers = gone.pk
    type(gone).objects.filter(pk=gone.pk).delete()
    plan = plan_undo(sets, actor=f"user:{olga.pk}", now=LATER)
    assert [step.key for step in plan.steps] == [str(changed.pk)]
    assert {(stay.key, stay.reason == "gone", getattr(stay.since, "actor", "")) for stay in plan.stays} == {
        (str(moved.pk), False, f"user:{ana.pk}"),
        (str(numbers), True, ""),
    }


@table("kind", [kind for kind in SAMPLES if kind not in ONCE_MADE])
def test_what_a_writer_made_goes_comes_back_and_goes_again(ana: Any, olga: Any, kind: str) -> None:
    row = SAMPLES[kind].make(ana)
    before, made = state(kind, row), {kind: [str(row.pk)]}
    first = plan_undo([], made, actor=f"user:{olga.pk}", now=EXACT)
    rolled = services.apply_plan(first, act="rolled", actor=f"user:{olga.pk}", in_one=True)
    after = state(kind, row)
    assert after != before
    back = plan_undo([rolled.pk], actor=f"user:{olga.pk}", now=LATER)
    services.apply_plan(back, act="rolled_back", actor=f"user:{olga.pk}", undoes=rolled, in_one=True)
    assert state(kind, row) == before
    assert plan_undo([], made, actor=f"user:{olga.pk}", now=LATER).sha256 == first.sha256


@table("kind", sorted(ONCE_MADE))
def test_what_no_act_takes_away_stays_when_its_writer_is_rolled_back(ana: Any, olga: Any, kind: str) -> None:
    row = SAMPLES[kind].make(ana)
    plan = plan_undo([], {kind: [str(row.pk)]}, actor=f"user:{olga.pk}", now=EXACT)
    assert (plan.steps, [stay.key for stay in plan.stays]) == ([], [str(row.pk)])


def test_who_stays_as_decided_is_told_by_what_happened_since_and_by_nothing_earlier(ana: Any, olga: Any) -> None:
    row = make_learning(ana)
    set_deleted(principal=Principal(ana, ana.role), owner=ana, uids=[row.uid], is_deleted=True, now=NOON)
    undo_last("learning", row, by=ana)
    delete(row, olga)
    changed = last_set("learning", row)
    row.delete()
    [stay] = plan_undo([changed.pk], actor=f"user:{olga.pk}", now=LATER).stays
    assert (stay.reason, stay.since) == ("gone", None)


def test_an_erasure_takes_words_reasons_and_states(ana: Any) -> None:
    for kind, facet in changes_of().items():
        if facet.texts:
            services.keep_texts(kind, SAMPLES[kind].make(ana), {facet.texts[0]: "before"}, actor="key:a", now=NOON)
    row = make_preference(ana)
    reject(preference_id=row.pk, owner=ana, actor=f"user:{ana.pk}", reason="private", now=EXACT)
    services.erase_owner(ana.pk)
    ana.delete()
    assert not Revision.objects.exists()
    assert not Change.objects.exists()
    assert [each.reason for each in ChangeSet.objects.all()] == [""]


def test_a_purge_takes_the_words_and_leaves_the_states(ana: Any) -> None:
    for kind, facet in changes_of().items():
        if facet.texts:
            row = SAMPLES[kind].make(ana)
            services.keep_texts(kind, row, {facet.texts[0]: "before"}, actor="key:a", now=NOON)
            assert Revision.objects.filter(kind=kind).count() == 2
            services.delete_texts(kind, [str(row.pk)])
    assert not Revision.objects.exists()


def test_each_act_is_undone_by_whom_the_policy_lets_and_by_nobody_else(ana: Any, ben: Any, olga: Any, sam: Any) -> None:
    """An owner their own rows, an operator all; the instance's rows are the operators'."""
    faults = Faults()
    people = {who: visitor(who) for who in (ana, ben, olga, sam)}
    owned, of_instance = make_preference(ana), make_methodology()
    for name, act in load_acts().items():
        needed = act.undone_by and POLICY[Act(act.undone_by)]
        for kind, row in (("preference", owned), ("methodology", of_instance)):
            with faults.row(f"{name} {kind}"), taken_back("default"):
                made = ChangeSet.objects.create(act=name, actor=f"user:{ana.pk}", at=NOON)
                Change.objects.create(set=made, kind=kind, key=str(row.pk), owner_id=row.owner_id, before=[], after=[])
                for who, page in people.items():
                    is_reached = who is olga or (who is ana and kind == "preference")
                    expected = 403 if who is sam else 200 if needed and is_reached and who.role in needed.roles else 404
                    if needed and is_reached and who.role not in needed.roles:
                        expected = 403
                    assert page.get(reverse("undo", args=[made.pk])).status_code == expected, who
    faults.show()
    assert {Role.USER, Role.OPERATOR, Role.SUPPORT} == {who.role for who in people}
