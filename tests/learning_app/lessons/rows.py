"""Deployments, their closed trades and notes, as rows."""

from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from learning_app.ledger.models import Deployment, Skill, SkillVersion, Trade
from learning_app.lessons.core import hash_lessons_text
from learning_app.lessons.core.reflection import Lessons
from learning_app.lessons.models import ReflectionNote
from learning_app.ticks.models import AgentState
from minara_site.kernel.guard.core import RULES
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.services import claim_run
from tests.kit.clock import NOON
from tests.learning_app.rows import make_trade

_NUMBERS = count(1)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SAID = {
    "entry_timing": ["12 of 20 entries after a breakout lost within 30 minutes."],
    "sizing": [],
    "symbol_selection": ["BTC earned $24 on 9 trades, SOL cost $31 on 8."],
    "exit_timing": [],
    "regime_fit": ["chop_hivol cost $40 on 11 trades."],
}


def make_deployment(
    owner: Any,
    *,
    name: str = "",
    config: dict[str, Any] | None = None,
    **state: Any,
) -> Deployment:
    """Make a deployment of a new skill with this config, in this state."""
    number = next(_NUMBERS)
    skill = Skill.objects.create(owner=owner, name=f"skill-{number}", created_at=NOON - 9 * DAY)
    written = {"actor": "key:abcd1234", "created_at": NOON - 9 * DAY, "rules_version": RULES.version}
    version = SkillVersion.objects.create(owner=owner, skill=skill, number=7, config=config or {}, **written)
    made = {"name": name or f"agent-{number}", "actor": "key:abcd1234", "created_at": NOON - 9 * DAY}
    row: Deployment = Deployment.objects.create(owner=owner, version=version, **made)
    AgentState.objects.create(deployment=row, **state)
    return row


def add_trades(deployment: Deployment, *pnls: float, lessons: str | None = None, **fields: Any) -> list[Trade]:
    """Add closed trades with these P&L before fees, one an hour, the last one closed at noon."""
    rows = []
    for place, pnl in enumerate(pnls):
        closed_at: datetime = fields.get("closed_at", NOON) - (len(pnls) - 1 - place) * HOUR
        opened_at = closed_at - timedelta(minutes=30)
        defaults = {
            "deployment": deployment,
            "skill": deployment.version.skill,
            "skill_version": 7,
            "entry_tick_at": opened_at,
            "exit_tick_at": closed_at,
            "exit_price": Decimal(100),
            "entry_price": Decimal(100),
            "realized_pnl_usd": Decimal(str(pnl)),
            "fees_usd": Decimal("0.5"),
            "holding_minutes": 30,
            "mfe_usd": Decimal(20),
            "entry_lessons_hash": lessons,
            "entry_regime_tag": "chop_hivol",
            "created_at": opened_at,
        }
        given = {name: value for name, value in fields.items() if name != "closed_at"}
        rows.append(make_trade(deployment.owner, **(defaults | given)))
    return rows


def make_note(deployment: Deployment, text: str = "### Sizing\n- Smaller is safer.", **fields: Any) -> ReflectionNote:
    """Make the active note of a deployment, two days old."""
    note = build_note(deployment, text, **fields)
    note.save(force_insert=True)
    return note


def build_note(deployment: Deployment, text: str, **fields: Any) -> ReflectionNote:
    """Return the unsaved active note of a deployment, two days old."""
    at = fields.get("generated_at", NOON - 2 * DAY)
    defaults = {
        "owner": deployment.owner,
        "skill": deployment.version.skill,
        "version": 7,
        "deployment": deployment,
        "status": "active",
        "generated_at": at,
        "window_start": at - DAY,
        "window_end": at,
        "trades_considered": 20,
        "lessons_text": text,
        "model_used": "claude-haiku-4-5",
        "input_tokens": 1_000,
        "output_tokens": 200,
        "cost_usd": Decimal("0.002"),
        "content_hash": hash_lessons_text(text),
        "actor": "job:lessons.reflect",
        "created_at": at,
        "rules_version": RULES.version,
    }
    return ReflectionNote(**(defaults | fields))


def lessons_of(**slots: list[str]) -> Lessons:
    """Return an answer with these slots, the others empty."""
    return Lessons(**({name: [] for name in Lessons.model_fields} | slots))


def claim_of(run: JobRun) -> Any:
    """Return a worker's claim of a run."""
    return claim_run(run.pk, worker="host:1:2", now=NOON)
