"""Entries of role memory in any state, as rows: for pages and lists, which read them however they came about."""

from datetime import timedelta
from typing import Any

from memory_app.roles.core import Classification, Status
from memory_app.roles.models import RoleMemory
from minara_site.kernel.llm.models import LlmUsage
from minara_site.kernel.market.outcome import Outcome
from tests.kit.clock import NOON

MOMENTUM, THESIS = "market.spot.momentum", "analysis.thesis.review"
LESSON = "Wait for the close before calling a breakout."


def make_row(owner: Any, *, hours: float = 30, **fields: Any) -> RoleMemory:
    """Make a decision of the momentum role, so many hours before noon; what the fields name stands."""
    decided_at = NOON - timedelta(hours=hours)
    defaults = {
        "role_id": MOMENTUM,
        "skill_id": MOMENTUM,
        "asset": "BTC",
        "direction": "bullish",
        "inputs": {"asset": "BTC", "direction": "bullish"},
        "decision": "BTC goes on rising within a day.",
        "decided_at": decided_at,
        "created_at": decided_at,
        "actor": "key:abcd1234",
        "content_hash": "0" * 64,
    }
    return RoleMemory.objects.create(owner=owner, **(defaults | fields))


def make_thesis(owner: Any, *, hours: float = 30, **fields: Any) -> RoleMemory:
    """Make a decision whose outcome a person says."""
    thesis = {
        "role_id": THESIS,
        "skill_id": "analysis.thesis",
        "asset": "",
        "direction": "",
        "inputs": {"thesis": "fees stay low"},
        "decision": "The thesis holds.",
    }
    return make_row(owner, hours=hours, **(thesis | fields))


def make_wrong(owner: Any, *, hours: float = 60, lesson: str = LESSON, **fields: Any) -> RoleMemory:
    """Make a wrong decision that taught a lesson, its outcome known a day after it."""
    known_at = NOON - timedelta(hours=hours - 24)
    learned = {
        "status": Status.REFLECTED,
        "outcome": Outcome.WRONG,
        "outcome_at": known_at,
        "outcome_by": "price_delta",
        "pnl_pct": -2.5,
        "entry_price": "60000",
        "entry_price_at": known_at - timedelta(hours=24),
        "exit_price": "58500",
        "exit_price_at": known_at,
        "classification": Classification.LOGIC_ERROR,
        "narrative": "The breakout had no volume.",
        "lesson": lesson,
        "reflected_at": known_at + timedelta(minutes=5),
    }
    return make_row(owner, hours=hours, **(learned | fields))


def make_usage(task: str, cost_usd: str, **fields: Any) -> None:
    """Note what a call of a model cost."""
    call = {"category": "learning", "model": "model-x", "input_tokens": 1000, "output_tokens": 200}
    LlmUsage.objects.create(task=task, cost_usd=cost_usd, date=NOON.date(), ts=NOON, **call, **fields)
