"""A note stands beside a trade or a case: its owner's alone, undone like any act, and in no answer to an agent."""

import pytest

from learning_app.notes.models import OwnNote
from tests.kit.api import agent_of
from tests.kit.page import text_of, toasts_of, undo_of, words_of
from tests.kit.visitor import visitor
from tests.learning_app.rows import make_case, make_trade

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
WORDS = "Entered too early, again"


def test_a_trader_writes_beside_a_trade_and_a_case_and_undoes_it(page, ana):
    trade, case = make_trade(ana), make_case(ana)
    for path, beside in (
        (f"/ledger/trades/{trade.uid}/", f"trade/{trade.uid}"),
        (f"/trading-cases/{case.pk}/", f"case/{case.pk}"),
    ):
        saved = page.post(f"/notes/{beside}/", {"text": f"{WORDS}\r\nand late out", "next": path}, follow=True)
        assert toasts_of(saved) == ["Note saved."]
        assert f"{WORDS}\nand late out" in text_of(page.get(path))
        page.post(undo_of(saved))
        assert WORDS not in text_of(page.get(path))
    assert list(OwnNote.objects.values_list("text", flat=True)) == ["", ""]


def test_nobody_else_reads_it_and_no_agent(page, ana, olga, sam):
    trade = make_trade(ana, exit_price=66_000)
    page.post(f"/notes/trade/{trade.uid}/", {"text": WORDS})
    assert WORDS in words_of(page.get(f"/ledger/trades/{trade.uid}/"))
    for other in (olga, sam):
        assert WORDS not in text_of(visitor(other).get(f"/ledger/trades/{trade.uid}/"))
    agent = agent_of(ana)
    answers = [agent.get("/v1/trades"), agent.post("/v1/tools/query_trade_history", {})]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert not [answer for answer in answers if WORDS in answer.content.decode()]


def test_what_cannot_be_kept_is_refused(page, ana):
    trade = make_trade(ana)
    assert page.post("/notes/memory/1/", {"text": WORDS}).status_code == 404
    assert page.post(f"/notes/trade/{trade.uid}/", {"text": "x" * 2_001}).status_code == 422
    assert not OwnNote.objects.exists()
