"""What the tests of the reflector stand on: roles of their own, a market that goes three ways, and a model's answers.

BTC falls by one every hour, ETH rises by one, SOL stays: a bullish call of a day is wrong, right or unclear.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from unittest import mock

from memory_app.roles import registry
from memory_app.roles.core import Classification, Trigger
from memory_app.roles.core.declarations import (
    DomainSkill,
    Manual,
    MemoryRole,
    PriceDelta,
    RefetchSource,
    ReflectionPolicy,
)
from memory_app.roles.models import RoleMemory
from memory_app.roles.services import reflect
from minara_site.kernel.market.core import Point
from minara_site.kernel.market.services import record_points
from tests.kit.clock import NOON
from tests.kit.messages_api import Asked
from tests.memory_app.roles.rows import make_row

CALL, SWING, REVIEW = "desk.call", "desk.swing", "desk.review"
EVERY = (Trigger.CRON, Trigger.ON_NEW_WRITE, Trigger.ON_PRICE_FETCH)
PROMPT = "You called {asset} over {window}: {decision}\nIt came to {pnl}: {type}.\nEvidence: {evidence}"
LESSON = "Check the funding rate before the next breakout call."
NARRATIVE = "The volume fell while the price rose, and the call ignored it."


def make_role(role_id: str, **policy: Any) -> MemoryRole:
    """Return a role whose calls are judged after a day, for a week."""
    stated = {
        "outcome_probe": PriceDelta(window_hours=24),
        "min_age_hours": 24,
        "max_age_hours": 168,
        "triggers": EVERY,
        "cron_expr": "0 * * * *",
        "post_hoc_probes": (RefetchSource("get_price", "asset→symbol"),),
    }
    return MemoryRole(
        role_id,
        f"The role {role_id}",
        ("chased the move",),
        PROMPT,
        ReflectionPolicy(**stated | policy),
    )


def make_registry(*roles: MemoryRole) -> registry.RoleRegistry:
    """Return the registry of one skill with these roles, by default two with a price and one that people mark."""
    manual = make_role(
        REVIEW,
        outcome_probe=Manual(),
        min_age_hours=1,
        triggers=(Trigger.ON_NEW_WRITE,),
        cron_expr="",
    )
    declared = roles or (make_role(CALL), make_role(SWING), manual)
    return registry.RoleRegistry.from_skill_registry([DomainSkill("desk", "The desk", declared)])


@contextmanager
def installed(*roles: MemoryRole) -> Iterator[None]:
    """Let these be the roles of this process for a while.

    Nobody renews a lease meanwhile: the thread that does would not find a row of a test's transaction.
    """
    registry.install(make_registry(*roles))
    try:
        with mock.patch.object(reflect, "LEASE_SECONDS", 3_600):
            yield
    finally:
        registry.install(None)


def open_market(*, until: datetime = NOON, hours: int = 180) -> None:
    """Record a price every hour up to this one."""
    points = []
    for ago in range(hours + 1):
        at = until - timedelta(hours=ago)
        points += [Point("BTC", at, Decimal(1000 + ago)), Point("ETH", at, Decimal(2000 - ago))]
        points.append(Point("SOL", at, Decimal(150)))
    for start in range(0, len(points), 900):
        record_points(
            points=points[start : start + 900],
            owner_id=None,
            source="test",
            actor="test",
            now=until,
        )


def make_call(
    owner: Any,
    *,
    hours: float = 48,
    asset: str = "BTC",
    role_id: str = CALL,
    **fields: Any,
) -> RoleMemory:
    """Make a bullish call on an asset, so many hours before noon."""
    inputs = {"asset": asset, "direction": "bullish"}
    return make_row(owner, hours=hours, **({"role_id": role_id, "asset": asset, "inputs": inputs} | fields))


def answer_as(classification: Classification | str, *, lesson: str = LESSON, narrative: str = NARRATIVE) -> Any:
    """Return a model that classifies everything like this, and draws this lesson."""

    def answer(asked: Asked) -> dict[str, str]:
        if is_stage_one(asked):
            return {"class": str(classification), "narrative": narrative}
        return {"lesson": lesson}

    return answer


def is_stage_one(asked: Asked) -> bool:
    """Say which stage asked."""
    return bool(asked.tool["name"] == "classify_decision")


def stages_of(asked: list[Asked]) -> tuple[int, int]:
    """Return how many calls of each stage were made."""
    first = sum(is_stage_one(each) for each in asked)
    return first, len(asked) - first
