"""Taking back a writer deletes its learnings and puts back the guidance it edited; an undo restores both (P-07)."""

import re
from datetime import timedelta

import pytest
import time_machine

from learning_app.learnings.models import Learning
from learning_app.learnings.services.change import edit_guidance
from learning_app.learnings.services.store import LearningDraft, store_learning
from memory_app.writes.selectors.plans import preview_roll_back, preview_undo
from memory_app.writes.services import roll_back, undo_roll_back
from minara_site.access.policy import Role, Scope
from minara_site.access.principal import Principal
from tests.kit.clock import NOON
from tests.kit.page import text_of
from tests.memory_app.writes.factories import person

pytestmark = [pytest.mark.django_db, pytest.mark.database]
BAD = "key:bad00000"


def store(owner, trigger, actor):
    draft = LearningDraft("n", trigger, [{"tool_name": "a", "args": {}}], "as written")
    return store_learning(owner_id=owner.pk, draft=draft, actor=actor, now=NOON).row


def edit(owner, row, text, *, prefix=""):
    scopes = frozenset({Scope.LEARNING_WRITE}) if prefix else None
    principal = Principal(owner, Role.USER, scopes=scopes, key_prefix=prefix)
    edit_guidance(principal=principal, owner=owner, uid=row.uid, guidance=text, now=NOON)


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
