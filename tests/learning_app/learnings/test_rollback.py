"""Taking back a writer deletes its learnings and puts back the guidance it edited; an undo restores both (P-07)."""

import re
from datetime import timedelta

import pytest
import time_machine

from learning_app.learnings.models import Learning
from learning_app.learnings.services.change import edit_guidance, set_deleted
from learning_app.learnings.services.store import LearningDraft, store_learning
from memory_app.writes.selectors.plans import preview_roll_back, preview_undo
from memory_app.writes.services import roll_back, undo_roll_back
from minara_site.access.policy import Role, Scope
from minara_site.access.principal import Principal
from minara_site.kernel.changes.selectors import plan_undo
from minara_site.kernel.errors import Invalid, Refused
from tests.kit.clock import NOON
from tests.kit.page import text_of
from tests.kit.undo import last_set, undo_last
from tests.memory_app.writes.factories import person

pytestmark = [pytest.mark.django_db, pytest.mark.database]
BAD = "key:bad00000"


def store(owner, trigger, actor):
    draft = LearningDraft("n", trigger, [{"tool_name": "a", "args": {}}], "as written")
    return store_learning(owner_id=owner.pk, draft=draft, actor=actor, now=NOON).row


def edit(owner, row, text, *, prefix="", now=NOON):
    scopes = frozenset({Scope.LEARNING_WRITE}) if prefix else None
    principal = Principal(owner, Role.USER, scopes=scopes, key_prefix=prefix)
    edit_guidance(principal=principal, owner=owner, uid=row.uid, guidance=text, now=now)


def states():
    return {row.trigger: (row.guidance, bool(row.deleted_at)) for row in Learning.objects.order_by("pk")}


def test_a_writer_goes_and_comes_back_and_what_people_wrote_stays(ana, olga, operator_page):
    store(ana, "hedge the spread", BAD)
    store(ana, "rotate the vault", BAD)
    good = store(ana, "scan the curve pools", "key:good0000")
    edit(ana, good, "poisoned once", prefix="bad00000")
    edit(ana, good, "poisoned twice", prefix="bad00000")
    cared_for = store(ana, "compare funding", BAD)
    edit(ana, cared_for, "my own words")
    before = states()
    with time_machine.travel(NOON, tick=False):
        page = text_of(operator_page.get("/ops/writes/"))
    assert re.search(r"key:bad00000.*?Learnings\">3<.*?Guidance\">2<", page, re.DOTALL)
    plan = preview_roll_back(writer=BAD, since=NOON - timedelta(hours=1), now=NOON)
    what = {
        "principal": person(olga),
        "writer": BAD,
        "since": NOON - timedelta(hours=1),
        "reason": "bad",
        "now": NOON,
    }
    record = roll_back(**what, sha256=plan.sha256)
    assert states() == {
        "hedge the spread": ("as written", True),
        "rotate the vault": ("as written", True),
        "scan the curve pools": ("as written", False),
        "compare funding": ("my own words", False),
    }
    sha256 = preview_undo(record).sha256
    undo_roll_back(principal=person(olga), rollback_id=record.pk, sha256=sha256, reason="", now=NOON)
    assert states() == before


def take_back(olga, writer=BAD, since=NOON - timedelta(hours=1)):
    plan = preview_roll_back(writer=writer, since=since, now=NOON)
    what = {"principal": person(olga), "writer": writer, "since": since, "reason": "bad", "now": NOON}
    return roll_back(**what, sha256=plan.sha256)


def test_goes_back_no_further_than_the_moment_that_it_is_asked_from(ana, olga):
    row = store(ana, "scan the curve pools", "key:good0000")
    edit(ana, row, "before", prefix="bad00000", now=NOON - timedelta(hours=2))
    edit(ana, row, "after", prefix="bad00000")
    take_back(olga)
    row.refresh_from_db()
    assert (row.guidance, row.edited_by) == ("before", f"user:{olga.pk}"), "no key changes it again"


def test_an_edit_that_was_undone_hides_no_writer_and_what_changed_since_is_named(ana, olga):
    row = store(ana, "scan the curve pools", "key:good0000")
    edit(ana, row, "poisoned", prefix="bad00000")
    edit(ana, row, "mine")
    undo_last("learning", row, by=ana)
    record = take_back(olga)
    row.refresh_from_db()
    assert row.guidance == "as written"
    edit(ana, row, "mine again")
    with pytest.raises(Invalid):
        undo_roll_back(
            principal=person(olga),
            rollback_id=record.pk,
            sha256=preview_undo(record).sha256,
            reason="",
            now=NOON,
        )
    [stay] = preview_undo(record).changes.stays
    assert (stay.reason, stay.since.actor) == ("edited_since", f"user:{ana.pk}")


def test_what_was_removed_for_good_is_named_and_leads_nowhere(ana, olga, operator_page):
    row, _other = store(ana, "scan the curve pools", BAD), store(ana, "hedge the spread", BAD)
    row.delete()
    record = take_back(olga)
    assert [(each["learning"], each["why"]) for each in record.left] == [(row.uid, "gone")]
    shown = text_of(operator_page.get(f"/ops/writes/{record.pk}/"))
    assert "it was removed for good" in shown
    assert f"/learnings/{row.uid}/" not in shown


def test_what_waits_for_its_purge_comes_back_by_no_undo(ana):
    row, long_ago = store(ana, "scan the curve pools", BAD), NOON - timedelta(days=400)
    set_deleted(principal=person(ana), owner=ana, uids=[row.uid], is_deleted=True, now=long_ago)
    row.refresh_from_db()
    sets = [last_set("learning", row).pk]
    plans = [plan_undo(sets, actor=f"user:{ana.pk}", now=now) for now in (long_ago, NOON)]
    assert [[stay.reason for stay in plan.stays] for plan in plans] == [[], ["gone"]]


def test_what_a_key_deleted_comes_back(ana, olga):
    row = store(ana, "scan the curve pools", "key:good0000")
    key = Principal(ana, Role.USER, scopes=frozenset({Scope.LEARNING_WRITE}), key_prefix="bad00000")
    set_deleted(principal=key, owner=ana, uids=[row.uid], is_deleted=True, now=NOON)
    record = take_back(olga)
    assert states() == {row.trigger: ("as written", False)}
    assert record.counts["learning_state"] == 1
    with pytest.raises(Refused):
        set_deleted(principal=key, owner=ana, uids=[row.uid], is_deleted=True, now=NOON)
    undone = undo_roll_back(
        principal=person(olga), rollback_id=record.pk, sha256=preview_undo(record).sha256, reason="", now=NOON
    )
    assert states() == {row.trigger: ("as written", True)}
    assert undone.counts["learning_state"] == 1
