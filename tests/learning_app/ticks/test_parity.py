"""The same ticks through HTTP and through the simulator: ops, contexts and ledgers equal to the byte (R-35, S4)."""

import json
import random
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.serializers.json import DjangoJSONEncoder

from learning_app.ledger.core.reconcile import op_record
from learning_app.ledger.models import Deployment
from learning_app.ledger.selectors import columns_of
from learning_app.lessons.models import ReflectionNote
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.core.paper import PaperBroker
from learning_app.ticks.core.simulate import MemoryLedger
from learning_app.ticks.schemas import TickIn
from learning_app.ticks.simulate import load_bars, simulate
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.kit.shared import shared_path
from tests.learning_app.lessons.rows import make_note
from tests.learning_app.ticks import strategies

pytestmark = [pytest.mark.django_db, pytest.mark.database]
HOUR = timedelta(hours=1)
CONFIG = {
    "strategy": "Buy strength.\n## Not a heading",
    "avoid": ["Never hold more than 2x", "No trades on Sunday"],
    "memory": {"recentTradesK": 4},
}
SYMBOLS = ("BTC", "ETH", "ETH-PERP", "xyz:TSLA")


def as_text(value):
    """Return an answer to the byte, with its fields in their order."""
    return json.dumps(value, cls=DjangoJSONEncoder)


def check_parity(owner, steps, ledger, first):
    """Post every tick, and compare what HTTP answers and stores with what the simulator did; return its trades."""
    agent = agent_of(owner)
    skill = {"name": "one", "config": CONFIG}
    made = agent.post("/v1/deployments", {"name": "sim", "skill": skill}).json()["data"]
    address = f"/v1/deployments/{made['id']}"
    assert as_text(agent.get(f"{address}/context").json()["data"]) == as_text(asdict(first))
    for number, step in enumerate(steps):
        answer = agent.post(f"{address}/ticks", json.loads(as_text(step["tick"])))
        assert answer.status_code == 200, answer.content
        data = answer.json()["data"]
        assert as_text(data) == as_text({"ops": step["ops"], "context": step["context"]}), number
    stored = agent.get(f"{address}/trades?limit=200").json()["data"]["items"]
    ours = json.loads(as_text([columns_of(row, is_held=row.is_held) for row in ledger.trades]))
    by_opening = [ours[row.number] for row in sorted(ledger.trades, key=lambda row: (row.entry_tick_at, row.number))]
    assert [{name: row[name] for name in ours[0]} for row in stored] == by_opening[::-1]
    return ours


@pytest.mark.parametrize(
    ("name", "leverage", "fee_bps", "slippage_bps", "closed"),
    [("means", 1, "4.5", 20, 5), ("highs", 2, "-1", 0, 1), ("borrowed", 20, "0", 0, 1)],
)
def test_candles_simulated_and_posted_leave_the_same_bytes(ana, name, leverage, fee_bps, slippage_bps, closed):
    bars = load_bars(shared_path("data/xrp_usdt_1h.csv"), length=HOUR, now=datetime.now(UTC))
    broker = PaperBroker("XRP", *map(Decimal, (10_000, leverage, fee_bps, slippage_bps)))
    ledger = MemoryLedger(SkillConfig(**CONFIG))
    first = ledger.first_context()
    steps = list(simulate(bars, getattr(strategies, name), broker, ledger, length=HOUR))
    ours = check_parity(ana, steps, ledger, first)
    assert sum(row["status"] == "closed" for row in ours) >= closed
    assert any(row["exit_reason"] == "liquidated" for row in ours) == (name == "borrowed")


def test_lessons_stand_and_take_turns_alike(ana):
    config = {"memory": {"reflection": {"compare": "alternate"}}}
    agent, ledger = agent_of(ana), MemoryLedger(SkillConfig(**config), "turns")
    made = agent.post("/v1/deployments", {"name": "turns", "skill": {"name": "one", "config": config}}).json()["data"]
    deployment = Deployment.objects.get(uid=made["id"])
    for number, tick in enumerate(some_ticks(random.Random(7), 70)):
        ops, context = ledger.record(TickIn.model_validate(tick).as_report())
        answer = agent.post(f"/v1/deployments/{made['id']}/ticks", json.loads(as_text(tick))).json()["data"]
        assert as_text(answer) == as_text({"ops": [op_record(op) for op in ops], "context": asdict(context)}), number
        if number in {6, 25, 45}:
            text = f"### Sizing\n- Lesson of tick {number}."
            ledger.learn(text)
            ReflectionNote.objects.update(status="superseded")
            make_note(deployment, text, generated_at=ledger.state.tick_at)
    assert len({row.entry_lessons_hash for row in ledger.trades}) > 2


def some_ticks(dice, count):
    """Yield the bodies of ticks of several symbols: openings, adds, flips, rejections, errors, flattening, attacks."""
    sizes, at = dict.fromkeys(SYMBOLS, 0), NOON - timedelta(days=20)
    for number in range(count):
        at += timedelta(minutes=dice.choice([7, 40, 600]))
        for symbol in dice.sample(SYMBOLS, dice.randint(0, 2)):
            sizes[symbol] = dice.choice([0, 0, dice.uniform(-9, 9), sizes[symbol] * 2, sizes[symbol] / 3, 1e-13])
        prices = {symbol: round(dice.uniform(0.5, 3) * 10**place, 6) for place, symbol in enumerate(SYMBOLS)}
        positions = [
            {
                "symbol": symbol,
                "side": "long" if size > 0 else "short",
                "size_base": repr(abs(size)),
                "size_usd": repr(abs(size) * prices[symbol]),
                "entry_price": 1,
                "mark_price": prices[symbol],
                "leverage": dice.choice([None, 3]),
            }
            for symbol, size in sizes.items()
            if size or dice.random() < 0.1
        ]
        closes = [
            [60_000 * n + 1, 1, 1, 1, round(1 + dice.random() / 50, 4), None] for n in range(dice.choice([5, 30]))
        ]
        yield {
            "tick_at": at.isoformat(),
            "portfolio": {"equity_usd": repr(dice.uniform(900, 1100)), "positions": positions},
            "proposed_action": dice.choice(
                [
                    None,
                    {
                        "action": "open",
                        "symbol": dice.choice(SYMBOLS),
                        "side": "long",
                        "size_usd": 7.5,
                        "reason": f"n{number}",
                    },
                    {"action": "close_position", "reason": strategies.ATTACK},
                    {"reason": '  "quoted"\n- line ', "stop_price": "0.25"},
                ]
            ),
            "engine": dice.choice(
                [
                    {"kind": "executed"},
                    {"kind": "executed"},
                    {"kind": "rejected", "rule": "R3"},
                    {"kind": "error", "rule": "E1"},
                ]
            ),
            "bars": {dice.choice(SYMBOLS): closes},
            "marks": {symbol: prices[symbol] for symbol in SYMBOLS if dice.random() < 0.5},
            "fees": {symbol: round(dice.uniform(-1, 2), 9) for symbol in SYMBOLS},
            "command": "flatten" if dice.random() < 0.1 else None,
        }


def test_any_ticks_of_several_symbols_leave_the_same_bytes(ana):
    ledger = MemoryLedger(SkillConfig(**CONFIG))
    first, steps = ledger.first_context(), []
    for tick in some_ticks(random.Random(45), 120):
        ops, context = ledger.record(TickIn.model_validate(tick).as_report())
        steps.append({"tick": tick, "ops": [op_record(op) for op in ops], "context": asdict(context)})
    ours = check_parity(ana, steps, ledger, first)
    assert {op["op"] for step in steps for op in step["ops"]} == {
        "OpenTrade",
        "UpdateMfeMae",
        "CloseTrade",
        "FlipTrade",
    }
    assert len(ours) > 20
