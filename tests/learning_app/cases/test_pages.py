"""`/trading-cases/`: who finds which case, what its page says, and what support sees, for how long and to whose notice."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from learning_app.cases.models import CronRun, TradingCase
from learning_app.cases.pages.labels import GAPS
from learning_app.cases.services.cron import run_cron
from learning_app.court.models import Control
from learning_app.methodologies.models import Tally
from minara_site.access.models import AccessEntry
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.guard.models import Hold
from tests.kit.clock import NOON
from tests.kit.fixtures import make_user
from tests.kit.page import text_of, words_of
from tests.kit.visitor import visitor
from tests.learning_app.rows import build_case, make_case, make_methodology, post_prices

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
LIST = "/trading-cases/"
HOUR = timedelta(hours=1)
WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"
SAID = f"Short $12,400 at 2.285 from {WALLET}, 57 % sure."
SECRETS = ("12,400", "5290840")
REASON = {"reason": "ticket 77"}


def one(case, act=""):
    return f"{LIST}{case.pk}/{act}"


def main_of(answer, status=200):
    """Return the markup of the page without what stands around it."""
    return unescape(text_of(answer, status).partition("<main")[2])


def ids(page, query=""):
    """Return the ids of the rows of a list, in their order."""
    return [int(pk) for pk in re.findall(r'<tr id="case-(\d+)"', text_of(page.get(f"{LIST}?{query}")))]


@pytest.mark.parametrize(("stored", "said"), [("7", "sent as NASDAQ:AAPL"), ("", "No price of AAPL is known")])
def test_the_page_says_what_was_sent_and_when_no_price_of_it_is_known(page, ana, stored, said):
    case = make_case(ana, asset="AAPL", asset_text="NASDAQ:AAPL", hours=2)
    if stored:
        post_prices("AAPL", (NOON - HOUR, stored))
    shown = words_of(page.get(one(case)))
    assert said in shown
    assert ("No price of AAPL is known" in shown) is not bool(stored)


def hold(case):
    found = {"rule": "r", "reason": "injection"}
    fields = {"rules_version": "1", "content_sha256": "0" * 64, "actor": "key:abcd1234", "held_at": NOON, **found}
    about = {"owner_id": case.owner_id, "kind": "trading_case", "object_id": case.pk}
    return Hold.objects.create(**about, **fields, findings=[{**found, "start": 0, "end": 5}])


def test_users_find_their_own_cases_operators_and_support_everybodys(page, operator_page, ana, ben, sam):
    hers, his = make_case(ana, hours=40), make_case(ben, hours=30)
    support = visitor(sam)
    assert ids(page) == [hers.pk]
    for staff in (operator_page, support):
        assert ids(staff) == [his.pk, hers.pk]
        assert ids(staff, "owner=ana") == [hers.pk]
        assert staff.get(one(hers)).status_code == 200
    assert "something else: decisions of a role" in words_of(page.get(LIST))
    assert "the trading cases that grade methodologies are something else" in words_of(page.get("/role-memory/"))
    seen = set(AccessEntry.objects.filter(viewer=sam).values_list("owner__username", "kind"))
    assert seen == {("ana", "trading_cases"), ("ben", "trading_cases"), ("ana", "trading_case")}


def test_each_filter_and_each_way_to_name_a_case_keeps_what_it_says(operator_page, ana, ben):
    first = make_case(ana, hours=80, asset="ETH/BTC", trade_ref="T-1")
    second = make_case(ben, hours=50, outcome_state="confirmed_good", pnl_pct=2.0, resolved_at=NOON, trade_ref="7700")
    third = make_case(ben, hours=2, asset="SOL", trade_ref=str(first.pk))
    day = f"{second.decided_at:%Y-%m-%d}"
    wanted = {
        f"q={first.pk}": [third.pk, first.pk],
        f"q=%23{second.pk}": [second.pk],
        "q=T-1": [first.pk],
        "q=7700": [second.pk],
        "q=eth-btc": [first.pk],
        "q=Bitcoin": [second.pk],
        f"q={day}": [second.pk],
        "q=9999-12-31": [],
        "q=T-": [],
        "trade=7700": [second.pk],
        "asset=solana": [third.pk],
        "outcome=confirmed_good": [second.pk],
        f"after={day}": [third.pk, second.pk],
        f"before={day}": [first.pk],
        "owner=ana": [first.pk],
        "sort=oldest": [first.pk, second.pk, third.pk],
    }
    assert {query: ids(operator_page, query) for query in wanted} == wanted
    assert "No case matches: check id or window" in words_of(operator_page.get(f"{LIST}?q=T-"))
    assert operator_page.get(f"{LIST}find/?q=T-1")["Location"] == one(first)
    assert operator_page.get(f"{LIST}find/?q={first.pk}")["Location"] == f"{LIST}?q={first.pk}"
    assert operator_page.get(f"{LIST}find/?q=%00")["Location"] == f"{LIST}?q=%00"
    assert visitor(ana).get(f"{LIST}find/?q=7700")["Location"] == f"{LIST}?q=7700"


def test_asks_few_queries_of_many_cases_and_counts_up_to_a_bound(operator_page, ana):
    TradingCase.objects.bulk_create(build_case(ana, hours=30 + number) for number in range(3_000))
    with CaptureQueriesContext(connection) as asked:
        shown = ids(operator_page)
    assert len(shown) == 50
    assert len(asked) <= 20
    assert not [each["sql"] for each in asked if "COUNT" in each["sql"] and "LIMIT" not in each["sql"]]


def test_one_case_shows_prices_outcome_and_what_it_did_to_each_hint(page, ana):
    right, other = make_methodology(name="Fade breakouts"), make_methodology(name="Other way", direction="bearish")
    minutes = timedelta(minutes=12)
    case = make_case(ana, hints=[right, other], decision="第一次突破，预计上涨。")
    first = case.decided_at + minutes
    post_prices("BTC", (first - HOUR, "99"), *((first + HOUR * number, str(100 + number)) for number in range(28)))
    run_cron(now=NOON, requested_by="test")
    shown, said = main_of(page.get(one(case))), words_of(page.get(one(case)))
    for text in (
        f"Case {case.pk}",
        "Read-only for everyone",
        "Confirmed good",
        "+24.00%",
        f"Price before 99 {first - HOUR:%-d %b %Y %H:%M} 48 min before the decision",
        f"Entry price 100 {first:%-d %b %Y %H:%M} 12 min after the decision",
        "12 min after the window's end",
        "Waits for the eight horizons after the case, until",
        "Regime unknown",
        "prices of this instance",
        "one-bet-once/2",
        "Fade breakouts counts, 0.100 then 0.207",
        "Other way does not count: it goes another way than the methodology",
        "2 methodologies in front of the agent, hint hash 000000000000",
        "Decided bullish",
        "Credited Fade breakouts 0.100 then 0.207",
    ):
        assert text in said, text
    assert f'href="/methodologies/{right.uid}/"' in shown
    assert 'lang="zh-Hans"' in shown
    assert "Price of BTC: 100 at the entry, 124 at the outcome" in shown
    assert "View as table" in said
    narrowed = text_of(page.get(f"{one(case)}?show=outcome"))
    outcome = words_of(re.search(r'<ol class="timeline">.*?</ol>', narrowed, re.DOTALL)[0])
    assert "Credited" in outcome
    assert "Decided" not in outcome
    assert shown.count('method="post"') == shown.count('/note/"') == 1, "nobody edits a case"
    post_prices("BTC", (case.window_ends_at + minutes, "97"))
    run_cron(now=NOON, requested_by="test")
    said = words_of(page.get(one(case)))
    assert "Confirmed good +24.00%" in said
    assert "Confirmed bad a price was corrected or came later, −3.00%" in said
    assert "Fade breakouts counts, 0.100 then 0.000" in said
    assert "No longer counted Fade breakouts 0.207 then 0.100" in said
    assert "Counted again: a price was corrected or came later Fade breakouts 0.100 then 0.000" in said
    assert "Outcome reversed, right" in words_of(page.get(f"/methodologies/{right.uid}/"))


def test_says_of_each_hint_whether_it_counts_and_if_not_why(page, ana, ben):
    row, recorded = make_methodology(), {"decided_at": NOON - HOUR * 300}
    flat = {"outcome_state": "inconclusive", "resolved_at": NOON, "judged_by": "instance", "pnl_pct": 0.1}
    own = {"outcome_state": "confirmed_good", "resolved_at": NOON, "judged_by": "owner", "pnl_pct": 3.0}
    first = make_case(ana, hints=[row], **recorded)
    held = make_case(ben, hints=[row], hours=200)
    low = make_methodology()
    Tally.objects.create(methodology=low, hand=ana.pk, own_log_e=-1)
    Tally.objects.create(methodology=low, hand=ben.pk, own_log_e=1)
    cases = {
        "counts once prices have judged it": first,
        f"the same bet as case {first.pk}": make_case(ana, hints=[row], asset="ETH", **recorded),
        f"does not count: its window overlaps that of case {first.pk}": make_case(ana, hints=[row], hours=290),
        "counts for its owner only: its window overlaps that of a case that counts": make_case(
            ana, hints=[row], hours=201
        ),
        "counts for its owner only: the owner's other cases speak against the methodology": make_case(
            ana, hints=[low], hours=90
        ),
        "does not count: recorded too late": make_case(ana, hints=[row], hours=70, backdated=True),
        "does not count: the instance had no price of its asset": make_case(ana, hints=[row], had_price=False),
        "does not count: its window is longer than the methodology's timeframe": make_case(
            ana, hints=[row], hours=100, horizon=25
        ),
        "counts nothing: no clear outcome": make_case(ana, hints=[row], hours=400, **flat),
        "counts nothing: the owner's own prices judged it": make_case(ana, hints=[row], hours=430, **own),
    }
    assert [said for said, case in cases.items() if said not in words_of(page.get(one(case)))] == []
    listed = words_of(page.get(f"/methodologies/{row.uid}/"))
    assert [said for said in cases if said not in listed and "speak against" not in said] == []
    links = re.findall(r'href="(/trading-cases/\d+/)"', main_of(page.get(f"/methodologies/{row.uid}/")))
    assert one(held) not in links, "a case of another owner is not named"


def test_says_why_prices_do_not_judge_a_case_and_what_its_control_is(page, ana):
    done = {"resolved_at": NOON, "judged_by": "instance"}
    good = {"outcome_state": "confirmed_good", "pnl_pct": 2.0, **done}
    known = {"symbol": "BTC", "band_pct": 0.5, "due_at": NOON, "grid_at": NOON}
    controls = [
        Control.objects.create(**known, horizon_hours=hours, **fields)
        for hours, fields in enumerate(
            (
                {},
                {"known_at": NOON, "up": 3.0, "down": 1.0, "ups": 2, "downs": 1},
                {"known_at": NOON, "up": 3.0, "down": 1.0, "ups": 14, "downs": 7, "insides": 4, "inside": 4.0},
            ),
            1,
        )
    ]
    eight = "The same bet, opened in the eight horizons after, was right"
    wanted = [
        *((words, {"outcome_state": "inconclusive", "gap": gap, **done}) for gap, words in GAPS.items()),
        ("No price judged it within a week after its window", {"outcome_state": "expired", "resolved_at": NOON}),
        ("A replay: recorded later by an operator, judged from its decision.", {"replayed": True}),
        ("Judged from its arrival, it counts nowhere.", {"backdated": True}),
        ("Waits for the eight horizons after the case, until", {"control": controls[0], **good}),
        ("None: fewer than four of the 32 windows after it can be judged.", {"control": controls[1], **good}),
        (f"{eight} 75 % (21 of 32 windows clear).", {"control": controls[2], **good}),
        (f"{eight} 50 % (25 of 32 windows judged).", {"control": controls[2], **good, "direction": "neutral"}),
        ("None: its window is longer than 14 days.", {"horizon": 337, **good}),
        ("None: no price of this instance judged the case.", {**good, "judged_by": "owner"}),
    ]
    assert [said for said, fields in wanted if str(said) not in words_of(page.get(one(make_case(ana, **fields))))] == []


def test_support_reads_no_amount_no_wallet_no_methodology_and_nothing_held(sam, ana):
    row = make_methodology(name="Fade breakouts")
    case = make_case(
        ana,
        hints=[row],
        decision=SAID,
        trade_ref=f"tx 0x{'ab' * 32}",
        entry_price=Decimal("2.285"),
    )
    held = make_case(ana, decision="Held words", held_at=NOON)
    hold(held)
    support = visitor(sam)
    markup = text_of(support.get(one(case)))
    assert [secret for secret in (*SECRETS, "abab") if secret in markup] == []
    said = words_of(markup)
    assert "at 2.285 from •••• masked , 57 % sure." in said
    assert "Fade breakouts" in said
    assert "/methodologies/" not in markup
    assert "Recorded by" not in said
    assert "Held words" not in text_of(support.get(one(held)))
    assert "The guard holds its words" in words_of(support.get(one(held)))
    assert all(secret in text_of(visitor(ana).get(one(case))) for secret in SECRETS)
    assert "Held words" in text_of(visitor(ana).get(one(held)))


def test_a_reveal_lasts_fifteen_minutes_for_that_person_and_case_and_is_told(sam, ana, olga):
    case, beside = (make_case(ana, decision=SAID) for _number in range(2))
    support, other = visitor(sam), visitor(make_user("second", group="support"))
    for reason in ("", " ", "x" * 201):
        refused = support.post(one(case, "reveal/"), {"reason": reason})
        assert "12,400" not in main_of(refused, 422), reason
    assert not AccessEntry.objects.filter(kind="case_reveal").exists()
    assert support.post(one(case, "reveal/"), REASON).status_code == 303

    def sees(reader, opened=case):
        return "12,400" in text_of(reader.get(one(opened)))

    assert sees(support)
    assert not sees(support, beside)
    assert not sees(other)
    with time_machine.travel(NOON + timedelta(minutes=15, seconds=-1), tick=False):
        assert sees(support)
    with time_machine.travel(NOON + timedelta(minutes=15), tick=False):
        assert not sees(support)
    told = AccessEntry.objects.get(kind="case_reveal")
    told_of = (told.viewer, told.owner, told.reason, told.ends_at)
    assert told_of == (sam, ana, "ticket 77", NOON + timedelta(minutes=15))
    assert AuditEntry.objects.get(tool_call="case_revealed").reasoning == "ticket 77"
    for reader in (visitor(ana), visitor(olga), support):
        assert "ticket 77" in words_of(reader.get(one(case)))
    assert "ticket 77" not in words_of(other.get(one(case)))
    assert f"amounts of a trading case {case.pk} “ticket 77” shown until" in words_of(
        visitor(ana).get("/privacy/looks/")
    )
    assert f"amounts of a trading case {case.pk} ana ticket 77" in words_of(support.get("/settings/reveals/"))
    assert "You revealed nothing" in words_of(other.get("/settings/reveals/"))


def test_a_reveal_can_be_ended_earlier(sam, ana):
    case = make_case(ana, decision=SAID)
    support = visitor(sam)
    support.post(one(case, "reveal/"), REASON)
    with time_machine.travel(NOON + timedelta(minutes=1), tick=False):
        support.post(one(case, "reveal/end/"))
        support.post(one(case, "reveal/end/"))
        assert "12,400" not in text_of(support.get(one(case)))
    assert AuditEntry.objects.filter(tool_call="case_reveal_ended").count() == 1
    assert AccessEntry.objects.get(kind="case_reveal").ends_at == NOON + timedelta(minutes=1)


def test_home_tells_each_role_what_learning_waits_for(operator_page, ana, sam):
    assert "The learning cron is late" not in words_of(operator_page.get("/"))
    make_methodology(hours=72)
    make_case(ana, hours=24 * 9, horizon=24)
    said = words_of(operator_page.get("/"))
    assert "Methodologies that wait for you the oldest 3 d ago 1" in said
    assert "Cases overdue for more than 7 days the oldest window ended 8 d ago 1" in said
    assert "It has never run." in said
    CronRun.objects.create(started_at=NOON, ended_at=NOON - 12 * HOUR, requested_by="test", is_ok=False)
    said = words_of(operator_page.get("/"))
    assert "The learning cron is late" not in said
    assert "its last pass failed" in said
    make_case(ana, asset="SOL", outcome_state="confirmed_bad", pnl_pct=-2.0, resolved_at=NOON)
    assert "Newest judged cases: SOL bullish Confirmed bad −2.00%" in words_of(visitor(ana).get("/"))
    assert 'action="/trading-cases/find/"' in text_of(visitor(sam).get("/"))
