"""What reflecting costs of our own: a sweep over thousands of entries with a model that answers at once.

The server is a process of its own. Every so many entries the sweep pauses for the same request through the bare SDK on
the same server, with nothing of ours around it; what that takes is subtracted, once for each entry. All else is ours:
the gateway with its thread, budget, breaker and usage rows, the probe, the evidence, the writes.
"""

import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

from anthropic import Anthropic
from django.conf import settings

from memory_app.roles import registry
from memory_app.roles.core import Trigger
from memory_app.roles.core.sweep import SweepResult
from memory_app.roles.models import RoleMemory
from memory_app.roles.services import reflect, stages
from minara_site.access.models import User
from minara_site.kernel.llm import budget
from minara_site.kernel.llm.adapters import wire
from tests.bench.figures import Figure, timed
from tests.kit.clock import NOON
from tests.kit.messages_api import KEY
from tests.memory_app.roles.reflecting import CALL, make_registry, open_market

MANY, SMALL = 5_000, 50
AT_MOST_MS = 5.0
DROPPED_MS = 100.0  # how soon a second caller knows that somebody is at it
ENTRIES_A_PAUSE = 20
ANSWER = {"class": "variance", "narrative": "The move stayed within what this market does on any day."}


@dataclass
class Swept:
    """The seconds of a sweep without its pauses, those of its thread's processor, and those of each call inside it.

    `drops` are the calls of others that came meanwhile and were sent away.
    """

    seconds: float
    processor: float
    bare: list[float]
    drops: list[float]
    exchanges: list[float]
    asks: list[float]
    reservations: list[float]
    settlements: list[float]


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Sweep entries whose outcome was unclear or wrong, each with a probe, its evidence and one call of Stage 1."""
    count = SMALL if small else MANY
    registry.install(make_registry())
    fill(count)
    with model_server() as url:
        dear = dict.fromkeys(("minara_budget_learning_daily_usd", "minara_budget_learning_monthly_usd"), 1_000_000)
        settings.MINARA = settings.MINARA.model_copy(
            update={"anthropic_api_key": KEY, "anthropic_base_url": url, **dear}
        )
        swept = sweep(count, Anthropic(api_key=KEY, base_url=url, max_retries=0))
    whole, bare = swept.seconds * 1000 / count, statistics.median(swept.bare) * 1000
    own = whole - bare
    drop = max(swept.drops) * 1000
    return [
        Figure(
            name="the longest of those who came meanwhile and were sent away",
            value=drop,
            unit="ms",
            bound=f"under {DROPPED_MS:g}",
            ok=small or drop < DROPPED_MS,
        ),
        Figure(
            name=f"our own time of one of {count:,} entries",
            value=own,
            unit="ms",
            bound=f"at most {AT_MOST_MS:g}",
            ok=small or own <= AT_MOST_MS,
            reference=f"whole {whole:.2f} ms, of our thread's processor {swept.processor * 1000 / count:.2f} ms; "
            f"the bare SDK {bare:.2f} ms",
        ),
        Figure(
            name="of it, asking without the SDK",
            value=(sum(swept.asks) - sum(swept.exchanges)) * 1000 / count,
            unit="ms",
            reference=f"the SDK in its thread {statistics.median(swept.exchanges) * 1000:.2f} ms",
        ),
        Figure(name="of that, reserving", value=statistics.median(swept.reservations) * 1000, unit="ms"),
        Figure(name="of that, settling", value=statistics.median(swept.settlements) * 1000, unit="ms"),
    ]


def fill(count: int) -> None:
    """Store prices and so many decisions that are due."""
    owner = User.objects.get(is_default=True)
    open_market()
    span = timedelta(hours=130) / count
    rows = []
    for number in range(count):
        asset = ("BTC", "SOL")[number % 2]
        decided_at = NOON - timedelta(hours=160) + span * number
        rows.append(
            RoleMemory(
                owner=owner,
                role_id=CALL,
                skill_id="desk",
                asset=asset,
                direction="bullish",
                inputs={"asset": asset, "direction": "bullish", "horizon": "a day"},
                decision=f"{asset} goes on rising within a day, call {number}.",
                decided_at=decided_at,
                created_at=decided_at,
                actor="bench",
                content_hash=f"{number:064}",
            )
        )
    RoleMemory.objects.bulk_create(rows, batch_size=500)


def sweep(count: int, sdk: Anthropic) -> Swept:
    """Reflect on everything, with pauses for the bare SDK."""
    bare: list[float] = []
    drops: list[float] = []
    last: dict[str, Any] = {}
    exchange, take = wire.exchange, reflect.take
    in_pauses = 0.0

    def kept(client: Any, body: dict[str, Any], seconds: float) -> Any:
        last.update(body)
        return exchange(client, body, seconds)

    def call_meanwhile() -> None:
        assert reflect.reflect_role(CALL, trigger=Trigger.MANUAL, now=NOON).result is SweepResult.DROPPED

    def paused(run: Any, entry: RoleMemory) -> Any:
        nonlocal in_pauses
        ended = take(run, entry)
        if sum(run.counts.values()) % ENTRIES_A_PAUSE == 0:
            begun = time.thread_time()
            bare.append(timed(lambda: sdk.messages.with_raw_response.create(**last)))
            drops.append(timed(call_meanwhile))
            in_pauses += time.thread_time() - begun
        return ended

    with (
        mock.patch.object(wire, "exchange", kept),
        mock.patch.object(reflect, "take", paused),
        timing(wire, "exchange") as exchanges,
        timing(stages, "ask") as asks,
        timing(budget, "reserve") as reservations,
        timing(budget, "settle") as settlements,
    ):
        begun, processor = time.perf_counter(), time.thread_time()
        ended = reflect.reflect_role(CALL, trigger=Trigger.CRON, now=NOON)
        seconds, processor = time.perf_counter() - begun, time.thread_time() - processor
    assert ended.counts == {"no_lesson": count}, ended
    assert len(exchanges) == len(asks) == count
    return Swept(
        seconds - sum(bare) - sum(drops),
        processor - in_pauses,
        bare,
        drops,
        exchanges,
        asks,
        reservations,
        settlements,
    )


@contextmanager
def timing(place: Any, name: str) -> Iterator[list[float]]:
    """Yield what fills with the seconds of each call of a function."""
    real: Callable[..., Any] = getattr(place, name)
    seconds: list[float] = []

    def measured(*args: Any, **kwargs: Any) -> Any:
        begun = time.perf_counter()
        try:
            return real(*args, **kwargs)
        finally:
            seconds.append(time.perf_counter() - begun)

    with mock.patch.object(place, name, measured):
        yield seconds


@contextmanager
def model_server() -> Iterator[str]:
    """Run the Messages API in a process of its own; yield its address."""
    command = [sys.executable, "-m", "tests.kit.messages_api", "--answer", json.dumps(ANSWER)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.search(r"http://\S+", said)
        assert found, said
        yield found[0]
    finally:
        process.terminate()
        process.wait()
