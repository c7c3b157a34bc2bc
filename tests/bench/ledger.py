"""What a tick costs: reconciled alone, through HTTP beside a bare view, over a million trades; and a simulation."""

import json
import random
import statistics
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.test import Client, override_settings
from django.utils import timezone

from learning_app.ledger.core.reconcile import Holding, holding_of, reconcile_portfolio_delta
from learning_app.ledger.models import Deployment, Trade
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.core.paper import PaperBroker
from learning_app.ticks.core.simulate import MemoryLedger
from learning_app.ticks.models import AgentState
from learning_app.ticks.schemas import TickIn
from learning_app.ticks.simulate import load_bars, simulate
from minara_site.access.keys.services import create_key
from minara_site.access.models import User
from minara_site.access.policy import AGENT_SCOPES
from minara_site.kernel.guard.core import RULES
from tests.bench.figures import Figure
from tests.kit.api import Agent
from tests.kit.shared import SHARED

TRADES, SMALL, EACH, FEW = 1_000_000, 20_000, 1_000, 100
POSITIONS, BARS, CANDLES = 20, 100, 5_760
ROUNDS, CALLS, BATCH = 60, 4_000, 50
MAX_ALONE, MAX_WITH_BARS, MAX_BARE, MAX_GROWTH, MAX_SIMULATED = 6.0, 0.25, 4.0, 1.2, 3.0
FILE, LENGTH = SHARED / "data" / "eth_btc_5m.csv", timedelta(minutes=5)
minutes = count(1)


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure the pure parts, then ticks over few trades and over very many."""
    (scratch / "static").mkdir()  # where collected files would lie
    rules = settings.MINARA.model_copy(update={"minara_limit_writes_per_minute": 1_000_000})
    with override_settings(
        ROOT_URLCONF="tests.bench.ledger_urls", ALLOWED_HOSTS=["*"], SECURE_SSL_REDIRECT=False, MINARA=rules
    ):
        return [*alone(small=small), *simulated(small=small), *through_http(small=small)]


def body_of(at: datetime, symbols: int, mark: float, **fields: Any) -> dict[str, Any]:
    """Return a tick with so many positions."""
    positions = [
        {
            "symbol": f"S{number}-PERP",
            "side": "long",
            "size_base": "12.5",
            "size_usd": f"{12.5 * (mark + number):.6f}",
            "entry_price": f"{100 + number}",
            "mark_price": f"{mark + number:.4f}",
            "leverage": "3",
        }
        for number in range(symbols)
    ]
    return {
        "tick_at": at.isoformat(),
        "portfolio": {"equity_usd": "25000.50", "positions": positions},
        "proposed_action": {"action": "none", "reason": "The range holds; nothing to do before the close."},
        "engine": {"kind": "noop"},
        "marks": {each["symbol"]: each["mark_price"] for each in positions},
        **fields,
    }


def bars_of(at: datetime) -> list[list[float]]:
    """Return candles as a tick has them."""
    dice, begins = random.Random(3), int(at.timestamp() * 1000) - BARS * 300_000
    return [
        [
            begins + number * 300_000,
            *(round(dice.uniform(99, 101), 4) for _ in range(4)),
            round(dice.uniform(1, 900), 4),
        ]
        for number in range(BARS)
    ]


def alone(*, small: bool) -> list[Figure]:
    """Reconcile a tick with one open position, beside reading its body."""
    begun, calls = timezone.now() - timedelta(days=1), CALLS // 10 if small else CALLS
    ledger = MemoryLedger(SkillConfig())
    ledger.record(TickIn.model_validate(body_of(begun, 1, 100)).as_report())
    later = begun + LENGTH
    bodies = [body_of(later, 1, 101), body_of(later, 1, 101, bars={"S0-PERP": bars_of(later)})]
    prev = holdings(ledger)
    figures = []
    for body, most, name in zip(bodies, (MAX_ALONE, MAX_WITH_BARS), ("without bars", f"with {BARS} bars"), strict=True):
        text, report = json.dumps(body), TickIn.model_validate(body).as_report()
        taken = in_turns(
            calls // BATCH,
            lambda report=report: [
                reconcile_portfolio_delta(prev, report.positions, report.tick(prev, None)) for _ in range(BATCH)
            ],
            lambda text=text: [json.loads(text) for _ in range(BATCH)],
        )
        taken = [each / BATCH for each in taken]
        figures.append(
            ratio(f"reconciling a tick with one open position, body {name}", *taken, most, "json.loads", small=small)
        )
    return figures


def holdings(ledger: MemoryLedger) -> dict[str, Holding]:
    """Return what the next tick is reconciled against."""
    return {symbol: holding_of(row, Decimal(ledger.state.marks[symbol])) for symbol, row in ledger.open.items()}


def in_turns(rounds: int, *acts: Callable[[], Any]) -> list[float]:
    """Return the median processor seconds of acts that take turns, after some that do not count."""
    taken = [[worked(act) for act in acts] for _ in range(rounds + rounds // 10 + 1)][rounds // 10 + 1 :]
    return [statistics.median(each) for each in zip(*taken, strict=True)]


def worked(act: Callable[[], Any]) -> float:
    """Return the processor seconds that one call takes: the product, its database and the client are one process."""
    begun = time.process_time()
    act()
    return time.process_time() - begun


def spin() -> int:
    """Do a fixed amount of work, by which figures of two phases of a run compare."""
    return sum(number * number for number in range(50_000))


def ratio(name: str, ours: float, reference: float, most: float, what: str, *, small: bool) -> Figure:
    """Return how many times the reference something takes."""
    said = f"{ours * 1e3:.4f} ms; {what} {reference * 1e3:.4f} ms"
    return Figure(name, ours / reference, "x", f"at most {most:g}", small or ours <= most * reference, said)


def breakouts(bars: list[Any], portfolio: Any, _context: Any) -> Any:
    """Be long above the last 20 closes, short below them: some hundred flips."""
    close, before = bars[-1].close, [bar.close for bar in bars[-21:-1]]
    side = "long" if close >= max(before, default=close) else "short" if close <= min(before) else None
    held = [each["side"] for each in portfolio["positions"]]
    return (
        {"action": "open", "side": side, "size_usd": 1000, "reason": "broke out"} if side and held != [side] else None
    )


def simulated(*, small: bool) -> list[Figure]:
    """Simulate candles, beside reconciling and rendering the same ticks alone."""
    bars = load_bars(FILE, length=LENGTH, now=timezone.now())[: 500 if small else CANDLES]
    numbers = (Decimal(10_000), Decimal(1), Decimal("4.5"), Decimal(2))
    ratios, reports, trades = [], [], 0
    for _round in range(1 if small else 3):
        ledger, steps = MemoryLedger(SkillConfig()), list[Any]()

        def whole(ledger: MemoryLedger = ledger, steps: list[Any] = steps) -> None:
            steps.extend(simulate(bars, breakouts, PaperBroker("ETH/BTC", *numbers), ledger, length=LENGTH))

        taken = worked(whole)
        reports = [TickIn.model_validate(step["tick"]).as_report() for step in steps]
        again = MemoryLedger(SkillConfig())
        ratios.append((taken, worked(lambda: [again.record(report) for report in reports])))  # noqa: B023
        trades = len(ledger.trades)
    taken, reference = sorted(ratios, key=lambda each: each[0] / each[1])[len(ratios) // 2]
    return [
        Figure(
            f"simulating {len(bars):,} candles with {trades:,} trades",
            taken / reference,
            "x",
            f"at most {MAX_SIMULATED:g}",
            small or taken <= MAX_SIMULATED * reference,
            f"{taken:.2f} s; reconciling and rendering alone {reference:.2f} s",
        )
    ]


def through_http(*, small: bool) -> list[Figure]:
    """Report ticks with 20 positions over few trades, then over very many; read the context over both."""
    owner, now = User.objects.get(is_default=True), timezone.now()
    agent = Agent(create_key(user=owner, scopes=AGENT_SCOPES, now=now, actor="bench").text, Client())
    mine, bare = (make_deployment(agent, name) for name in ("mine", "bare"))
    total = SMALL if small else TRADES
    begun = now - timedelta(days=2)

    def post(path: str) -> Callable[[], None]:
        def send() -> None:
            number = next(minutes)
            body = body_of(
                begun + timedelta(seconds=number), POSITIONS, 100 + number / 1_000
            )  # every trade has a new best mark
            answer = agent.post(path, body)
            assert answer.status_code == 200, answer.content

        return send

    ticks = {name: post(f"/v1/deployments/{uid}/ticks") for name, uid in (("mine", mine), ("first of bare", bare))}
    for send in ticks.values():
        send()
    past(mine, FEW, skipped=0)
    rounds = 8 if small else ROUNDS
    few = in_turns(rounds, ticks["mine"], post(f"/bare/ticks/{bare}"), spin)
    context = agent.get(f"/v1/deployments/{mine}/context").content
    past(mine, EACH - FEW, skipped=FEW)
    others(mine, total // EACH - 1)
    many_context = agent.get(f"/v1/deployments/{mine}/context").content
    many = in_turns(rounds, ticks["mine"], post(f"/bare/ticks/{bare}"), spin)
    stored, pace = Trade.objects.count(), many[2] / few[2]  # how much slower the machine is now
    return [
        ratio(f"a tick through HTTP with {POSITIONS} positions", *few[:2], MAX_BARE, "bare view", small=small),
        ratio(f"the same over {stored:,} trades", *many[:2], MAX_BARE, "bare view", small=small),
        ratio(f"the same against {FEW} trades", many[0], few[0] * pace, MAX_GROWTH, f"over {FEW}", small=small),
        Figure(
            f"bytes of the context over {stored:,} trades that differ from those over {FEW}",
            sum(one != other for one, other in zip(context, many_context, strict=False))
            + abs(len(context) - len(many_context)),
            "bytes",
            "0",
            context == many_context,
            f"{len(context):,} bytes",
        ),
    ]


def make_deployment(agent: Agent, name: str) -> str:
    """Deploy a skill and return the id."""
    answer = agent.post(
        "/v1/deployments", {"name": name, "skill": {"name": name, "config": {"avoid": ["No leverage"]}}}
    )
    return str(answer.json()["data"]["id"])


def past(uid: str, number: int, *, skipped: int) -> None:
    """Store closed trades of a deployment, each a day older than the one before it, the first so many left out."""
    deployment = Deployment.objects.get(uid=uid)
    newest = timezone.now().replace(microsecond=0) - timedelta(days=30)
    Trade.objects.bulk_create(
        [
            Trade(
                owner_id=deployment.owner_id,
                deployment=deployment,
                skill_id=deployment.version.skill_id,
                skill_version=1,
                symbol=f"S{place % 9}-PERP",
                side="long",
                status="closed",
                entry_tick_at=newest - timedelta(days=place),
                entry_price=100,
                entry_size_usd=1000 + place,
                entry_reason="The range broke upwards",
                entry_regime_tag="chop_lowvol",
                exit_tick_at=newest - timedelta(days=place) + timedelta(hours=3),
                exit_price=101,
                holding_minutes=180,
                realized_pnl_usd=10,
                mfe_usd=12,
                mae_usd=-3,
                actor="bench",
                created_at=newest,
                updated_at=newest,
                rules_version=RULES.version,
            )
            for place in range(skipped, skipped + number)
        ],
        batch_size=500,
    )


def others(uid: str, number: int) -> None:
    """Store so many deployments more, each with a copy of the closed trades of this one."""
    mine = Deployment.objects.get(uid=uid)
    made = Deployment.objects.bulk_create(
        [
            Deployment(
                owner_id=mine.owner_id,
                name=f"other {place}",
                version_id=mine.version_id,
                actor="bench",
                created_at=mine.created_at,
            )
            for place in range(number)
        ],
        batch_size=500,
    )
    AgentState.objects.bulk_create([AgentState(deployment=each) for each in made], batch_size=500)
    columns = [field.column for field in Trade._meta.concrete_fields if not field.primary_key]
    chosen = {"id": "lower(hex(randomblob(16)))", "deployment_id": "%s"}
    listed, taken = (
        ", ".join(f'"{name}"' for name in columns),
        ", ".join(chosen.get(name, f'"{name}"') for name in columns),
    )
    with connection.cursor() as cursor:
        for each in made:
            cursor.execute(
                f"INSERT INTO trade_history ({listed}) SELECT {taken} FROM trade_history"
                " WHERE deployment_id = %s AND status = 'closed'",
                [each.pk, mine.pk],
            )
        cursor.execute("ANALYZE")
