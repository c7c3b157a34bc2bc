"""Prices close cases when their window is over, and move what was shown with them, once and in order."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from learning_app.cases.models import CaseHint, CronRun, TradingCase
from learning_app.cases.services import cron
from learning_app.cases.services.cron import AlreadyRunning, run_cron
from learning_app.court.services import Observation, add_blocks
from learning_app.methodologies.models import LifecycleEvent
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from minara_site.access.policy import Scope
from minara_site.config import CourtMode
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
def test_each_outcome_is_what_the_price_says_and_only_conclusive_ones_count(ana):
    post_prices("BTC", (NOON - HOUR * 30, "100"), (NOON - HOUR * 6, "102"))
    post_prices("ETH", (NOON - HOUR * 30, "100"), (NOON - HOUR * 6, "100.4"))
    method = make_methodology()
    wanted = {
        make_case(ana, hints=[method]).pk: "confirmed_good",
        make_case(ana, direction="bearish").pk: "confirmed_bad",
        make_case(ana, direction="neutral").pk: "confirmed_bad",
        make_case(ana, asset="ETH", hints=[method]).pk: "inconclusive",
        make_case(ana, asset="ETH", direction="neutral").pk: "confirmed_good",
        make_case(ana, asset="SOL", hints=[method]).pk: "pending",
        make_case(ana, asset="SOL", hours=9 * 24, hints=[method]).pk: "expired",
        make_case(ana, hours=23).pk: "pending",
    }
    run()
    assert dict(TradingCase.objects.values_list("pk", "outcome_state")) == wanted
    assert counts_of(method) == (1, 1, 1)
    good = TradingCase.objects.get(pk=min(wanted))
    assert (good.pnl_pct, good.judged_by, good.entry_price, good.exit_price) == (2.0, "instance", 100, 102)
    before = list(TradingCase.objects.order_by("pk").values())
    run()
    assert list(TradingCase.objects.order_by("pk").values()) == before
    assert counts_of(method) == (1, 1, 1)


def test_an_owners_own_price_closes_the_case_and_counts_for_no_one(ana, ben):
    ends = ((NOON - HOUR * 30, "100"), (NOON - HOUR * 6, "90"))
    post_prices("SOL", *ends, owner=ana)
    method = make_methodology()
    own = make_case(ana, asset="SOL", hints=[method])
    others = make_case(ben, asset="SOL", hints=[method])
    post_prices("BTC", (NOON - HOUR * 30, "100"))
    post_prices("BTC", *ends, owner=ana)
    waits = make_case(ana, hints=[method])
    run()
    states = dict(TradingCase.objects.values_list("pk", "outcome_state"))
    assert states == {own.pk: "confirmed_bad", others.pk: "pending", waits.pk: "pending"}, "the instance knows BTC"
    own.refresh_from_db()
    assert own.judged_by == "owner"
    assert counts_of(method) == (0, 0, 1)
    run(NOON + 7 * DAY)
    waits.refresh_from_db()
    assert (waits.outcome_state, waits.judged_by) == ("confirmed_bad", "owner"), "after a week nothing better comes"
    assert counts_of(method) == (0, 0, 1)


@pytest.mark.database
def test_cases_without_a_price_of_the_instance_ask_a_query_an_owner_not_one_each(ana, ben):
    def queries():
        with CaptureQueriesContext(connection) as asked:
            run()
        return len(asked)

    for owner in (ana, ben):
        make_case(owner, asset="SOL")
    few = queries()
    for number in range(40):
        make_case((ana, ben)[number % 2], asset=f"COIN{number}")
    assert queries() <= few + 2


def test_hints_of_the_other_side_and_backdated_cases_count_nothing(ana):
    post_prices("BTC", (NOON - HOUR * 30, "100"), (NOON - HOUR * 6, "102"))
    bullish, bearish = make_methodology(), make_methodology(direction="bearish")
    make_case(ana, hints=[bullish, bearish])
    make_case(ana, hints=[bullish], backdated=True)
    run()
    assert counts_of(bullish) == (1, 1, 1)
    assert counts_of(bearish) == (0, 0, 1)
    assert CaseHint.objects.filter(credited_at__isnull=False).count() == 1


def test_outcomes_count_in_order_of_window_end_so_that_a_late_loss_undoes_no_graduation(ana):
    prices = [(NOON - HOUR * 50 + HOUR * n, "100" if n % 2 else "102") for n in range(50)]
    post_prices("BTC", *prices)
    method = make_methodology(correct=9, used=9)
    loss = make_case(ana, hours=2, horizon=1, hints=[method])
    win = make_case(ana, hours=5, horizon=1, hints=[method])
    run()
    events = list(LifecycleEvent.objects.order_by("id").values_list("kind", "case_id", "times_used"))
    assert events == [("outcome_recorded", win.pk, 10), ("graduated", win.pk, 10), ("outcome_recorded", loss.pk, 11)]
    assert counts_of(method) == (11, 10, 0)


def test_an_operators_outcome_of_a_case_counts_once_and_the_cron_does_not_count_it_again(ana, olga):
    post_prices("BTC", (NOON - HOUR * 30, "100"), (NOON - HOUR * 6, "102"))
    method, other = make_methodology(), make_methodology(direction="bearish")
    case = make_case(ana, hints=[method, other])
    agent = agent_of(olga, *Scope)
    path = f"/v1/methodologies/{method.uid}/outcomes"
    assert agent.post(path, {"correct": True, "case_id": case.pk}).json()["data"]["times_correct"] == 1
    assert agent.post(path, {"correct": False, "case_id": case.pk}).status_code == 409
    uncredited = agent.post(f"/v1/methodologies/{other.uid}/outcomes", {"correct": True, "case_id": case.pk})
    assert uncredited.status_code == 422
    run()
    assert counts_of(method) == (1, 1, 1)
    late = make_case(ana, asset="SOL", hours=9 * 24, hints=[method])
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


def test_a_block_is_scored_by_its_mean_once_all_its_cases_are_closed(ana):
    post_prices("BTC", (NOON - HOUR * 30, "100"), (NOON - HOUR * 6, "102"))
    method = make_methodology()
    cases = [
        make_case(ana, hints=[method], base_rate=0.4),
        make_case(ana, asset="ETH", hints=[method], base_rate=0.6),
    ]
    at = cases[0].decided_at
    CaseHint.objects.update(block_at=at, block_ends_at=at + DAY)
    run()
    method.refresh_from_db()
    assert method.independent_cases == 0, "ETH has no price yet"
    post_prices("ETH", (NOON - HOUR * 30, "100"), (NOON - HOUR * 6, "90"))
    run()
    method.refresh_from_db()
    assert (method.independent_cases, method.times_used) == (1, 2)
    assert method.e_value == pytest.approx(1.0), "half right at a base rate of a half"


@pytest.mark.parametrize("mode", [CourtMode.ADVISE, CourtMode.ENFORCE])
def test_an_enforced_court_demotes_what_decays_and_lets_nothing_graduate_meanwhile(ana, settings, mode):
    settings.MINARA = settings.MINARA.model_copy(update={"methodology_court": mode})
    method = make_methodology(correct=90, used=100, quarantine=0)
    blocks = [Observation(method.pk, 0.0, 0.5, NOON)] * 30
    add_blocks(blocks, actor="test", now=NOON)
    apply_outcomes([NewOutcome(method.pk, is_correct=True)], actor="test", now=NOON)
    method.refresh_from_db()
    kinds = list(LifecycleEvent.objects.order_by("pk").values_list("kind", flat=True))
    assert method.decay_at == NOON
    is_enforced = mode is CourtMode.ENFORCE
    assert method.quarantine == is_enforced, "at the bar, but without skill"
    assert kinds == [*(["demoted"] if is_enforced else []), "outcome_recorded"]
    add_blocks([Observation(method.pk, 1.0, 0.5, NOON)] * 60, actor="test", now=NOON)
    apply_outcomes([NewOutcome(method.pk, is_correct=True)], actor="test", now=NOON)
    method.refresh_from_db()
    assert (method.decay_at, method.quarantine) == (None, 0), "its skill is back"


def test_a_replay_at_the_moment_of_a_counted_block_makes_no_second_observation(ana, olga):
    post_prices("BTC", (NOON - HOUR * 30, "100"), (NOON - HOUR * 6, "102"))
    method = make_methodology()
    body = {"asset": "BTC", "decision": "Buy.", "direction": "bullish", "horizon_hours": 24, "hints": [method.uid]}
    body["decided_at"] = (NOON - HOUR * 30).isoformat()
    agent = agent_of(olga, *Scope)
    for replay in range(2):
        assert agent.post("/v1/trading-cases", body | {"trade_ref": f"T-{replay}"}).status_code == 201
        run()
    method.refresh_from_db()
    assert (method.times_used, method.independent_cases) == (2, 1)
