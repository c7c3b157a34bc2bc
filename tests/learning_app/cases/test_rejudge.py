"""What prices that change or come later say again of cases: whose word counts, and when the rule is asked."""

from datetime import timedelta

import pytest

from learning_app.cases import tasks
from learning_app.cases.models import TradingCase
from learning_app.cases.services.cron import CRON, run_cron
from learning_app.cases.services.rejudge import REJUDGE
from learning_app.cases.services.verify import verify
from learning_app.court.models import Control
from learning_app.methodologies.models import LifecycleEvent, Methodology
from minara_site.kernel.jobs.leases import acquire_lease, release_lease
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.market.doubts import confirm_price
from minara_site.kernel.market.models import ChangedPrices, PricePoint
from minara_site.kernel.market.outcome import WAIT_FOR_PRICE
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.learning_app.rows import make_case, make_methodology, post_prices

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
START = NOON - 20 * DAY
END = START + 4 * HOUR
INSTANCE, OWNER = None, "owner"


def run(now):
    return run_cron(now=now, requested_by="test")


@table(
    ("had_price", "before", "closed_at", "later", "said"),
    [
        (True, (OWNER, END, "110"), END + 8 * DAY, (INSTANCE, END + HOUR / 2, "90"), ("confirmed_bad", "instance")),
        (True, (INSTANCE, END, "90"), END + HOUR, (OWNER, END, "110"), ("confirmed_bad", "instance")),
        (False, (OWNER, END, "110"), END + HOUR, (INSTANCE, END + 9 * DAY, "90"), ("confirmed_good", "owner")),
        (False, (INSTANCE, END + 2 * HOUR, "90"), END + HOUR * 3, (OWNER, END, "110"), ("confirmed_good", "owner")),
        (False, (OWNER, END, "110"), END + HOUR, (INSTANCE, END + HOUR, "90"), ("confirmed_bad", "instance")),
    ],
)
def test_the_instances_later_price_judges_what_an_owners_closed_and_never_the_other_way_round(
    ana, had_price, before, closed_at, later, said
):
    case = make_case(ana, decided_at=START, horizon=4, hints=[make_methodology()], had_price=had_price)
    for (whose, at, price), posted_at, judged_at in ((before, before[1], closed_at), (later, NOON, NOON)):
        entry = [(START, "100")] if at < END + DAY else []
        post_prices("BTC", *entry, (at, price), owner=ana if whose else None, now=posted_at)
        run(judged_at)
        case.refresh_from_db()
        assert case.outcome_state not in {"pending", "expired"}
    assert (case.outcome_state, case.judged_by) == said
    assert list(verify(apply=False, now=NOON)) == []


def test_what_the_instance_judged_stays_while_its_price_is_in_doubt(ana):
    method = make_methodology()
    case = make_case(ana, decided_at=START, horizon=4, hints=[method])
    post_prices("BTC", (START, "100"), (END, "90"), now=END)
    run(END + HOUR)
    post_prices("BTC", (START, "100"), (END, "110"), owner=ana, now=END + HOUR)
    point = PricePoint.objects.get(owner=None, at=END)
    confirm_price(seconds=0, price_id=point.pk, actor="test", now=NOON, is_undo=True)
    run(NOON)
    case.refresh_from_db()
    method.refresh_from_db()
    assert (case.outcome_state, case.judged_by, method.times_used) == ("confirmed_bad", "instance", 1)


@pytest.mark.database
def test_a_price_between_two_bets_asks_the_rule_once_after_both(ana):
    method, price, prices = make_methodology(), 100.0, [(START, "100")]
    for number, is_right in enumerate([True] * 7 + [False, True, False]):
        make_case(ana, decided_at=START + 2 * number * HOUR, horizon=2, hints=[method])
        price *= 1.03 if is_right else 0.98
        prices.append((START + 2 * (number + 1) * HOUR, f"{price:.6f}"))
    post_prices("BTC", *prices, now=START + DAY)
    run(START + DAY)
    post_prices("BTC", (prices[8][0], f"{float(prices[7][1]) * 1.05:.6f}"), now=START + 2 * DAY)
    run(START + 2 * DAY)
    method.refresh_from_db()
    assert (method.times_used, method.times_correct, method.quarantine) == (10, 8, 1), "9 of 10 lay between"
    before = TradingCase.objects.order_by("pk")[7].judged_before
    assert [(each["outcome_state"], each["pnl_pct"]) for each in before] == [("confirmed_bad", pytest.approx(-2))]


def test_what_counted_before_a_rewording_is_not_reversed_after_it(ana):
    method = make_methodology()
    make_case(ana, decided_at=START, horizon=4, hints=[method])
    post_prices("BTC", (START, "100"), (END, "110"), now=END)
    run(END + HOUR)
    LifecycleEvent.objects.create(
        methodology=method, kind="reworded", at=NOON, actor="test", times_used=0, times_correct=0
    )
    Methodology.objects.update(times_used=0, times_correct=0, confidence=0.1)
    post_prices("BTC", (END, "90"), now=NOON)
    run(NOON)
    method.refresh_from_db()
    assert (method.times_used, TradingCase.objects.get().outcome_state) == (0, "confirmed_bad")
    assert list(verify(apply=False, now=NOON)) == []


def test_judging_again_waits_while_a_pass_of_the_cron_works(ana):
    case = make_case(ana, decided_at=START, horizon=4)
    post_prices("BTC", (START, "100"), (END, "110"), now=END)
    run(END + HOUR)
    post_prices("BTC", (END, "90"), now=NOON)
    JobRun.objects.all().delete()
    acquire_lease(CRON, holder="another", seconds=60, now=NOON)
    assert tasks.rejudge(now=NOON) == {"waits": 1}
    waiting = JobRun.objects.get(job=REJUDGE)
    assert waiting.not_before > NOON
    assert ChangedPrices.objects.filter(reader=REJUDGE).exists()
    release_lease(CRON, holder="another")
    assert tasks.rejudge(now=NOON) == {"rejudged": 1}
    case.refresh_from_db()
    assert case.outcome_state == "confirmed_bad"


def test_a_control_that_expired_stays_as_it_was_when_prices_come_back(ana):
    method = make_methodology()
    make_case(ana, decided_at=START, horizon=4, hints=[method])
    post_prices("BTC", *((START + n * HOUR, f"{100 + n}") for n in range(20)), now=START + 20 * HOUR)
    run(START + 10 * DAY)
    method.refresh_from_db()
    before = Control.objects.get()
    assert method.independent_cases == 1
    assert before.known_at == before.due_at + WAIT_FOR_PRICE
    post_prices("BTC", *((START + 11 * DAY + n * HOUR, "130") for n in range(3)), now=START + 12 * DAY)
    run(NOON)
    assert Control.objects.get().known_at == before.known_at
    assert list(verify(apply=False, now=NOON)) == []
