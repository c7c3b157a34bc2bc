"""What the processes of the budget's race tests do, started by `Site.call`."""

import json
import os
import signal
import time
from datetime import datetime
from decimal import Decimal

from django.db import connections
from django.db.models import Count, Sum
from pydantic import BaseModel
from structlog.testing import capture_logs

from minara_site.kernel.llm.budget import BudgetExceededError, Reservation, release, reserve, settle
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.tiers import Tier
from minara_site.kernel.llm.gateway import Question, ask
from minara_site.kernel.llm.models import BudgetReservation, BudgetWindow, LlmUsage
from tests.kit.clock import NOON
from tests.kit.racers import in_processes

PROJECTED = Decimal("0.10")
CENT = Decimal("0.01")


def take(
    amount: Decimal = PROJECTED,
    *,
    now: datetime = NOON,
    category: Category = Category.LEARNING,
) -> Reservation:
    """Reserve as a reflection does."""
    return reserve(category=category, task="roles.classify", model="fast", amount_usd=amount, now=now)


def pay(
    reservation: Reservation,
    cost: Decimal = PROJECTED,
    *,
    now: datetime = NOON,
    owner_id: int | None = None,
) -> int:
    """Settle as a reflection does."""
    tokens = {"input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 0, "cache_write_tokens": 0}
    about = {"owner_id": owner_id, "subject": "role_memory:1", "request_id": "", "is_repair": False}
    return settle(reservation, cost_usd=cost, now=now, **tokens, **about)


def fire(calls: int) -> dict[str, int]:
    """Try this many calls; return how many fired, were refused and warned."""
    fired = refused = 0
    with capture_logs() as logs:
        for _call in range(calls):
            try:
                reservation = take()
            except BudgetExceededError:
                refused += 1
                continue
            fired += 1
            time.sleep(0.002)  # the model thinks
            pay(reservation)
    warned = sum(each["event"] == "budget_soft_threshold" for each in logs)
    return {"fired": fired, "refused": refused, "warned": warned}


class Verdict(BaseModel):
    """Say what the decision was worth."""

    verdict: str


def ask_models(calls: int) -> dict[str, int]:
    """Ask a model this often; return how many asked, were refused and warned."""
    asked = refused = 0
    with capture_logs() as logs:
        for _call in range(calls):
            said = {"system": "You judge decisions.", "content": "BTC rose.", "answer": Verdict, "max_tokens": 100}
            try:
                ask(Question(category=Category.LEARNING, task="roles.classify", tier=Tier.FAST, **said))
            except BudgetExceededError:
                refused += 1
                continue
            asked += 1
    warned = sum(each["event"] == "budget_soft_threshold" for each in logs)
    return {"fired": asked, "refused": refused, "warned": warned}


def race(processes: int, calls: int, what: str = "fire") -> str:
    """Let this many processes begin at once, and return what each of them found."""
    import anthropic  # noqa: F401 - once for all of them

    work = {"fire": fire, "ask": ask_models}[what]
    return json.dumps(in_processes(*((work, calls) for _process in range(processes))))


def die(settles: int, *, waits: bool) -> None:
    """Fork a process that settles so many calls, and kill it with kill -9.

    With `waits` it dies holding a reservation that it never settles, else wherever it is then.
    """
    said, says = os.pipe()
    child = os.fork()
    if child == 0:
        spend(says, settles if waits else 10**9)
    os.close(says)
    left = settles + 1
    while left:
        left -= len(os.read(said, left))
    os.close(said)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def spend(says: int, settles: int) -> None:
    """Reserve and settle, and say so after every reservation; the last one is never settled."""
    for _call in range(settles):
        reservation = take(CENT)
        os.write(says, b".")
        pay(reservation, CENT)
    take(CENT)
    os.write(says, b".")
    signal.pause()


def kill_between(times: int, moments: list[str]) -> str:
    """Kill this many processes between reserve and settle; return after each what the tables hold, in cents.

    Then return the room that there is at these moments.
    """
    found = []
    for _time in range(times):
        die(1, waits=True)
        found.append(look())
        connections.close_all()
    return json.dumps([found, [find_room(at) for at in moments]])


def kill_anywhere(times: int) -> str:
    """Kill this many processes wherever they are; return after each what the tables hold, in cents."""
    found = []
    for number in range(times):
        die(3 + number, waits=False)
        found.append(look())
        connections.close_all()
    return json.dumps(found)


def look() -> dict[str, int]:
    """Return in cents what calls cost by their rows and by their window, and what is reserved; and count the calls."""
    paid = LlmUsage.objects.aggregate(usd=Sum("cost_usd"), calls=Count("pk"))
    window = BudgetWindow.objects.get(category="learning", window="2026-06-12")
    reserved = BudgetReservation.objects.aggregate(usd=Sum("amount_usd"))["usd"]
    amounts = {"paid": paid["usd"], "spent": window.spent_usd, "reserved": reserved}
    cents = {name: round(100 * (usd or Decimal(0))) for name, usd in amounts.items()}
    return {**cents, "calls": paid["calls"], "counted": window.calls}


def find_room(at: str) -> str:
    """Return how much one call may cost at this moment: the amounts that fit are tried, cent by cent."""
    now = datetime.fromisoformat(at)
    for cents in range(100, 0, -1):
        try:
            release(take(Decimal(cents) / 100, now=now))
        except BudgetExceededError:
            continue
        return str(Decimal(cents) / 100)
    return "0"
