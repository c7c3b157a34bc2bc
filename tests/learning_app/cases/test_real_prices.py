"""Three known methods on real candles, each call a case: every figure equals a computation that shares no code."""

import csv
import math
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from django.utils.timezone import now as clock
from scipy.stats import binomtest, norm

from learning_app.cases.models import CaseHint, CronRun, TradingCase
from learning_app.cases.services.cron import run_cron
from learning_app.cases.services.record import CaseDraft, record_case
from learning_app.methodologies.models import LifecycleEvent, Methodology
from minara_site.kernel.market.importing import import_file
from minara_site.kernel.market.outcome import Direction
from minara_site.kernel.market.services import Series
from tests.kit.shared import shared_path
from tests.learning_app.rows import make_methodology

SYMBOL, STEP = "ETH/BTC", timedelta(minutes=5)
HORIZON = timedelta(hours=6)
BAND = Fraction(1, 2)


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


def outcome(closes, start, end):
    """Return whether a bullish call was right, None inside the noise band."""
    change = (closes[end] - closes[start]) / closes[start] * 100
    return None if abs(change) <= BAND else change > 0


@pytest.mark.django_db
def test_counts_bounds_graduation_base_rates_and_evidence_equal_an_independent_computation(ana):
    known_at, closes = read_candles()
    path, series = shared_path("data/eth_btc_5m.csv"), Series(SYMBOL, 300, "csv", "test")
    import_file(path=path, series=series, now=clock(), may_have_gaps=True)
    place_of = {at: place for place, at in enumerate(known_at)}
    methods = {name: make_methodology(name=name) for name in ("rsi", "cross", "breakout")}
    calls = [call for call in signals(closes) if known_at[call[0]] + HORIZON in place_of]
    assert min(sum(call[1] == name for call in calls) for name in methods) >= 15
    for place, name, direction in calls:
        draft = CaseDraft(
            SYMBOL,
            f"{name} says so",
            Direction(direction),
            [methods[name].uid],
            6,
            known_at[place],
        )
        record_case(
            owner_id=ana.pk,
            draft=draft,
            actor="command:test",
            origin="",
            is_replay=True,
            now=known_at[-1],
        )
    counts = run_cron(now=known_at[-1] + timedelta(days=1), requested_by="test")
    assert counts["resolved"] == len(calls)

    right, used, blocks, graduated = defaultdict(int), defaultdict(int), defaultdict(list), {}
    ends = {place: place_of[known_at[place] + HORIZON] for place, _name, _direction in calls}
    stored = {(case.decided_at, case.decision.split()[0]): case for case in TradingCase.objects.all()}
    open_until = defaultdict(int)
    for place, name, _direction in calls:
        case = stored[known_at[place], name]
        said = outcome(closes, place, ends[place])
        wanted = {None: "inconclusive", True: "confirmed_good", False: "confirmed_bad"}[said]
        assert case.outcome_state == wanted, (place, name)
        assert case.judged_by == "instance"
        first = place_of[known_at[0]]
        span = known_at[place] - known_at[first] - HORIZON
        step = HORIZON / (HORIZON // max(STEP, min(HORIZON, span / 1000)))
        past = [known_at[place] - step * number for number in range(min(1000, span // step + 1))]
        said_before = [outcome_before(closes, known_at, place_of, at) for at in past]
        share = (sum(one is True for one in said_before) + 25) / (sum(one is not None for one in said_before) + 50)
        assert case.base_rate == pytest.approx(min(max(share, 0.05), 0.95), abs=1e-12), (place, name)
        if place >= open_until[name]:
            open_until[name] = ends[place]
            blocks[name].append((said, case.base_rate))
    for place, name, _direction in sorted(
        calls,
        key=lambda call: (ends[call[0]], stored[known_at[call[0]], call[1]].pk),
    ):
        said = outcome(closes, place, ends[place])
        if said is not None:
            used[name], right[name] = used[name] + 1, right[name] + said
            low = wilson_low(right[name], used[name])
            if used[name] >= 10 and low >= 0.55:
                graduated.setdefault(name, stored[known_at[place], name].pk)
    for name, row in methods.items():
        row.refresh_from_db()
        assert (row.times_used, row.times_correct) == (used[name], right[name]), name
        low = wilson_low(right[name], used[name])
        assert row.confidence == pytest.approx(low, abs=1e-9)
        events = LifecycleEvent.objects.filter(methodology=row, kind="graduated").order_by("id")
        assert events.values_list("case_id", flat=True).first() == graduated.get(name), name
        said = [(score, base) for score, base in blocks[name] if score is not None]
        assert row.independent_cases == len(said), name
        assert row.e_value == pytest.approx(evidence(said), rel=1e-9), name
    assert CaseHint.objects.filter(credited_at__isnull=True, case__outcome_state__startswith="confirmed").count() == 0
    assert run_cron(now=known_at[-1] + timedelta(days=2), requested_by="test").get("resolved", 0) == 0
    assert Methodology.objects.get(name="rsi").times_used == used["rsi"]
    assert CronRun.objects.filter(is_ok=True).count() == 2


def wilson_low(right, used):
    """Return the lower bound at z = 1.96."""
    level = 2 * norm.cdf(1.96) - 1
    return binomtest(int(right), used).proportion_ci(confidence_level=level, method="wilson").low


def outcome_before(closes, known_at, place_of, at):
    """Return what a window that ended at a moment said, by the last closes known at both ends."""
    ends = [last_known(known_at, place_of, moment) for moment in (at - HORIZON, at)]
    return None if ends[0] is None or ends[1] is None or ends[0] == ends[1] else outcome(closes, *ends)


def last_known(known_at, place_of, moment):
    """Return the place of the last close known at a moment, at most 96 hours old: the pair has no class."""
    lowest, highest = 0, len(known_at)
    while lowest < highest:
        middle = (lowest + highest) // 2
        lowest, highest = (middle + 1, highest) if known_at[middle] <= moment else (lowest, middle)
    return lowest - 1 if lowest and moment - known_at[lowest - 1] <= timedelta(hours=96) else None


def evidence(blocks):
    """Return the mean over edges of the plain products."""
    edges = (0.04, 0.06, 0.08, 0.10, 0.12, 0.15, 0.20, 0.25)
    products = [
        math.prod(1 + min(edge, 0.98 - base) / (base * (1 - base)) * (score - base) for score, base in blocks)
        for edge in edges
    ]
    return sum(products) / len(products)
