"""A trading agent and its ticks on pages: what it reads, its settings with an undo, and what it saw."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from learning_app.ledger.models import DecisionSnapshot, Deployment, Trade
from minara_site.access.models import AccessEntry
from tests.kit.api import agent_of
from tests.kit.page import text_of, toasts_of, undo_of, words_of
from tests.kit.visitor import visitor
from tests.learning_app.lessons.rows import make_note
from tests.learning_app.ticks.bodies import START, STRATEGY, deploy, position, report, tick

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
MAX_QUERIES = 20
SETTINGS = {"enabled": "on", "recent_trades": 30, "cadence": "daily", "every_n": 5, "compare": "alternate"}


@pytest.fixture
def uid(ana):
    """Return the id of a deployment with a closed and an open trade."""
    agent = agent_of(ana)
    uid = deploy(agent, avoid=["Never average down."])
    for minute in range(0, 50, 5):
        held = [position("BTC", "long", 1, 100 + minute)] if minute % 20 else []
        said = {"action": "open", "symbol": "BTC", "reason": f"a breakout of {minute} minutes"}
        report(
            agent,
            uid,
            tick(minute, *held, proposed_action=said, kind="rejected" if minute == 20 else "executed", rule="R3"),
        )
    return uid


def test_the_page_shows_what_the_agent_reads_and_the_place_of_lessons(page, uid):
    with CaptureQueriesContext(connection) as queries:
        shown = words_of(page.get(f"/ledger/deployments/{uid}/"))
    assert len(queries) <= MAX_QUERIES
    parts = ("engine rejections (last 1h): R3=1", "(no lessons yet: they appear here)", "Never average down.", STRATEGY)
    assert [part for part in parts if part not in shown] == []
    empty = deploy(agent_of(Deployment.objects.get().owner), "quiet")
    assert "Nothing this session" in words_of(page.get(f"/ledger/deployments/{empty}/"))


def test_settings_are_tried_then_saved_as_a_version_and_undone(page, uid):
    path = f"/ledger/deployments/{uid}/"
    tried = words_of(page.get(path, {**SETTINGS, "enabled": "on"}))
    assert "Not saved yet." in tried
    assert "That is more than 1,100" in tried
    assert "That is more than" not in words_of(page.get(path))
    saved = page.post(path, SETTINGS, follow=True)
    assert toasts_of(saved) == ["Saved as a new version. It counts from the next tick on."]
    row = Deployment.objects.get()
    config = row.version.config
    assert (row.version.number, config["strategy"], config["memory"]["recentTradesK"]) == (2, STRATEGY, 30)
    assert toasts_of(page.post(path, SETTINGS, follow=True)) == ["Nothing changed."]
    page.post(undo_of(saved))
    row.refresh_from_db()
    assert row.version.number == 1
    refused = page.post(path, {**SETTINGS, "recent_trades": 31})
    assert refused.status_code == 422
    assert "less than or equal to 30" in words_of(refused)


def test_the_tick_of_an_entry_shows_what_stood_before_the_agent(page, uid):
    snapshot = Trade.objects.order_by("number").first().entry_snapshot
    with CaptureQueriesContext(connection) as queries:
        shown = words_of(page.get(f"/ledger/ticks/{snapshot.pk}/"))
    assert len(queries) <= MAX_QUERIES
    assert "Computed again, and equal to what was answered:" in shown
    assert "a breakout of 0 minutes" in shown
    assert "No earlier tick is kept" in words_of(page.get(f"/ledger/ticks/{snapshot.pk - 1}/"))
    DecisionSnapshot.objects.filter(pk=snapshot.pk - 1).update(held_at=snapshot.tick_at)
    held = words_of(page.get(f"/ledger/ticks/{snapshot.pk}/"))
    assert "Words that read “(held)” below were held or deleted since" in held
    assert "a breakout of 0 minutes" not in held


def test_who_may_open_them(ana, ben, olga, sam, uid):
    paths = (f"/ledger/deployments/{uid}/", f"/ledger/ticks/{DecisionSnapshot.objects.first().pk}/")
    codes = [[visitor(each).get(path).status_code for path in paths] for each in (ana, ben, olga, sam)]
    assert codes == [[200, 200], [404, 404], [200, 200], [403, 403]]
    assert sorted(AccessEntry.objects.filter(viewer=olga).values_list("kind", flat=True)) == ["deployment", "snapshot"]
    assert "Save settings" not in text_of(visitor(olga).get(paths[0]))
    assert visitor(olga).post(paths[0], SETTINGS).status_code == 404
    assert Deployment.objects.get().version.number == 1


def test_one_trade_shows_its_lessons_and_what_the_agent_saw(ana, olga, sam):
    agent = agent_of(ana)
    uid = deploy(agent)
    make_note(Deployment.objects.get(), "### Sizing\n- Sizes above $5,000 lost.", status="active", generated_at=START)
    for minute in (0, 5, 10):
        report(agent, uid, tick(minute, *([position("BTC", "long", 1, 100)] if minute == 5 else [])))
    trade, own = Trade.objects.get(), visitor(ana)
    with CaptureQueriesContext(connection) as queries:
        shown = words_of(own.get(f"/ledger/trades/{trade.uid}/"))
    assert len(queries) <= MAX_QUERIES
    assert "Sizes above $5,000 lost." in shown
    assert "Computed again, and equal to what was answered:" in shown
    assert STRATEGY in words_of(visitor(olga).get(f"/ledger/trades/{trade.uid}/"))
    masked = words_of(visitor(sam).get(f"/ledger/trades/{trade.uid}/"))
    assert "lost." in masked
    assert [word for word in ("5,000", STRATEGY, "What the agent saw") if word in masked] == []
