"""A note stands beside a trade or a case: its owner's alone, undone like any act, and in no answer to an agent."""

from copy import copy

import pytest

from learning_app.ledger.models import Trade
from learning_app.notes.models import OwnNote
from tests.kit.api import agent_of
from tests.kit.page import text_of, toasts_of, undo_of, words_of
from tests.kit.visitor import visitor
from tests.learning_app.ledger.rows import make_trip
from tests.learning_app.rows import make_case, make_trade

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
WORDS = "Entered too early, again"


def test_a_trader_writes_beside_trade_trip_and_case_and_undoes_it(page, ana):
    paths = (
        f"/ledger/trades/{make_trade(ana).uid}/",
        f"/ledger/trips/{make_trip(ana).pk}/",
        f"/trading-cases/{make_case(ana).pk}/",
    )
    for path in paths:
        saved = page.post(f"{path}note/", {"text": f"{WORDS}\r\nand late out"}, follow=True)
        assert toasts_of(saved) == ["Note saved."]
        assert f"{WORDS}\nand late out" in text_of(page.get(path))
        again = page.post(f"{path}note/", {"text": f"{WORDS}\nand late out"}, follow=True)
        assert toasts_of(again) == ["Nothing changed."]
        page.post(undo_of(saved))
        assert WORDS not in text_of(page.get(path))
    assert list(OwnNote.objects.values_list("text", flat=True)) == ["", "", ""]


def test_a_note_stays_beside_its_trip_when_more_fills_are_read(page, ana):
    trip = make_trip(ana)
    page.post(f"/ledger/trips/{trip.pk}/note/", {"text": WORDS})
    trip.delete()
    other, again = make_trip(ana, account=trip.account, first_ms=trip.first_ms - 5), copy(trip)
    again.pk = None
    again.save()
    assert WORDS in text_of(page.get(f"/ledger/trips/{again.pk}/"))
    assert WORDS not in text_of(page.get(f"/ledger/trips/{other.pk}/"))


def test_nobody_else_reads_it_and_no_agent(page, ana, olga, sam):
    trade = make_trade(ana, exit_price=66_000)
    page.post(f"/ledger/trades/{trade.uid}/note/", {"text": WORDS})
    assert WORDS in words_of(page.get(f"/ledger/trades/{trade.uid}/"))
    for other in (olga, sam):
        assert WORDS not in text_of(visitor(other).get(f"/ledger/trades/{trade.uid}/"))
    agent = agent_of(ana)
    answers = [agent.get("/v1/trades"), agent.post("/v1/tools/query_trade_history", {})]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert not [answer for answer in answers if WORDS in answer.content.decode()]


def test_a_typed_stop_gives_a_trade_its_r_and_is_in_no_statistic(page, ana):
    trade = make_trade(ana, entry_price=64_000, exit_price=64_960, realized_pnl_usd=15)
    path, ledger = f"/ledger/trades/{trade.uid}/", f"/ledger/sessions/{ana.pk}/"
    before = words_of(page.get(ledger))
    saved = page.post(f"{path}note/", {"text": "", "stop_price": "62720.0"}, follow=True)
    assert "0.75 R" in words_of(saved)
    assert words_of(page.get(ledger)) == before
    page.post(undo_of(saved))
    assert "0.75 R" not in words_of(page.get(path))
    for typed in ("64k", "64000", "65280"):
        wrong = page.post(f"{path}note/", {"text": WORDS, "stop_price": typed})
        assert f'value="{typed}"' in text_of(wrong, 422)
        assert WORDS in text_of(wrong, 422)


def test_a_stop_that_its_agent_sent_is_not_typed_over(page, ana):
    trade = make_trade(ana)
    path = f"/ledger/trades/{trade.uid}/note/"
    page.post(path, {"text": WORDS, "stop_price": "60000"}, follow=True)
    Trade.objects.update(stop_price=59_000)
    assert toasts_of(page.post(path, {"text": WORDS, "stop_price": "1"}, follow=True)) == ["Nothing changed."]
    assert OwnNote.objects.get().stop_price == "60000"


def test_what_cannot_be_kept_is_refused(page, ana, ben):
    trade = make_trade(ana)
    assert page.post(f"/ledger/trades/{trade.uid}/note/", {"text": "x" * 2_001}).status_code == 422
    assert page.post(f"/ledger/trades/{trade.uid}/note/", {"text": ""}, follow=True).status_code == 200
    assert visitor(ben).post(f"/ledger/trades/{trade.uid}/note/", {"text": WORDS}).status_code == 404
    assert not OwnNote.objects.exists()
