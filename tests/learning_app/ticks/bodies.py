"""Ticks as agents send them."""

from datetime import timedelta
from typing import Any

from learning_app.ledger.models import DecisionSnapshot, Deployment, SkillVersion
from minara_site.kernel.guard.core import RULES
from tests.kit.api import Agent
from tests.kit.clock import NOON

START = NOON - timedelta(hours=6)
STRATEGY = "Buy breakouts of the morning's range."


def position(symbol: str, side: str, size: float, mark: float, **fields: Any) -> dict[str, Any]:
    """Return a position of a portfolio."""
    sizes = {"size_base": str(size), "size_usd": str(round(size * mark, 8))}
    return {"symbol": symbol, "side": side, **sizes, "entry_price": mark, "mark_price": mark, **fields}


def tick(minute: float, *positions: dict[str, Any], kind: str = "executed", **fields: Any) -> dict[str, Any]:
    """Return the body of a tick, so many minutes after the start."""
    rule = fields.pop("rule", None)
    at = START + timedelta(minutes=minute)
    return {
        "tick_at": at.isoformat(),
        "portfolio": {"equity_usd": "10000", "positions": list(positions)},
        "engine": {"kind": kind, "rule": rule},
        **fields,
    }


def deploy(agent: Agent, name: str = "momentum", **config: Any) -> str:
    """Deploy a skill and return the id of the deployment."""
    skill = {"name": "breakouts", "config": {"strategy": STRATEGY, **config}}
    answer = agent.post("/v1/deployments", {"name": name, "skill": skill})
    assert answer.status_code in {200, 201}, answer.content
    return str(answer.json()["data"]["id"])


def report(agent: Agent, deployment: str, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    """Send a tick and return what it answers, the problem where it is refused."""
    answer = agent.post(f"/v1/deployments/{deployment}/ticks", body)
    assert answer.status_code == status, answer.content
    found: dict[str, Any] = answer.json()
    return found["data"] if status == 200 else found


def make_snapshot(deployment: Deployment, reason: str, **fields: Any) -> DecisionSnapshot:
    """Make a tick with this reason as a row."""
    defaults = {
        "owner": deployment.owner,
        "version": deployment.version,
        "tick_at": START,
        "equity_usd": 10_000,
        "positions": {},
        "proposed_action": {"action": "open"},
        "engine_kind": "executed",
        "memory": {"state": {}, "open": {}},
        "actor": "key:abcd1234",
        "created_at": START,
        "rules_version": RULES.version,
    }
    row: DecisionSnapshot = DecisionSnapshot.objects.create(deployment=deployment, reason=reason, **(defaults | fields))
    return row


def make_version(deployment: Deployment, strategy: str, **fields: Any) -> SkillVersion:
    """Make another version of a deployment's skill, with this strategy, as a row."""
    defaults = {"actor": "key:abcd1234", "created_at": START, "rules_version": RULES.version}
    row: SkillVersion = SkillVersion.objects.create(
        owner=deployment.owner,
        skill=deployment.version.skill,
        number=8,
        config={"strategy": strategy},
        **(defaults | fields),
    )
    return row
