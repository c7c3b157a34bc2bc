"""What the processes of the court's soak tests do, on one database of their own."""

import json
import math
import os
import signal
from datetime import timedelta
from decimal import Decimal
from multiprocessing import get_context

import numpy as np
from django.db import connections

from learning_app.cases.models import TradingCase
from learning_app.cases.services.cron import run_cron
from learning_app.cases.services.record import CaseDraft, Recorder, record_cases
from learning_app.cases.services.verify import verify
from learning_app.court.core import CourtState, add_block
from learning_app.court.models import Block
from minara_site.access.models import User
from minara_site.kernel.jobs.models import Lease
from minara_site.kernel.market.core import Bar
from minara_site.kernel.market.outcome import Direction
from minara_site.kernel.market.services import Series, import_bars
from tests.kit.clock import NOON
from tests.learning_app.cases.test_real_prices import Market, check
from tests.learning_app.rows import make_methodology

HOUR = timedelta(hours=1)
HORIZON, CALLS = 4, 60
FIRST = NOON.replace(hour=0) - timedelta(days=900)
NOW = FIRST + timedelta(days=900)
REGIMES = ("flat", "up", "flat up", "up flat", "up down", "garch", "plus", "minus", "turns")
SYMBOLS = ("BTC", "ETH", "SOL", "XRP", "ADA", "DOGE", "AVAX", "LINK", "LTC")
SIDES = ("bullish", "bearish", "neutral")


def walk(random: np.random.Generator, regime: str, hours: int) -> list[float]:
    """Return hourly closes of a regime: one percent an hour, Student t(4), drift in standard deviations."""
    steps = random.standard_t(4, hours) / math.sqrt(2)
    half = np.arange(hours) >= hours // 2
    if regime == "garch":
        variance, out = 1.0, []
        for step in steps:
            out.append(step * math.sqrt(variance) + 0.1)
            variance = 0.02 + 0.05 * (step * math.sqrt(variance)) ** 2 + 0.93 * variance
        steps = np.array(out)
    for number in range(1, hours if regime in {"plus", "minus"} else 0):
        steps[number] += (0.05 if regime == "plus" else -0.05) * steps[number - 1]
    drifts = {"up": 0.1, "flat up": 0.1 * half, "up flat": 0.1 * ~half, "up down": 0.1 - 0.2 * half}
    drifts["turns"] = np.repeat(random.choice([0.1, -0.1], hours // 480 + 1), 480)[:hours]
    return list(100 * np.exp(np.cumsum((steps + drifts.get(regime, 0.0)) / 100)))


def make_market(symbol: str, closes: list[float]) -> Market:
    """Store hourly candles of these closes, and return them as the second computation reads them."""
    prices = [Decimal(f"{close:.8f}") for close in closes]
    bars = [Bar(FIRST + HOUR * number, *[price] * 4) for number, price in enumerate(prices)]
    import_bars(series=Series(symbol, 3600, "soak", "test"), bars=bars, now=NOW)
    market = Market.__new__(Market)
    market.step, market.is_open = HOUR, True
    market.times = [bar.opens_at + HOUR for bar in bars]
    market.closes = [Market.exact(price) for price in prices]
    return market


def regimes_after_a_killed_cron() -> str:
    """Record calls in every regime, kill two passes, finish with a third; return where it differs from the core."""
    random, owner = np.random.default_rng(43), User.objects.get(is_default=True)
    stories = {}
    for symbol, regime in zip(SYMBOLS, REGIMES, strict=True):
        hours = CALLS * 3 * 5
        market = make_market(symbol, walk(random, regime, hours))
        methods = {side: make_methodology(name=f"{symbol} {side}", direction=side) for side in SIDES}
        starts = FIRST + HOUR + (hours - 60) * HOUR * np.sort(random.random(CALLS * 3))
        calls = [(side, side, start) for side, start in zip(random.choice(SIDES, CALLS * 3), starts, strict=True)]
        drafts = [
            CaseDraft(symbol, str(number), Direction(side), [methods[side].uid], HORIZON, start)
            for number, (_name, side, start) in enumerate(calls)
        ]
        record_cases(drafts=drafts, by=Recorder(owner.pk, "key:soak", is_operator=True), now=NOW)
        stories[symbol] = (market, methods, calls)
    killed = kill_after(lambda: TradingCase.objects.pending().count() < CALLS * 3 * 9 - 500)
    killed += kill_after(lambda: Block.objects.filter(known_at__isnull=False).exists())
    run_cron(now=NOW + HOUR, requested_by="soak")
    differences = [f"{each.of} {each.name}" for each in verify(apply=False, now=NOW + HOUR)]
    for symbol, (market, methods, calls) in stories.items():
        check(market, methods, calls, timedelta(hours=HORIZON), cases=TradingCase.objects.filter(asset=symbol))
        differences += [f"light of {row.name}" for row in methods.values() if not has_light_of_core(row)]
    known = Block.objects.filter(is_own=False, known_at__isnull=False).count()
    return json.dumps({"killed": killed, "differences": differences, "methods": 9 * 3, "blocks": known})


def has_light_of_core(row) -> bool:
    """Say whether the light is what the core makes of the blocks in their order."""
    state = CourtState()
    for block in row.blocks.filter(is_own=False, known_at__isnull=False).order_by("known_at", "starts_at", "pk"):
        state = add_block(state, score=block.score, chance=block.chance)
    return (row.decay_at is not None, row.beats_chance) == (state.is_decaying, state.beats_chance)


def kill_after(is_reached) -> int:
    """Run the cron in a process, and kill it once the database says so; return whether it was still working."""
    connections.close_all()
    process = get_context("fork").Process(target=run_cron, kwargs={"now": NOW, "requested_by": "soak"})
    process.start()
    while process.is_alive() and not is_reached():
        process.join(0.01)
    if was_alive := process.is_alive():
        os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    Lease.objects.all().delete()  # as it ends by itself after two minutes
    return int(was_alive)


def entry_cheat(count: int) -> str:
    """Call in the direction that prices took since the last close; return which share of the clear calls was right."""
    random, owner = np.random.default_rng(7), User.objects.get(is_default=True)
    hours = count
    minutes = np.cumsum(random.standard_normal(hours * 60)) * 0.13
    closes = 100 * np.exp(minutes[59::60] / 100)
    make_market("BTC", list(closes))
    places = random.integers(60, (hours - 6) * 60, count)
    for start in range(0, count, 1_000):
        drafts = [
            CaseDraft(
                "BTC",
                "It has moved already.",
                Direction.BULLISH if minutes[place] > minutes[place // 60 * 60 - 1] else Direction.BEARISH,
                (),
                HORIZON,
                FIRST + timedelta(minutes=int(place) + 1),
            )
            for place in places[start : start + 1_000]
        ]
        record_cases(drafts=drafts, by=Recorder(owner.pk, "key:soak", is_operator=True), now=NOW)
    run_cron(now=NOW, requested_by="soak")
    right = TradingCase.objects.filter(outcome_state="confirmed_good").count()
    return json.dumps(right / TradingCase.objects.filter(outcome_state__startswith="confirmed").count())
