"""`/ledger/`: what each role reads of round trips, what support sees of amounts, and that nothing there changes a trade."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from learning_app.ledger.models import Trade
from minara_site.access.models import AccessEntry
from minara_site.kernel.audit_log.models import AuditEntry
from profile_app.activity.models import Account
from tests.kit.clock import NOON
from tests.kit.page import text_of, words_of
from tests.kit.visitor import visitor
from tests.learning_app.ledger.rows import make_trip
from tests.learning_app.lessons.rows import make_deployment
from tests.learning_app.rows import make_trade, post_prices

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
HOUR = timedelta(hours=1)
REASON = {"reason": "ticket 77"}
AMOUNTS = ("1,237", "1237", "45.61", "43.21", "2.40", "61.07", "18.03", "9,876", "55.5")


def main_of(answer, status=200):
    """Return the markup of the page without what stands around it."""
    return unescape(text_of(answer, status).partition("<main")[2])


def closed(owner, net="45.61", *, hours=30, **fields):
    """Make a closed trade that won or lost so much before a fee of 2.40, opened so many hours ago."""
    known = {
        "exit_price": Decimal(66_000),
        "exit_tick_at": NOON - (hours - 1) * HOUR,
        "entry_price": Decimal(65_000),
        "entry_size_usd": Decimal(1_237),
        "stop_price": Decimal(64_000),
        "holding_minutes": Decimal(60),
        "realized_pnl_usd": Decimal(net),
        "fees_usd": Decimal("2.40"),
        "mfe_usd": Decimal("61.07"),
        "mae_usd": Decimal("-18.03"),
        "entry_regime_tag": "trend_up_lowvol",
        "entry_reason": "Bought for $55.5 because the trend is up",
    }
    return make_trade(owner, hours=hours, **(known | fields))


def ids(answer):
    """Return the ids of the rows of the list of trips, in their order."""
    return [int(pk) for pk in re.findall(r'<tr id="trip-(\d+)"', text_of(answer))]


def test_a_ledger_says_what_its_trades_bring_and_where_they_are(ana, page, django_assert_max_num_queries):
    live = make_deployment(ana, name="live", start_equity_usd=9_876)
    for number, net in enumerate(("45.61", "-20.00", "12.40", "-7.60", "42.40")):
        closed(ana, net, hours=60 - 5 * number, deployment=live)
    make_trade(ana, deployment=live, symbol="ETH")
    closed(ana, "999")
    with django_assert_max_num_queries(20):
        answer = page.get(f"/ledger/agents/{live.uid}/")
    said = words_of(answer)
    assert f"deployment of {live.version.skill.name}, version 7" in said
    assert "5 closed trades since" in said
    assert "1 open" in said
    assert "+$60.81 after fees of $12.00" in said
    assert "95% interval" in said
    assert "Deepest drawdown 0.2%" in said
    assert "mean a trade, hollow below 5 trades" in said
    assert "trend_up_lowvol 5 60% +$12.16" in said
    assert "r, of 5" not in said
    assert "0.81 R in the mean" in said or "R in the mean, of 5 trades with a stop" in said
    listed = words_of(page.get("/ledger/"))
    assert f"live deployment of {live.version.skill.name}, version 7 5 60% +$60.81" in listed
    assert "Agents recorded in sessions 1 100% +$996.60" in listed
    assert "No trades yet" in words_of(visitor(ana).get(f"/ledger/agents/{make_deployment(ana, name='b').uid}/"))


def test_own_accounts_stand_beside_and_what_lacks_fills_is_in_no_figure(ana, page, django_assert_max_num_queries):
    make_trip(ana)
    lacking = make_trip(ana, realized_pnl_usd=None, is_complete=False, exit_price=None, exit_tick_at=None)
    post_prices("BTC", (NOON - 3 * HOUR, "65000"), (NOON - HOUR, "66000"))
    account = lacking.account_id
    said = words_of(page.get(f"/ledger/accounts/{account}/"))
    assert "Read from your exchange, 4 min ago" in said
    assert "1 trade lacks fills and is in no figure" in said
    assert "Realized +$43.21" in said
    with django_assert_max_num_queries(20):
        shown = words_of(page.get(f"/ledger/trips/{lacking.pk}/"))
    assert "Incomplete: it is in no statistic" in shown
    assert "Net result not known" in shown
    assert ids(page.get(f"/ledger/accounts/{account}/trades/?result=incomplete")) == [lacking.pk]
    Account.objects.update(removed_at=NOON)
    assert page.get(f"/ledger/accounts/{account}/").status_code == 404
    assert page.get(f"/ledger/trips/{lacking.pk}/").status_code == 404


def test_trips_are_found_by_what_they_have_in_common(ana, page, django_assert_max_num_queries):
    rows = {
        "won": closed(ana, hours=30),
        "lost": closed(ana, "1.20", hours=20, side="short", symbol="xyz:TSLA", asset="TSLA", entry_regime_tag=None),
        "gone": closed(ana, "-9", hours=10, exit_reason="liquidated", exit_price=1),
        "open": make_trade(ana, hours=5),
    }
    url = f"/ledger/sessions/{ana.pk}/trades/"
    wanted = {
        "": ["open", "gone", "lost", "won"],
        "sort=oldest": ["won", "lost", "gone", "open"],
        "symbol=XYZ:tsla": ["lost"],
        "side=long": ["open", "gone", "won"],
        "regime=trend_up_lowvol": ["gone", "won"],
        "ended=liquidated": ["gone"],
        "ended=trader": ["lost", "won"],
        "result=won": ["won"],
        "result=lost": ["gone", "lost"],
        "result=open&result=won": ["open", "won"],
        "after=2026-06-12": ["open", "gone"],
    }
    with django_assert_max_num_queries(20):
        found = {query: ids(page.get(f"{url}?{query}")) for query in [""]}
    found |= {query: ids(page.get(f"{url}?{query}")) for query in wanted}
    named = {row.pk: name for name, row in rows.items()}
    assert {query: [named[pk] for pk in pks] for query, pks in found.items()} == wanted
    assert "liquidated" in words_of(page.get(url))


def test_one_trade_shows_prices_result_reasons_and_its_lessons(ana, page, django_assert_max_num_queries):
    live = make_deployment(ana, name="live", start_equity_usd=9_876)
    trade = closed(ana, deployment=live, entry_lessons_hash="9f02aabbccddeeff", exit_reason="Target <b>reached</b>")
    post_prices("BTC", *((NOON - number * HOUR, str(65_000 + number)) for number in range(26, 34)))
    with django_assert_max_num_queries(20):
        answer = page.get(f"/ledger/trades/{trade.uid}/")
    said = words_of(answer)
    for words in (
        "BTC-PERP long",
        "+3.49%",
        "Net result +$43.21",
        "Before fees +$45.61",
        "Fees $2.40",
        "2.27 R",
        "61.07",
        "75% of the best mark was captured",
        "Bought for $55.5 because the trend is up",
        "Target <b>reached</b>",
        "9f02aabbccddeeff",
    ):
        assert words in said, words
    assert "best" in main_of(answer)
    assert "<b>reached" not in text_of(answer)
    assert page.get("/ledger/trades/nothing/").status_code == 404


def test_users_read_their_own_operators_and_support_everybodys_and_are_logged(ana, ben, page, operator_page, sam):
    trade, trip = closed(ana), make_trip(ana)
    support, stranger = visitor(sam), visitor(ben)
    urls = [
        f"/ledger/sessions/{ana.pk}/",
        f"/ledger/sessions/{ana.pk}/trades/",
        f"/ledger/accounts/{trip.account_id}/",
        f"/ledger/trades/{trade.uid}/",
        f"/ledger/trips/{trip.pk}/",
    ]
    for url in urls:
        assert [reader.get(url).status_code for reader in (page, operator_page, support, stranger)] == [200] * 3 + [404]
    assert "No trades yet" in words_of(stranger.get("/ledger/"))
    assert stranger.get("/ledger/?owner=ana").status_code == 404
    for reader in (operator_page, support):
        assert "recorded in sessions" in words_of(reader.get("/ledger/?owner=ana"))
    assert "ana" in words_of(support.get("/ledger/"))
    kinds = set(AccessEntry.objects.filter(viewer=sam, owner=ana).values_list("kind", flat=True))
    assert kinds == {"ledger", "trades", "trade", "own_trip"}
    assert not AccessEntry.objects.filter(owner=ana, viewer__in=[ana, ben]).exists()
    for url in ("/ledger/moon/1/", "/ledger/accounts/x/", "/ledger/sessions/999999999999999999999/"):
        assert page.get(url).status_code == 404, url


def test_support_reads_no_amount_on_any_page(ana, sam):
    live = make_deployment(ana, name="live", start_equity_usd=9_876)
    trades = [closed(ana, deployment=live, hours=30 + number) for number in range(6)]
    trip, support = make_trip(ana), visitor(sam)
    pages = [
        "/ledger/",
        "/ledger/?owner=ana",
        f"/ledger/agents/{live.uid}/",
        f"/ledger/agents/{live.uid}/trades/",
        f"/ledger/accounts/{trip.account_id}/",
        f"/ledger/accounts/{trip.account_id}/trades/",
        f"/ledger/trades/{trades[0].uid}/",
        f"/ledger/trips/{trip.pk}/",
    ]
    for url in pages:
        markup = re.sub(r'(href|action|id)="[^"]*"', "", main_of(support.get(url)))
        assert [amount for amount in AMOUNTS if amount in markup] == [], url
        assert "$" not in markup, url
        assert "5aaeb6" not in markup, url
    said = words_of(support.get(f"/ledger/agents/{live.uid}/"))
    assert "100 %" in said.replace("100%", "100 %")
    assert "% of the start, by day" in said
    assert "65,000 → 66,000" in words_of(support.get(f"/ledger/agents/{live.uid}/trades/"))
    held = closed(ana, held_at=NOON, symbol="SOL", entry_reason="Held words")
    assert "Held words" not in text_of(support.get(f"/ledger/trades/{held.uid}/"))
    assert "Held words" in text_of(visitor(ana).get(f"/ledger/trades/{held.uid}/"))


@pytest.mark.parametrize("kind", ["trade", "trip"])
def test_a_reveal_is_of_one_trade_for_fifteen_minutes_and_told(ana, sam, olga, kind):
    row = closed(ana) if kind == "trade" else make_trip(ana)
    beside = closed(ana, hours=40) if kind == "trade" else make_trip(ana, first_ms=5)
    support = visitor(sam)

    def url(each, act=""):
        return f"/ledger/{kind}s/{each.uid if kind == 'trade' else each.pk}/{act}"

    def sees(each=row):
        return "43.21" in main_of(support.get(url(each)))

    assert "43.21" not in main_of(support.post(url(row, "reveal/"), {"reason": " "}), 422)
    assert visitor(ana).post(url(row, "reveal/"), REASON).status_code == 403
    assert visitor(olga).post(url(row, "reveal/"), REASON).status_code == 403
    assert support.post(url(row, "reveal/"), REASON).status_code == 303
    assert (sees(), sees(beside)) == (True, False)
    with time_machine.travel(NOON + timedelta(minutes=15), tick=False):
        assert not sees()
    entry = AccessEntry.objects.get(ends_at__isnull=False)
    assert (entry.viewer, entry.owner, entry.reason) == (sam, ana, "ticket 77")
    assert AuditEntry.objects.get(tool_call="trade_revealed").reasoning == "ticket 77"
    assert "ticket 77" in words_of(visitor(ana).get(url(row)))
    support.post(url(row, "reveal/end/"))
    assert not sees()
    assert AuditEntry.objects.filter(tool_call="trade_reveal_ended").count() == 1


def test_the_calendar_shows_the_month_that_is_asked_for(ana, page):
    closed(ana, hours=24 * 50)
    closed(ana, "-31.40", hours=30)
    url = f"/ledger/sessions/{ana.pk}/"
    said = words_of(page.get(url))
    assert "June 2026 −$33.80 Earlier" in said
    earlier = re.search(r'href="\?month=([0-9-]+)"', text_of(page.get(url)))[1]
    assert earlier == "2026-05"
    assert "Later" in words_of(page.get(f"{url}?month={earlier}"))
    for odd in ("x", "2026-13", "9999-99", "0001-01", "9999-12"):
        assert page.get(f"{url}?month={odd}").status_code == 200, odd


def test_a_day_of_the_calendar_opens_the_trades_that_were_closed_on_it(ana, page, sam):
    type(ana).objects.update(time_zone="Pacific/Auckland")
    closed(ana, "40.10", exit_tick_at=NOON)  # midnight there
    closed(ana, "30.20", hours=31, exit_tick_at=NOON - timedelta(seconds=1))
    days = re.findall(r'href="([^"]+closed=[0-9-]+)"', text_of(page.get(f"/ledger/sessions/{ana.pk}/")))
    assert [day[-10:] for day in days] == ["2026-06-12", "2026-06-13"]
    assert ["$37.70" in words_of(page.get(day)) for day in days] == [False, True]
    assert "closed=" not in text_of(visitor(sam).get(f"/ledger/sessions/{ana.pk}/"))


def test_nothing_there_reads_more_for_more_trades(ana, page):
    url, counts = f"/ledger/sessions/{ana.pk}/", []
    for _round in range(2):
        for number in range(8):
            closed(ana, hours=30 + number + 10 * len(counts))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            page.get(url)
            page.get("/ledger/")
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert Trade.objects.count() == 16
