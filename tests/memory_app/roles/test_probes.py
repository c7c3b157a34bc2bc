"""What the probes say: no move from before the decision or its arrival, no price of somebody else's, nothing guessed."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from memory_app.roles.builtin.momentum import MOMENTUM
from memory_app.roles.builtin.valuation import PEER_COMP
from memory_app.roles.core import SkipReason
from memory_app.roles.core.declarations import Custom, DeclaredRole, DomainSkill, PriceDelta
from memory_app.roles.probes import ProbeFailed, ProbeResult, find_outcome, register_probe
from memory_app.roles.probes.custom import custom_probes
from memory_app.roles.registry import registry
from memory_app.roles.services.outcome import set_outcome
from minara_site.kernel.market.core import Point
from minara_site.kernel.market.models import PricePoint
from minara_site.kernel.market.outcome import Outcome
from minara_site.kernel.market.services import record_points
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.memory_app.roles.rows import make_row, make_thesis

pytestmark = pytest.mark.django_db

DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
TICK = timedelta(microseconds=1)
DECIDED, END = NOON - 30 * HOUR, NOON - 6 * HOUR


def post(*prices, symbol="BTC", owner=None):
    points = [Point(symbol, at, Decimal(price)) for at, price in prices]
    owner_id = owner.pk if owner else None
    if points:
        record_points(points=points, owner_id=owner_id, source="test", actor="test", now=NOON + 90 * DAY)


def ask(entry, *, now=NOON, role=MOMENTUM):
    return find_outcome(entry, DeclaredRole(role, DomainSkill(id="desk", label="Desk")), now=now)


def judged_by(probe):
    return replace(MOMENTUM, reflection_policy=replace(MOMENTUM.reflection_policy, outcome_probe=probe))


@pytest.mark.database
def test_tells_what_the_price_did_from_the_decision_on_until_behind_the_windows_end(ana):
    post(
        (DECIDED - MINUTE, "60000"),
        (DECIDED + MINUTE, "61000"),
        (END - MINUTE, "70000"),
        (END + MINUTE, "59475"),
    )
    entry = make_row(ana)
    found = ask(entry)
    assert (found.outcome, found.at, found.by) == (Outcome.WRONG, END + MINUTE, "price_delta")
    assert found.pnl_pct == pytest.approx(-2.5)
    set_outcome(entry, found)
    entry.save()
    entry.refresh_from_db()
    assert (entry.entry_price, entry.entry_price_at) == (Decimal(61_000), DECIDED + MINUTE)
    assert (entry.exit_price, entry.exit_price_at) == (Decimal(59_475), END + MINUTE)
    assert (entry.outcome, entry.outcome_at, entry.outcome_by) == (Outcome.WRONG, END + MINUTE, "price_delta")


def test_the_width_of_the_noise_is_a_setting(ana, settings):
    post((DECIDED, "100"), (END, "102"))
    assert ask(make_row(ana)).outcome is Outcome.RIGHT
    settings.MINARA = settings.MINARA.model_copy(update={"noise_band_pct": 2.0})
    assert ask(make_row(ana)).outcome is Outcome.UNCLEAR


@pytest.mark.database
def test_says_nothing_before_the_window_has_ended_and_its_prices_are_there(ana):
    post((DECIDED, "100"), (END - MINUTE, "102"), (END + MINUTE, "110"))
    entry = make_row(ana)
    assert ask(entry, now=END + 10 * MINUTE - TICK) is None
    assert ask(entry, now=END + 10 * MINUTE).pnl_pct == pytest.approx(10)
    post((END, "105"))
    assert ask(entry, now=END - TICK) is None
    assert ask(entry, now=END).pnl_pct == pytest.approx(5)


@table(
    "prices",
    [
        [],
        [(DECIDED, "100")],
        [(END, "100")],
        [(DECIDED - TICK, "100"), (END, "102")],
        [(DECIDED + 2.4 * HOUR + TICK, "100"), (END, "102")],
        [(DECIDED, "100"), (END + 2.4 * HOUR + TICK, "102")],
    ],
)
def test_a_missing_price_is_waited_for_a_week_and_then_given_up(ana, prices):
    post(*prices)
    for entry, over in (
        (make_row(ana), END),
        (make_row(ana, created_at=DECIDED + MINUTE), END + MINUTE),
        (make_row(ana, created_at=END + 99 * HOUR), END + 99 * HOUR),  # a replay
    ):
        assert ask(entry, now=over + 7 * DAY) is None
        assert ask(entry, now=over + 7 * DAY + TICK) is SkipReason.NO_PRICE


@table(
    ("apart", "is_backdated", "begins"),
    [
        (-MINUTE, False, DECIDED),  # a clock that goes fast
        (15 * MINUTE, False, DECIDED + 15 * MINUTE),
        (15 * MINUTE + TICK, False, DECIDED),  # a replay
        (15 * MINUTE + TICK, True, DECIDED + 15 * MINUTE + TICK),
        (5 * HOUR, True, DECIDED + 5 * HOUR),
    ],
)
def test_nobody_is_paid_for_a_move_before_the_arrival(ana, apart, is_backdated, begins):
    post(*{DECIDED: "100", begins: "104", begins + DAY: "52"}.items())
    found = ask(make_row(ana, created_at=DECIDED + apart, is_backdated=is_backdated), now=NOON + DAY)
    assert (found.entry_quote.at, found.exit_quote.at) == (begins, begins + DAY)
    assert found.pnl_pct == pytest.approx(-50)


@pytest.mark.database
def test_a_price_that_lies_nearer_counts_however_late_it_comes(ana):
    post((DECIDED, "100"), (END + 2 * HOUR, "102"))
    entry = make_row(ana)
    assert ask(entry).pnl_pct == pytest.approx(2)
    post((END + HOUR, "104"))
    assert ask(entry).pnl_pct == pytest.approx(4)


def test_a_closed_market_gives_its_first_price_after_it_opens(ana):
    for symbol in ("EURUSD", "BTC"):
        post((DECIDED + 10 * HOUR, "1.10"), (END + 60 * HOUR, "1.08"), symbol=symbol)
    found = ask(make_row(ana, asset="EURUSD", direction="bearish"), now=END + 61 * HOUR)
    assert (found.outcome, found.entry_quote.at) == (Outcome.RIGHT, DECIDED + 10 * HOUR)
    assert found.at == END + 60 * HOUR
    assert ask(make_row(ana), now=END + 61 * HOUR) is None


def test_a_role_states_how_late_a_price_may_be(ana):
    post((DECIDED + 2 * HOUR, "100"), (END + 3 * HOUR, "102"))
    post((DECIDED + 2 * HOUR, "100"), (END, "102"), symbol="ETH")
    later, sooner = make_row(ana), make_row(ana, asset="ETH")
    assert (ask(later), ask(sooner).outcome) == (None, Outcome.RIGHT)
    assert ask(later, role=judged_by(PriceDelta(window_hours=24, tolerance_hours=3))).outcome is Outcome.RIGHT
    assert ask(sooner, role=judged_by(PriceDelta(window_hours=24, tolerance_hours=1))) is None


@pytest.mark.database
def test_prices_of_one_owner_judge_that_owners_decisions_alone(ana, ben):
    post((DECIDED, "100"), (END, "90"), owner=ben)
    assert ask(make_row(ana)) is None
    assert ask(make_row(ben)).outcome is Outcome.WRONG


NEAR = st.integers(-200, 200)


@pytest.mark.database
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    offsets=st.lists(NEAR | NEAR.map(lambda n: 24 * 60 + n) | st.integers(-600, 1800), max_size=12, unique=True),
    direction=st.sampled_from(["bullish", "bearish", "neutral"]),
)
def test_agrees_with_the_rule_as_it_is_written(ana, offsets, direction):
    """Every price stands at another minute from the decision on; the rule is read off a sorted list."""
    PricePoint.objects.all().delete()
    prices = {DECIDED + offset * MINUTE: Decimal(100 + number) for number, offset in enumerate(sorted(offsets))}
    post(*prices.items())
    entry = make_row(ana, direction=direction)
    found = ask(entry, now=END + 6 * HOUR)
    entry.delete()
    begun = [at for at in sorted(prices) if DECIDED <= at < END]
    ended = [at for at in sorted(prices) if at >= END]
    if not begun or not ended or max(begun[0] - DECIDED, ended[0] - END) > 144 * MINUTE:
        assert found is None
        return
    change = (prices[ended[0]] / prices[begun[0]] - 1) * 100
    sign = {"bullish": 1, "bearish": -1, "neutral": 0}[direction]
    assert found.pnl_pct == pytest.approx(float(change * sign))
    assert (found.entry_quote.at, found.exit_quote.at, found.at) == (begun[0], ended[0], ended[0])


LONG_AGO = NOON - 31 * DAY


def compare(owner, *, direction="bullish", now=NOON, peers=("SOL", "AVAX")):
    inputs = {"asset": "ETH", "direction": direction, "peers": list(peers)}
    entry = make_row(
        owner,
        hours=31 * 24,
        role_id=PEER_COMP.id,
        asset="ETH",
        direction=direction,
        inputs=inputs,
    )
    return ask(entry, now=now, role=PEER_COMP)


def post_peers(**changes):
    for symbol, after in changes.items():
        post((LONG_AGO, "100"), (LONG_AGO + 30 * DAY, after), symbol=symbol)


@pytest.mark.database
@table(
    ("direction", "outcome", "pnl_pct"),
    [("bullish", Outcome.RIGHT, 3), ("bearish", Outcome.WRONG, -3), ("neutral", Outcome.WRONG, 0)],
)
def test_an_asset_is_compared_with_the_mean_of_its_peers(ana, direction, outcome, pnl_pct):
    post_peers(ETH="98", SOL="90", AVAX="100")
    found = compare(ana, direction=direction)
    assert (found.outcome, found.by) == (outcome, "relative_performance")
    assert found.pnl_pct == pytest.approx(pnl_pct)
    assert (found.entry_quote.price, found.exit_quote.price) == (Decimal(100), Decimal(98))


def test_peers_within_the_noise_tell_nothing(ana):
    post_peers(ETH="105.5", SOL="105", AVAX="105")
    assert compare(ana).outcome is Outcome.UNCLEAR


def test_a_peer_without_a_price_leaves_it_unknown(ana):
    post_peers(ETH="98", SOL="90")
    assert compare(ana) is None
    assert compare(ana, now=LONG_AGO + 37 * DAY + MINUTE) is SkipReason.NO_PRICE


def test_a_person_is_asked_where_no_probe_is(ana):
    thesis = registry().find("analysis.thesis.review")
    assert find_outcome(make_thesis(ana), thesis, now=NOON + 900 * DAY) is None


@pytest.fixture
def probe():
    """Register a probe for a test."""
    names = []

    def register(name, ask_it):
        names.append(name)
        register_probe(name)(ask_it)
        return judged_by(Custom(name))

    yield register
    for name in names:
        del custom_probes()[name]


def test_a_probe_of_ones_own_says_what_came_of_it(ana, probe):
    def settle(entry, now):
        return ProbeResult(Outcome(entry.inputs["said"]), at=now, pnl_pct=None, by="settled")

    entry = make_row(ana, inputs={"said": "wrong"})
    assert ask(entry, role=probe("settled", settle)) == ProbeResult(Outcome.WRONG, NOON, None, by="settled")


def test_a_probe_that_raises_changes_nothing_and_tells_no_words(ana, probe):
    def fail(entry, now):
        raise RuntimeError("key sk-123 refused")

    entry = make_row(ana)
    with pytest.raises(ProbeFailed) as failure:
        ask(entry, role=probe("broken", fail))
    assert "RuntimeError" in failure.value.detail
    assert "sk-123" not in failure.value.detail
    entry.refresh_from_db()
    assert entry.outcome is None
