"""The loop over real candles, judged and audited day by day: each report equals a computation that shares no code."""

import csv
import math
from bisect import bisect_left
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
import time_machine
from django.utils.timezone import now as clock
from scipy.stats import binomtest, norm

from learning_app.audit.services.run import run_pass
from learning_app.cases.services.cron import run_cron
from learning_app.cases.services.record import CaseDraft, Recorder, record_case
from minara_site.kernel.market.importing import import_file
from minara_site.kernel.market.outcome import Direction
from minara_site.kernel.market.services import Series
from tests.kit.shared import shared_path
from tests.learning_app.rows import make_methodology

SYMBOL, STEP = "ETH/BTC", timedelta(minutes=5)
DAY, HORIZON = timedelta(days=1), timedelta(hours=12)
DECIDES_AFTER = timedelta(minutes=2)
"""So long after the close that it reads an agent decides: that close is no price of its window."""
SETTLED = timedelta(minutes=10)


def read_candles():
    """Return the moments at which closes were known, and the closes as exact fractions of 15 digits."""
    with shared_path("data/eth_btc_5m.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    opens = [datetime.strptime(row["ts"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) for row in rows]
    closes = [Fraction(f"{float(row['close']):.15g}") for row in rows]
    return [at + STEP for at in opens], closes


def signals(closes):
    """Return (place, method, direction) of each call: RSI(14) crosses 30, SMA 20 crosses SMA 100, a 100-bar breakout."""
    prices = [float(close) for close in closes]
    calls = []
    gain = loss = 0.0
    rsi = [None] * len(prices)
    for place in range(1, len(prices)):
        change = prices[place] - prices[place - 1]
        if place <= 14:
            gain, loss = gain + max(change, 0) / 14, loss + max(-change, 0) / 14
        else:
            gain, loss = (13 * gain + max(change, 0)) / 14, (13 * loss + max(-change, 0)) / 14
        if place >= 14:
            rsi[place] = 100.0 if loss == 0 else 100 - 100 / (1 + gain / loss)
    for place in range(400, len(prices)):
        if rsi[place] < 30 <= rsi[place - 1]:
            calls.append((place, "rsi", "bullish"))
        short = [math.fsum(prices[end - 20 : end]) / 20 for end in (place, place + 1)]
        long = [math.fsum(prices[end - 100 : end]) / 100 for end in (place, place + 1)]
        if short[0] <= long[0] and short[1] > long[1]:
            calls.append((place, "cross", "bullish"))
        if prices[place] > max(prices[place - 100 : place]) and place % 3 == 0:
            calls.append((place, "breakout", "bullish"))
    return calls


def wilson_low(right, used):
    """Return the lower bound at z = 1.96."""
    level = 2 * norm.cdf(1.96) - 1
    return binomtest(int(right), used).proportion_ci(confidence_level=level, method="wilson").low


def is_right(known_at, closes, begin, end):
    """Return whether the price rose from the first close of a window to the first at its end, None within half a percent."""
    before, after = (closes[bisect_left(known_at, at)] for at in (begin, end))
    change = (after - before) / before * 100
    return None if abs(change) * 2 <= 1 else change > 0


@pytest.mark.django_db
def test_each_day_scores_what_an_independent_computation_says(ana):
    known_at, closes = read_candles()
    path = shared_path("data/eth_btc_5m.csv")
    import_file(path=path, series=Series(SYMBOL, 300, "csv", "test"), now=clock(), may_have_gaps=True)
    methods = {name: make_methodology(name=name) for name in ("rsi", "cross", "breakout")}
    made = [(known_at[place] + DECIDES_AFTER, name, direction) for place, name, direction in signals(closes)]
    calls = [call for call in made if call[0] + HORIZON <= known_at[-1]]
    by = Recorder(ana.pk, "command:test", is_operator=True)
    for decided_at, name, direction in calls:
        draft = CaseDraft(
            SYMBOL,
            f"{name} says so",
            Direction(direction),
            [methods[name].uid],
            12,
            decided_at,
        )
        record_case(draft=draft, by=by, now=known_at[-1])
    taken: dict[str, datetime] = {}
    ended = []
    for begin, name, _direction in calls:
        counts = name not in taken or begin >= taken[name]
        taken[name] = begin + HORIZON if counts else taken[name]
        ended.append((begin + HORIZON, begin, name, counts))
    assert {counts for *_case, counts in ended} == {True, False}
    ended.sort(key=lambda each: each[0])

    used, right, graduated = defaultdict(int), defaultdict(int), {}
    states: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
    closed: list[tuple[datetime, bool | None]] = []
    day, bands = known_at[0].replace(hour=0, minute=0) + 2 * DAY, set()
    while day <= known_at[-1] + 2 * DAY:
        with time_machine.travel(day, tick=False):
            run_cron(now=day, requested_by="test")
            report = run_pass(now=day, requested_by="test")
        while ended and ended[0][0] + SETTLED <= day:
            end, begin, name, counts = ended.pop(0)
            said = is_right(known_at, closes, begin, end)
            closed.append((day, said))
            if said is None or not counts:
                continue
            used[name], right[name] = used[name] + 1, right[name] + said
            low = wilson_low(right[name], used[name])
            if name not in graduated and used[name] >= 10 and low >= 0.55:
                graduated[name] = day
                states[name].append((day, "graduated"))
            elif name in graduated and used[name] >= 20 and low < 0.40:
                del graduated[name]
                states[name].append((day, "demoted"))
        recent = [said for at, said in closed if at >= day - 30 * DAY]
        resolved = sum(said is not None for said in recent)
        expected = {
            "synthesis_quality": None,
            "graduation_fp_rate": None if day - min(graduated.values(), default=day) < 30 * DAY else 100,
            "attribution_integrity": 100 * (0.7 * resolved / len(recent) + 0.3) if recent else None,
            "coverage_health": 100 * min(len(graduated), 3) / 3 / 5 / 3 if graduated else None,
            "quarantine_churn": 100 if states else None,
            "cron_health": 100,
        }
        assert report.scores == {
            name: score if score is None else pytest.approx(score, abs=1e-9) for name, score in expected.items()
        }, day
        bands.add(report.band)
        day += DAY
    assert (len(closed), set(graduated)) == (len(calls), {"rsi"})
    assert len(bands) > 1, "the graduation of a method changes the number"
