"""Decisions over real candles: what came of each equals what the file says, read by other means."""

import csv
import random
from bisect import bisect_right
from datetime import datetime, timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command

from memory_app.roles.core import SkipReason
from memory_app.roles.probes import find_outcome
from memory_app.roles.registry import registry
from memory_app.roles.services.record import DecisionDraft, record_decision
from minara_site.kernel.market.outcome import Direction, Outcome
from tests.kit.shared import shared_path

pytestmark = [pytest.mark.database, pytest.mark.django_db]

CANDLE, WEEK = timedelta(minutes=5), timedelta(days=7)
WINDOWS = {"market.spot.momentum": timedelta(hours=24), "analysis.valuation.target_price": timedelta(hours=168)}
BAND = Decimal("0.5")


def import_closes():
    """Import the file; return when each candle closed, and at which price."""
    path = shared_path("data/eth_btc_5m.csv")
    call_command("market", "import", str(path), "--symbol", "ETH/BTC", "--interval", "5m", stdout=StringIO())
    with path.open() as file:
        rows = {datetime.fromisoformat(row["ts"]) + CANDLE: Decimal(row["close"]) for row in csv.DictReader(file)}
    return sorted(rows.items())


def last_close(closes, at):
    """Return the last close that was known at a moment."""
    place = bisect_right(closes, at, key=lambda each: each[0])
    return closes[place - 1][1]


def expected(closes, decided_at, window, direction):
    before, after = last_close(closes, decided_at), last_close(closes, decided_at + window)
    percent = (after - before) * 100 / before
    if direction is Direction.NEUTRAL:
        return (Outcome.RIGHT if abs(percent) <= BAND else Outcome.WRONG), 0.0
    signed = percent if direction is Direction.BULLISH else -percent
    if abs(percent) <= BAND:
        return Outcome.UNCLEAR, float(signed)
    return (Outcome.RIGHT if signed > 0 else Outcome.WRONG), float(signed)


def test_what_came_of_each_is_what_the_candles_say_and_what_lies_beyond_them_stays_unknown(ana):
    closes = import_closes()
    for role_id, window in WINDOWS.items():
        check_role(ana, closes, role_id, window)
    declared, end = registry().find("market.spot.momentum"), closes[-1][0]
    entry = decide(ana, declared.id, Direction.BULLISH, end, now=end)
    assert find_outcome(entry, declared, now=end + WEEK) is None
    assert find_outcome(entry, declared, now=end + WEEK + timedelta(days=1, seconds=1)) is SkipReason.NO_PRICE


def decide(owner, role_id, direction, decided_at, *, now):
    draft = DecisionDraft(role_id, {"asset": "ETHBTC", "direction": direction}, "It goes there.", decided_at)
    return record_decision(owner_id=owner.pk, draft=draft, actor="command:replay", origin="", is_replay=True, now=now)


def check_role(owner, closes, role_id, window):
    """Judge sixty decisions of a role, all over the file."""
    choose = random.Random(role_id)
    first, last = closes[0][0], closes[-1][0] - window
    declared, seen = registry().find(role_id), set()
    for number in range(60):
        decided_at = first + choose.random() * (last - first)
        direction = list(Direction)[number % 3]
        entry = decide(owner, role_id, direction, decided_at, now=last + 2 * window)
        found = find_outcome(entry, declared, now=entry.decided_at + window)
        outcome, pnl_pct = expected(closes, entry.decided_at, window, direction)
        assert (entry.asset, found.outcome) == ("ETH/BTC", outcome)
        assert found.pnl_pct == pytest.approx(pnl_pct, rel=1e-12, abs=1e-15)
        assert found.entry_quote.at <= entry.decided_at
        assert found.exit_quote.at <= found.at == entry.decided_at + window
        seen.add(outcome)
    assert {Outcome.RIGHT, Outcome.WRONG} <= seen
