"""Prices close cases when their window is over, and move what was shown with them, once and in order."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from learning_app.cases.models import CaseHint, CronRun, TradingCase
from learning_app.cases.services import cron
from learning_app.cases.services.cron import AlreadyRunning, run_cron
from learning_app.methodologies.models import LifecycleEvent
from minara_site.access.policy import Scope
from minara_site.kernel.jobs.leases import acquire_lease
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.learning_app.rows import make_case, make_methodology, post_prices

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def run(now=NOON):
    return run_cron(now=now, requested_by="test")


def counts_of(row):
    row.refresh_from_db()
    return row.times_used, row.times_correct, row.quarantine


@pytest.mark.database
def test_each_outcome_is_what_the_price_says_and_only_clear_ones_count(ana):
    post_prices("BTC", (NOON - HOUR * 30, "100"), (NOON - HOUR * 6, "102"))
    post_prices("ETH", (NOON - HOUR * 30, "100"), (NOON - HOUR * 6, "100.4"))
    post_prices("XRP", (NOON - HOUR * 20, "100"), (NOON - HOUR * 6, "102"))
    method = make_methodology()
    wanted = {
        make_case(ana, hints=[method]).pk: "confirmed_good",
        make_case(ana, direction="bearish").pk: "confirmed_bad",
        make_case(ana, direction="neutral").pk: "confirmed_bad",
        make_case(ana, asset="ETH", hints=[make_methodology()]).pk: "inconclusive",
        make_case(ana, asset="ETH", direction="neutral").pk: "confirmed_good",
        make_case(ana, asset="SOL", hints=[method]).pk: "pending",
        make_case(ana, asset="SOL", hours=9 * 24, hints=[method]).pk: "expired",
        make_case(ana, asset="XRP").pk: "inconclusive",
        make_case(ana, hours=23).pk: "pending",
    }
    run()
    assert dict(TradingCase.objects.values_list("pk", "outcome_state")) == wanted
    assert counts_of(method) == (1, 1, 1)
    good, late = TradingCase.objects.get(pk=min(wanted)), TradingCase.objects.get(asset="XRP")
    assert (good.pnl_pct, good.judged_by, good.entry_price, good.exit_price) == (2.0, "instance", 100, 102)
    assert (late.gap, late.pnl_pct) == ("late_entry", None)
    before = list(TradingCase.objects.order_by("pk").values())
    run()
    assert list(TradingCase.objects.order_by("pk").values()) == before
    assert counts_of(method) == (1, 1, 1)


def test_an_owners_own_price_closes_the_case_and_counts_for_no_one(ana, ben):
    ends = ((NOON - HOUR * 30, "100"), (NOON - HOUR * 6, "90"))
    post_prices("SOL", *ends, owner=ana)
    method = make_methodology()
    own = make_case(ana, asset="SOL", hints=[method], had_price=False)
    others = make_case(ben, asset="SOL", hints=[method], had_price=False)
    post_prices("BTC", (NOON - HOUR * 30, "100"))
    post_prices("BTC", *ends, owner=ana)
    waits = make_case(ana, hints=[method])
    run()
    states = dict(TradingCase.objects.values_list("pk", "outcome_state"))
    assert states == {own.pk: "confirmed_bad", others.pk: "pending", waits.pk: "pending"}, "the instance knows BTC"
    own.refresh_from_db()
    assert own.judged_by == "owner"
    run(NOON + 7 * DAY)
    waits.refresh_from_db()
    assert (waits.outcome_state, waits.judged_by) == ("confirmed_bad", "owner"), "after a week nothing better comes"
    assert counts_of(method) == (0, 0, 1)
    post_prices("BTC", (NOON - HOUR * 6, "104"), now=NOON + 8 * DAY)
    run(NOON + 8 * DAY)
    waits.refresh_from_db()
    assert (waits.outcome_state, waits.judged_by) == ("confirmed_good", "instance"), "the instance's word comes first"
    assert counts_of(method) == (1, 1, 1)


@pytest.mark.database
def test_cases_without_a_price_of_the_instance_ask_a_query_an_owner_not_one_each(ana, ben):
    def queries():
        with CaptureQueriesContext(connection) as asked:
            run()
        return len(asked)

    for owner in (ana, ben):
        make_case(owner, asset="SOL", had_price=False)
    few = queries()
    for number in range(40):
        make_case((ana, ben)[number % 2], asset=f"COIN{number}", had_price=False)
    assert queries() <= few + 2


def test_outcomes_count_in_order_of_window_end_so_that_a_late_loss_undoes_no_graduation(ana):
    prices = [(NOON - HOUR * 50 + HOUR * n, "100" if n % 2 else "102") for n in range(51)]
    post_prices("BTC", *prices)
    method = make_methodology(correct=10, used=10)
    loss = make_case(ana, hours=2, horizon=1, hints=[method])
    win = make_case(ana, hours=5, horizon=1, hints=[method])
    run()
    events = list(LifecycleEvent.objects.order_by("id").values_list("kind", "case_id", "times_used"))
    assert events == [("outcome_recorded", win.pk, 11), ("graduated", win.pk, 11), ("outcome_recorded", loss.pk, 12)]
    assert counts_of(method) == (12, 11, 0)


def test_an_operators_word_waits_for_no_price_and_gives_way_to_one_that_contradicts_it(ana, olga):
    method, other = make_methodology(), make_methodology(direction="bearish")
    case = make_case(ana, hints=[method, other], had_price=False)
    agent = agent_of(olga, *Scope)
    path = f"/v1/methodologies/{method.uid}/outcomes"
    assert agent.post(path, {"correct": True, "case_id": case.pk}).json()["data"]["times_correct"] == 1
    assert agent.post(path, {"correct": False, "case_id": case.pk}).json()["code"] == "counted"
    uncredited = agent.post(f"/v1/methodologies/{other.uid}/outcomes", {"correct": True, "case_id": case.pk})
    assert uncredited.status_code == 422
    post_prices("BTC", (NOON - HOUR * 30, "102"), (NOON - HOUR * 6, "100"))
    priced = make_case(ana, hints=[method], hours=200)
    refused = agent.post(path, {"correct": True, "case_id": priced.pk})
    assert (refused.status_code, refused.json()["code"]) == (409, "price_decides")
    run()
    assert counts_of(method) == (1, 0, 1)
    events = LifecycleEvent.objects.filter(case_id=case.pk).order_by("pk")
    said, undone, counted = events
    assert (undone.details, counted.details) == ({"correct": True, "reverses": said.pk}, {"correct": False})
    late = make_case(ana, asset="SOL", hours=9 * 24, hints=[method], had_price=False)
    run()
    assert agent.post(path, {"correct": True, "case_id": late.pk}).status_code == 422, "expired, it counts for nothing"
    assert agent.post(path, {"correct": True}).json()["data"]["times_used"] == 2
    assert agent.post("/v1/methodologies/none/outcomes", {"correct": True}).status_code == 404


def test_every_pass_leaves_a_heartbeat_a_failed_one_too_and_two_never_run_at_once(monkeypatch):
    def fail(*args, **kwargs):
        raise ZeroDivisionError("no luck")

    with monkeypatch.context() as patch:
        patch.setattr(cron, "mark_survivors", fail)
        with pytest.raises(ZeroDivisionError):
            run()
    run()
    acquire_lease(cron.CRON, holder="another", seconds=60, now=NOON)
    with pytest.raises(AlreadyRunning):
        run()
    beats = list(CronRun.objects.order_by("pk").values_list("is_ok", "error", "requested_by"))
    assert beats == [(False, "ZeroDivisionError: no luck", "test"), (True, "", "test")]


def test_cases_of_one_bet_count_by_the_first_clear_one_once_no_earlier_one_is_open(ana):
    post_prices("BTC", (NOON - HOUR * 30, "100"), (NOON - HOUR * 6, "102"))
    method = make_methodology()
    eth = make_case(ana, asset="ETH", hints=[method])
    btc = make_case(ana, hints=[method])
    run()
    assert counts_of(method) == (0, 0, 1), "ETH, recorded before, has no price yet"
    post_prices("ETH", (NOON - HOUR * 30, "100"), (NOON - HOUR * 6, "90"))
    run()
    assert counts_of(method) == (1, 0, 1)
    credited = CaseHint.objects.filter(credited_at__isnull=False).values_list("case_id", flat=True)
    assert list(credited) == [eth.pk]
    post_prices("ETH", (NOON - HOUR * 6, "100"))
    run()
    assert counts_of(method) == (1, 1, 1), "ETH is unclear by the corrected price, so BTC counts"
    said = LifecycleEvent.objects.order_by("pk").values_list("case_id", "details__correct")
    assert list(said) == [(eth.pk, False), (eth.pk, False), (btc.pk, True)]


@pytest.mark.database
def test_a_corrected_price_judges_again_and_the_rule_is_asked_once(ana):
    prices = [(NOON - HOUR * 50 + HOUR * n, "100" if n % 2 else "102") for n in range(51)]
    post_prices("BTC", *prices)
    method = make_methodology(correct=10, used=10)
    case = make_case(ana, hours=5, horizon=1, hints=[method])
    run()
    assert counts_of(method) == (11, 11, 0)
    post_prices("BTC", (NOON - HOUR * 4, "90"))
    run()
    assert counts_of(method) == (11, 10, 0)
    case.refresh_from_db()
    assert (case.outcome_state, case.exit_price) == ("confirmed_bad", 90)
    post_prices("BTC", (NOON - HOUR * 4, "102"), (NOON - HOUR * 5 + timedelta(minutes=5), "101"))
    run()
    case.refresh_from_db()
    assert (case.outcome_state, case.entry_price, case.exit_price) == ("confirmed_good", 100, 102)
    kinds = [event.kind for event in LifecycleEvent.objects.order_by("pk")]
    assert kinds == ["outcome_recorded", "graduated", *["outcome_recorded"] * 4]
