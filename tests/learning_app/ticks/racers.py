"""What processes do with the ticks of one deployment, on one shared database."""

import json
import os
import signal
from typing import Any

from django.db import connection
from django.test import Client

from learning_app.ledger.models import DecisionSnapshot, Trade
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.core.simulate import MemoryLedger
from learning_app.ticks.schemas import TickIn
from minara_site.access.models import User
from minara_site.access.policy import Scope
from tests.kit.api import Agent, key_of
from tests.kit.racers import FORK, in_processes, meet
from tests.learning_app.ticks.bodies import deploy, position, tick

COLUMNS = ("symbol", "side", "status", "exit_price", "realized_pnl_usd", "mfe_usd", "mae_usd", "fees_usd")
SIZES = {"BTC": (2, 3, -3, -1, 0, 4, 0, -2), "ETH": (0, -5, -5, 5, 6, 0, 1, -1), "SOL": (1, 1, 0, 0, 2, 2, -2, 2)}


def ticks() -> list[dict[str, Any]]:
    """Return ticks that open, add, take off, flip and close."""
    bodies = []
    for minute in range(8):
        sides = {symbol: ("long" if sizes[minute] > 0 else "short", sizes[minute]) for symbol, sizes in SIZES.items()}
        held = [position(symbol, side, abs(size), 90 + minute) for symbol, (side, size) in sides.items() if size]
        bodies.append(tick(minute, *held, fees=dict.fromkeys(SIZES, "0.25")))
    return bodies


def agent() -> Agent:
    """Return an agent of the owner of this installation."""
    owner = User.objects.get(is_default=True)
    return Agent(key_of(owner, (Scope.TRADING_WRITE, Scope.TRADING_READ)), Client(SERVER_NAME="localhost"))


def stored() -> list[list[str]]:
    """Return the trades by their opening, with plain numbers."""
    rows = Trade.objects.order_by("entry_tick_at", "number").values_list(*COLUMNS)
    return [[str(value if isinstance(value, str | None) else float(value)) for value in row] for row in rows]


def post_all(processes: int) -> str:
    """Post every tick from so many processes at once; return what each answered, what stands, and what should."""
    one = agent()
    address = f"/v1/deployments/{deploy(one)}/ticks"
    answers = in_processes(*[(post_each, one, address) for _process in range(processes)])
    ledger = MemoryLedger(SkillConfig())
    for body in ticks():
        ledger.record(TickIn.model_validate(body).as_report())
    wanted = [[getattr(row, name, None) for name in COLUMNS] for row in ledger.trades]
    plain = [[str(value if isinstance(value, str | None) else float(value)) for value in row] for row in wanted]
    return json.dumps([answers, DecisionSnapshot.objects.count(), stored(), plain])


def post_each(one: Agent, address: str) -> list[tuple[int, int, str]]:
    """Post the ticks, each together with the other processes; return status, how many ops, and the context's hash."""
    found = []
    for body in ticks():
        meet()
        answer = one.post(address, body)
        data = answer.json()["data"]
        found.append((answer.status_code, len(data["ops"]), data["context"]["hash"]))
    return found


def die_in_a_flip() -> str:
    """Kill the process that posts a flip before each of its statements in turn; return what stood after each death.

    It ends with the first flip that is stored; last comes what the same tick again answers, and what stands then.
    """
    one = agent()
    address = f"/v1/deployments/{deploy(one)}"
    one.post(f"{address}/ticks", tick(0, position("BTC", "long", 2, 100)))
    flip = tick(1, position("BTC", "short", 3, 110), fees={"BTC": 1})
    deaths = []
    while DecisionSnapshot.objects.count() == 1:
        deaths.append(killed_at(len(deaths) + 1, one, f"{address}/ticks", flip))
    again = one.post(f"{address}/ticks", flip).json()["data"]
    is_equal = again["context"] == one.get(f"{address}/context").json()["data"]
    return json.dumps([deaths, [again["ops"], is_equal, stored()]])


def killed_at(statement: int, one: Agent, path: str, body: dict[str, Any]) -> list[Any]:
    """Post in a process that dies before that statement; return how it ended and the trades that stand."""
    connection.close()
    process = FORK.Process(target=post_and_die, args=(statement, one, path, body))
    process.start()
    process.join()
    return [process.exitcode, stored()]


def post_and_die(statement: int, one: Agent, path: str, body: dict[str, Any]) -> None:
    """Post, and die before that statement."""
    left = [statement]

    def count(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(count):
        one.post(path, body)
