"""Calls at arbitrary moments on real candles, judged, corrected and judged again: every figure is computed twice.

The second computation shares no code with the product: it reads the files itself and knows the rules of court.md.
"""

import csv
import math
import random
from bisect import bisect_left
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from scipy.stats import binomtest, norm

from learning_app.cases.models import CronRun, TradingCase
from learning_app.cases.services.cron import run_cron
from learning_app.cases.services.record import CaseDraft, Recorder, record_cases
from learning_app.cases.services.verify import verify
from learning_app.methodologies.models import LifecycleEvent
from minara_site.kernel.market.core import Bar
from minara_site.kernel.market.importing import import_file
from minara_site.kernel.market.models import PriceBar
from minara_site.kernel.market.outcome import Direction
from minara_site.kernel.market.services import Series, import_bars
from tests.kit.shared import shared_path
from tests.kit.tables import table
from tests.learning_app.rows import make_methodology

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
BAND = Fraction(1, 2)
SIDES = ("bullish", "bearish", "neutral")


class Market:
    """Closes by the moment at which they were known, and what court.md says of windows over them."""

    def __init__(self, path, step, *, is_open=True):
        with shared_path(path).open() as lines:
            rows = list(csv.DictReader(lines))
        self.step, self.is_open = step, is_open
        self.times = [datetime.fromisoformat(row["ts"]).astimezone(UTC) + step for row in rows]
        self.closes = [self.exact(row["close"]) for row in rows]

    @staticmethod
    def exact(price):
        """Return a price as it is stored, with 15 digits."""
        return Fraction(f"{float(price):.15g}")

    def first(self, at):
        place = bisect_left(self.times, at)
        return place if place < len(self.times) else None

    def change(self, start, horizon):
        """Return the change in percent and the moment of its last price; None for no price yet, "gap" for no sense."""
        end = start + horizon
        entry, leave = self.first(start), self.first(end)
        if leave is None:
            return None
        allowed = max(HOUR, self.step, horizon / 10) if self.is_open else timedelta(hours=96)
        at = self.times[leave]
        if entry == leave or self.times[entry] - start > allowed or at - end > allowed:
            return "gap", at
        span = at - self.times[entry]
        if span < horizon / 2 or (self.is_open and span > 2 * horizon):
            return "gap", at
        return (self.closes[leave] - self.closes[entry]) / self.closes[entry] * 100, at

    def outcome(self, start, horizon, side):
        found = self.change(start, horizon)
        if found is None:
            return "pending"
        if found[0] == "gap":
            return "inconclusive"
        inside = abs(found[0]) <= BAND
        if side == "neutral":
            return "confirmed_good" if inside else "confirmed_bad"
        good = (found[0] > 0) == (side == "bullish")
        return "inconclusive" if inside else "confirmed_good" if good else "confirmed_bad"

    def control(self, end, horizon, side):
        """Return how often chance was right after a call, and when that was known: a week later without a price."""
        quarter = horizon / 4
        since = end - datetime(1970, 1, 1, tzinfo=UTC)
        begin = end + (-since % quarter)
        weights, known, last = defaultdict(list), [], None
        for number in range(32):
            start = begin + number * quarter
            last = self.change(start, horizon)
            if last is not None:
                known.append(last[1])
                late = self.times[self.first(start)] - start > max(HOUR, self.step, horizon / 10)
                if last[0] != "gap" and not late:
                    move = 0 if abs(last[0]) <= BAND else 1 if last[0] > 0 else -1
                    weights[move].append(2 ** (-number / 12))
        if last is None:
            known.append(start + horizon + timedelta(days=7))
        clear = weights[1] + weights[-1]
        if side == "neutral":
            every = clear + weights[0]
            return (sum(weights[0]) / sum(every) if len(every) >= 4 else "none"), max(known)
        way = weights[1] if side == "bullish" else weights[-1]
        return (sum(way) / sum(clear) if len(clear) >= 4 else "none"), max(known)


def evidence(blocks):
    """Return E of (score, chance) in any order, by plain products."""
    products = [math.prod(1 + stake * (score - chance - 0.01) for score, chance in blocks) for stake in (0.2, 0.4)]
    return 0.25 * products[0] + 0.75 * products[1]


def wilson_low(right, used):
    return binomtest(right, used).proportion_ci(confidence_level=2 * norm.cdf(1.96) - 1, method="wilson").low


def check(market, methods, calls, horizon, cases=TradingCase.objects):
    """Compare every case, counter, event and figure with the second computation."""
    stored = {int(case.decision): case for case in cases.select_related("control")}
    taken, blocks, counted = defaultdict(list), defaultdict(list), defaultdict(list)
    for number, (name, side, start) in enumerate(calls):
        case, wanted = stored[number], market.outcome(start, horizon, side)
        assert case.outcome_state == wanted, (name, start)
        meets = any(start < other + horizon and other < start + horizon for other in taken[name])
        [hint] = case.hint_rows.all()
        assert (hint.why == "overlaps") == meets, (name, start)
        if not meets:
            taken[name].append(start)
        if not wanted.startswith("confirmed"):
            continue
        chance = market.control(start + horizon, horizon, side)
        assert case.chance == (None if chance[0] == "none" else pytest.approx(chance[0], abs=1e-12))
        if not meets:
            right = wanted == "confirmed_good"
            counted[name].append((start + horizon, number, right))
            if chance[0] != "none":
                at = max(chance[1], market.change(start, horizon)[1])
                blocks[name].append((at, start, number, right, chance[0]))
    for name, row in methods.items():
        row.refresh_from_db()
        outcomes = [right for _end, _number, right in sorted(counted[name])]
        assert (row.times_used, row.times_correct) == (len(outcomes), sum(outcomes)), name
        assert row.confidence == pytest.approx(wilson_low(sum(outcomes), len(outcomes)), abs=1e-9)
        known = [(right, chance) for *_order, right, chance in sorted(blocks[name])]
        course = [evidence(known[:length]) for length in range(1, len(known) + 1)]
        assert row.independent_cases == len(known), name
        assert row.e_value == pytest.approx(course[-1], rel=1e-9), name
        assert math.exp(row.max_log_evidence) == pytest.approx(max(1.0, *course), rel=1e-9), name


@table(
    ("path", "seconds", "hours", "count"),
    [("data/eth_btc_5m.csv", 300, 6, 240), ("data/xrp_usdt_1h.csv", 3600, 4, 60)],
)
def test_judged_and_corrected_every_number_equals_an_independent_computation(ana, path, seconds, hours, count):
    market, horizon = Market(path, timedelta(seconds=seconds)), timedelta(hours=hours)
    symbol = "ETH/BTC" if seconds == 300 else "XRP"
    series = Series(symbol, seconds, "csv", "test")
    now = market.times[-1] + timedelta(days=30)
    import_file(path=shared_path(path), series=series, now=now, may_have_gaps=True)
    drawn, length = random.Random(43), market.times[-1] - market.times[0] - horizon
    methods = {side: make_methodology(name=side, direction=side, timeframe="intraday") for side in SIDES}
    picked = [drawn.choice(SIDES) for _number in range(count)]
    calls = [(side, side, market.times[0] + length * drawn.random()) for side in picked]
    drafts = [
        CaseDraft(symbol, str(number), Direction(side), [methods[side].uid], hours, at)
        for number, (_name, side, at) in enumerate(calls)
    ]
    record_cases(drafts=drafts, by=Recorder(ana.pk, "key:test", is_operator=True), now=now)
    assert run_cron(now=now, requested_by="test")["resolved"] == count
    check(market, methods, calls, horizon)
    for place in sorted({market.first(start) for _name, _side, start in calls[:40]}):
        market.closes[place] *= Fraction(97 + 6 * (place % 2), 100)
        market.closes[place] = market.exact(market.closes[place])
        close = Decimal(repr(float(market.closes[place])))
        bar = Bar(market.times[place] - market.step, close, close, close, close)
        import_bars(series=series, bars=[bar], now=now)
    assert run_cron(now=now, requested_by="test")["rejudged"] > 0
    check(market, methods, calls, horizon)
    assert list(verify(apply=False, now=now)) == []
    assert CronRun.objects.filter(is_ok=True).count() == 2
    assert LifecycleEvent.objects.filter(details__has_key="reverses").exists()


def test_the_gap_before_the_open_is_no_ones_profit(ana):
    market = Market("cases/stock_hours.csv", HOUR, is_open=False)
    now = market.times[-1] + timedelta(days=30)
    import_file(path=shared_path("cases/stock_hours.csv"), series=Series("AAPL", 3600, "csv", "test"), now=now)
    opens = datetime(2026, 11, 23, 14, 30, tzinfo=UTC)
    starts = [opens + timedelta(minutes=30), opens - timedelta(days=2), opens - timedelta(days=3) + 5 * HOUR]
    drafts = [CaseDraft("AAPL", "Up.", Direction.BULLISH, (), hours, at) for at in starts for hours in (24, 4)]
    cases = record_cases(drafts=drafts, by=Recorder(ana.pk, "key:test", is_operator=True), now=now)
    run_cron(now=now, requested_by="test")
    for case in cases:
        case.refresh_from_db()
        entry, leave = market.first(case.decided_at), market.first(case.window_ends_at)
        assert case.outcome_state == market.outcome(case.decided_at, timedelta(hours=case.horizon_hours), "bullish")
        assert case.exit_price_at == market.times[leave]
        assert case.entry_price_at == (None if entry == leave else market.times[entry])
    monday, _short, weekend, closed, friday, late = cases
    assert monday.entry_price_at == opens + HOUR, "the first close after the decision, not Friday's"
    assert [each.gap for each in (weekend, closed, friday, late)] == ["no_entry", "no_entry", "", ""]
    assert PriceBar.objects.count() == len(market.times)
