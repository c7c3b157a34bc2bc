"""Real candles: decisions are recorded, prices imported, reflected end to end; each result equals one of our own."""

import csv
from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest

from memory_app.roles.core import Status, Trigger
from memory_app.roles.core.declarations import PriceDelta
from memory_app.roles.models import RoleMemory
from memory_app.roles.selectors import recent_lessons
from memory_app.roles.services.record import DecisionDraft, record_decision
from memory_app.roles.services.reflect import reflect_role
from minara_site.kernel.market.core import Bar
from minara_site.kernel.market.outcome import Outcome
from minara_site.kernel.market.services import Series, import_bars
from tests.kit.messages_api import MessagesApi
from tests.kit.shared import shared_path
from tests.memory_app.roles.reflecting import CALL, LESSON, answer_as, installed, make_role, stages_of

pytestmark = pytest.mark.django_db
FIVE = timedelta(minutes=5)
WINDOW = timedelta(hours=4)
ROWS = 600
DIRECTIONS = ("bullish", "bearish", "neutral")


def read_candles() -> list[Bar]:
    """Return the first candles of the file."""
    with shared_path("data/eth_btc_5m.csv").open() as file:
        rows = [row for _number, row in zip(range(ROWS), csv.DictReader(file), strict=False)]
    names = ("open", "high", "low", "close", "volume")
    return [
        Bar(
            datetime.fromisoformat(row["ts"]).astimezone(UTC),
            *(Decimal(row[name]) for name in names),
        )
        for row in rows
    ]


def judge_alone(bars: list[Bar], decided_at: datetime, direction: str) -> tuple[str, float]:
    """Return outcome and result as the court's document words them, from the candles alone."""
    closes = [bar.opens_at + FIVE for bar in bars]
    before, after = (bars[bisect_left(closes, at)].close for at in (decided_at, decided_at + WINDOW))
    change = (Fraction(after) - Fraction(before)) / Fraction(before) * 100
    is_noise = abs(change) <= Fraction(1, 2)
    if direction == "neutral":
        return ("right" if is_noise else "wrong"), 0.0
    signed = change if direction == "bullish" else -change
    return ("unclear" if is_noise else "right" if signed > 0 else "wrong"), float(signed)


@pytest.mark.database
def test_the_result_of_each_decision_over_real_candles_is_the_one_computed_alone(ana, models: MessagesApi):
    bars, models.answer = read_candles(), answer_as("missing_data")
    first, last = bars[0].opens_at, bars[-1].opens_at + FIVE
    policy = {"outcome_probe": PriceDelta(window_hours=4), "min_age_hours": 4, "max_age_hours": 1_000}
    expected = {}
    with installed(make_role(CALL, **policy)):
        import_bars(series=Series("ETH/BTC", 300, "eth_btc_5m.csv", "test"), bars=bars, now=last)
        for number in range(18):
            decided_at = first + timedelta(minutes=31 + 137 * number)
            direction = DIRECTIONS[number % 3]
            inputs, told = {"asset": "ETHBTC", "direction": direction}, {"actor": "test", "origin": "", "now": last}
            draft = DecisionDraft(CALL, inputs, f"Call {number}.", decided_at)
            entry, _is_new = record_decision(owner_id=ana.pk, draft=draft, is_replay=True, **told)
            expected[entry.pk] = judge_alone(bars, decided_at, direction)
        ended = reflect_role(CALL, trigger=Trigger.MANUAL, now=last)
    found = {row.pk: row for row in RoleMemory.objects.all()}
    for pk, (outcome, pnl_pct) in expected.items():
        assert (found[pk].status, found[pk].outcome) == (Status.REFLECTED, outcome)
        assert found[pk].pnl_pct == pytest.approx(pnl_pct, rel=1e-12)
        assert found[pk].entry_price_at - FIVE < found[pk].decided_at <= found[pk].entry_price_at
        assert found[pk].exit_price_at - FIVE < found[pk].decided_at + WINDOW <= found[pk].exit_price_at
        assert found[pk].outcome_at == found[pk].exit_price_at, "when the market had answered"
        assert found[pk].lesson == ("" if outcome == Outcome.RIGHT else LESSON)
    outcomes = [outcome for outcome, _pnl in expected.values()]
    assert {"right", "wrong"} <= set(outcomes)
    assert ended.counts == {"right": outcomes.count("right"), "lesson": 18 - outcomes.count("right")}
    assert stages_of(models.asked) == (18 - outcomes.count("right"),) * 2
    early = first + timedelta(minutes=35) + WINDOW
    with installed(make_role(CALL, **policy)):
        known = recent_lessons(owner_id=ana.pk, role_id=CALL, as_of=early, most=50)
    assert {row.outcome_at for row in known} <= {early}, "no lesson before its outcome was known"
