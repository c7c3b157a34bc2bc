"""The demo's preferences: in every state, in nobody's way, and gone without a trace."""

import pytest

from learning_app.preferences.models import Preference, PreferenceCursor
from learning_app.preferences.services.mine import mine_preferences
from minara_site.access.models import User
from minara_site.console.demo.services import load_demo, remove_demo
from minara_site.kernel.conversations.services import NewTurn, record_turn
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.jobs.models import JobRun
from profile_app.prompt.services import start_session
from tests.kit.clock import NOON

pytestmark = pytest.mark.django_db


def talk(owner, text):
    session = start_session(owner=owner, title="", actor="test", now=NOON).session
    return record_turn(owner=owner, session_id=session.pk, turn=NewTurn(text, ""), actor="test", now=NOON)


@pytest.mark.database
def test_every_state_is_shown_its_talk_is_not_mined_and_nothing_stays(models):
    models.answer = {"preferences": []}
    load_demo(now=NOON, actor="command:demo")
    rows = Preference.objects.filter(is_demo=True)
    assert rows.count() >= 10
    assert set(rows.values_list("state", flat=True)) == {"proposed", "active", "rejected", "archived"}
    hard = rows.get(kind="hard_constraint", state="active")
    assert hard.decided_by == f"user:{User.objects.get(is_default=True).pk}"
    assert Hold.objects.filter(kind="preference").count() == 1
    assert (mine_preferences(now=NOON), models.calls) == ({"proposed": 0}, 0)
    assert not JobRun.objects.filter(job="memories.bridge_preferences").exists()
    remove_demo(now=NOON, actor="command:demo")
    assert not Preference.objects.exists()
    assert not PreferenceCursor.objects.exists()
    assert not Hold.objects.filter(kind="preference").exists()


def test_who_said_something_before_the_demo_came_is_still_read(models):
    models.answer = {"preferences": []}
    default = User.objects.get(is_default=True)
    talk(default, "never above 3x")
    load_demo(now=NOON, actor="command:demo")
    assert mine_preferences(now=NOON)["read"] == 1
    assert "never above 3x" in models.asked[0].content
    remove_demo(now=NOON, actor="command:demo")
    assert PreferenceCursor.objects.get().owner == default
