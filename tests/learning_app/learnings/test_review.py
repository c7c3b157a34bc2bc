"""The review of turns against a local server of the Messages API: what good turns teach, and that others teach nothing."""

from datetime import timedelta

import pytest

from learning_app.capabilities import LEARNING_REVIEW
from learning_app.learnings.models import Learning, TurnLearning, TurnReview
from learning_app.learnings.services.review import review_turns
from learning_app.learnings.suggest import offer_to
from minara_site.kernel.conversations.services import start_session
from minara_site.kernel.errors import Unavailable
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.models import ShadowDecision
from minara_site.kernel.governance.services import switch
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.llm.models import LlmUsage
from tests.kit.clock import NOON
from tests.kit.messages_api import error
from tests.kit.tables import table
from tests.learning_app.learnings.rows import add_turn, make_learning
from tests.learning_app.learnings.test_store import HOSTILE

pytestmark = pytest.mark.django_db
TOOLS = ("get_price", "check_funding", "place_order")
ANSWER = {
    "score": 8,
    "summary": "Opened a long with a stop.",
    "suggested_trigger": "open a long on hyperliquid with a stop",
    "suggested_tool_sequence": [
        {"tool_name": name, "args": {"invented": 1}} for name in ("get_price", "made_up", "place_order")
    ],
    "name": "open_long_with_stop",
    "guidance": "Set the stop first.",
}


@pytest.fixture
def reviewing(models):
    models.answer = ANSWER
    return models


def review(turn, hours=0):
    return review_turns([turn.pk], now=NOON + timedelta(hours=hours))


@pytest.mark.database
def test_a_good_turn_becomes_a_learning_with_the_steps_it_took(ana, reviewing):
    turn = add_turn(ana, *TOOLS, args={"symbol": "ETH", "api_key": "sk-ant-api03-" + "Ab1" * 30})
    assert review(turn) == {"stored": 1}
    row = Learning.objects.get()
    assert row.tool_sequence == [
        {"tool_name": name, "args": {"symbol": "ETH", "api_key": "[redacted]"}} for name in ("get_price", "place_order")
    ]
    assert (row.name, row.trigger, row.guidance) == (ANSWER["name"], ANSWER["suggested_trigger"], ANSWER["guidance"])
    assert (row.owner_id, row.actor, row.origin) == (ana.pk, "key:abcd1234", f"turn:{turn.session_id}:1")
    assert (row.success_count, row.failure_count, row.last_used_at) == (1, 0, None)
    assert TurnReview.objects.values_list("outcome", "score", "summary").get() == ("stored", 8, ANSWER["summary"])
    usage = LlmUsage.objects.get()
    assert (usage.category, usage.task, usage.owner_id) == ("learning", "learnings.review_turns", ana.pk)
    assert review(turn) == {"stored": 1}
    assert (reviewing.calls, Learning.objects.get().success_count) == (1, 1), "a turn is reviewed once"
    assert review(add_turn(ana, *TOOLS), 1) == {"merged": 1}
    assert Learning.objects.get().success_count == 2
    assert list(TurnLearning.objects.order_by("pk").values_list("use", flat=True)) == ["stored", "merged"]


def test_a_hundred_failed_or_short_turns_leave_no_learning_and_ask_no_model(ana, reviewing):
    shapes = [
        (("get_price",), True),
        ((), True),
        (("get_price", "place_order"), True),
        ((*TOOLS[:2], "place_order!"), True),
        (TOOLS, False),
    ]
    turns = [add_turn(ana, *tools, completed=completed) for tools, completed in shapes * 20]
    assert review_turns([turn.pk for turn in turns], now=NOON) == {"short": 60, "failed": 40}
    assert (Learning.objects.count(), reviewing.calls) == (0, 0)


@table(
    ("changes", "outcome", "calls"),
    [
        ({"score": 6}, "below", 1),
        ({"score": 7}, "stored", 1),
        ({"score": 11}, "invalid", 2),
        ({"score": -1}, "invalid", 2),
        ({"suggested_trigger": ""}, "invalid", 2),
        ({"guidance": HOSTILE}, "held", 1),
        ({"suggested_trigger": HOSTILE}, "held", 1),
        ({"suggested_tool_sequence": [{"tool_name": "made_up", "args": {}}]}, "stored", 1),
        ({"suggested_tool_sequence": [{"tool_name": "made_up", "args": {}}], "guidance": " "}, "invalid", 1),
    ],
)
def test_what_comes_of_an_answer(ana, reviewing, changes, outcome, calls):
    before = reviewing.calls
    reviewing.answer = ANSWER | changes
    turn = add_turn(ana, *TOOLS)
    assert review(turn) == {outcome: 1}
    assert reviewing.calls - before == calls
    assert Learning.objects.count() == (outcome in {"stored", "held"})
    assert Hold.objects.count() == (outcome == "held")
    assert TurnReview.objects.get(turn=turn).outcome == outcome


def test_a_turn_that_used_a_suggestion_counts_it_once_also_where_its_review_repeats_it(ana, reviewing):
    steps = [{"tool_name": "get_price", "args": None}]
    row = make_learning(ana, trigger=ANSWER["suggested_trigger"], tool_sequence=steps)
    session = start_session(owner_id=ana.pk, title="Talk", actor="key:abcd1234", now=NOON)
    offer_to(session, ANSWER["suggested_trigger"], reader=ana, actor="key:abcd1234", now=NOON)
    turn = add_turn(ana, *TOOLS, session=session)
    assert review(turn) == {"succeeded": 1, "merged": 1}
    row.refresh_from_db()
    assert row.success_count == 2


def test_in_shadow_nothing_is_stored_and_off_nothing_is_asked(ana, reviewing):
    def set_mode(mode):
        switch(capability=LEARNING_REVIEW, mode=mode, reason="a trial", actor="user:1", now=NOON)

    set_mode(Mode.SHADOW)
    turn = add_turn(ana, *TOOLS)
    assert review(turn) == {"shadow": 1}
    shadow = ShadowDecision.objects.get()
    assert (shadow.subject, shadow.owner_id, shadow.decision["score"]) == (f"turn:{turn.pk}", ana.pk, 8)
    set_mode(Mode.OFF)
    assert review(add_turn(ana, *TOOLS)) == {"not_asked": 1}
    assert (Learning.objects.count(), reviewing.calls) == (0, 1)


def test_without_a_key_it_says_so_and_a_model_that_is_away_is_asked_again(ana, models, settings):
    with_key = settings.MINARA
    settings.MINARA = with_key.model_copy(update={"anthropic_api_key": ""})
    assert review(add_turn(ana, *TOOLS)) == {"not_asked": 1}
    settings.MINARA = with_key
    models.answer = error(529, retry_after="0")
    turn = add_turn(ana, *TOOLS)
    with pytest.raises(Unavailable):
        review(turn)
    assert TurnReview.objects.get(turn=turn).outcome == ""
    assert not Learning.objects.exists()
