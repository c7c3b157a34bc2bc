"""A committee that answers: what the local Messages server says to each role, and a run that is done."""

from datetime import datetime, timedelta
from typing import Any

import time_machine

from learning_app.institution.models import InstitutionRun
from learning_app.institution.services.requests import create_run
from learning_app.institution.services.run import run_institution
from tests.kit.clock import NOON
from tests.kit.messages_api import Asked, MessagesApi
from tests.learning_app.rows import post_prices

ANSWERS: dict[str, dict[str, Any]] = {
    "analyst_report": {
        "stance": "bullish",
        "confidence": 0.6,
        "summary": "The trend is up.",
        "findings": ["Up over a week."],
    },
    "debate_turn": {"argument": "Buyers are ahead.", "points": ["Volume rises."]},
    "research_plan": {"recommendation": "buy", "rationale": "The bull was stronger.", "steps": ["Enter in two parts."]},
    "trader_proposal": {
        "action": "buy",
        "confidence": 0.6,
        "entry": "At the market.",
        "exit": "Below the low of the week.",
        "rationale": "The plan says so.",
    },
    "risk_opinion": {"verdict": "accept", "opinion": "The stop is close."},
    "portfolio_decision": {
        "rating": "buy",
        "confidence": 0.7,
        "horizon_days": 14,
        "cases": {"base": "It rises.", "bull": "It rises fast.", "bear": "It falls to the low."},
        "cited": [],
    },
}
ROLES = 14


def committee(**decision: Any) -> Any:
    """Return the answering function of a committee that decides so."""

    def answer(asked: Asked) -> dict[str, Any]:
        name = asked.tool["name"]
        return {**ANSWERS[name], **(decision if name == "portfolio_decision" else {})}

    return answer


def add_run(owner: Any, *, ticker: str = "BTC", now: datetime = NOON, **fields: Any) -> InstitutionRun:
    """Store a run that no worker has."""
    defaults = {"actor": f"user:{owner.pk}", "feeds": False}
    return create_run(owner_id=owner.pk, ticker=ticker, now=now, **(defaults | fields))


def decide(
    models: MessagesApi,
    owner: Any,
    *,
    at: datetime = NOON,
    ticker: str = "BTC",
    feeds: bool = True,
    **decision: Any,
) -> InstitutionRun:
    """Return a run of that moment which is done and decided so."""
    with time_machine.travel(at, tick=False):
        models.answer = committee(**decision)
        run = add_run(owner, ticker=ticker, now=at, feeds=feeds)
        assert run_institution(run.pk, now=at)["result"] == "done"
    run.refresh_from_db()
    return run


def post_course(
    ticker: str = "BTC",
    *,
    days: int = 40,
    price: int = 100,
    step: int = 1,
    at: datetime = NOON,
) -> None:
    """Store a price of the instance for each day up to a moment, the last one `price`."""
    post_prices(ticker, *((at - timedelta(days=back), str(price - step * back)) for back in range(days)))
