"""Learnings in any state, as rows, and turns as agents record them."""

import random
from datetime import datetime
from itertools import count
from typing import Any

from learning_app.learnings.models import Learning
from minara_site.kernel.conversations.models import Turn
from minara_site.kernel.conversations.services import NewTurn, ToolCall, record_turn, start_session
from minara_site.kernel.guard.core import RULES
from tests.kit.clock import NOON

_NUMBERS = count(1)
VERBS = "open close hedge rotate analyse backtest check compare scan review".split()
NOUNS = "long short position spread funding order grid ladder basis liquidity".split()
VENUES = "hyperliquid binance base arbitrum solana polymarket okx deribit uniswap curve".split()


def build_learning(owner: Any, **fields: Any) -> Learning:
    """Return an unsaved learning of one step."""
    number = next(_NUMBERS)
    defaults = {
        "name": f"learning_{number}",
        "trigger": f"procedure {number}",
        "tool_sequence": [{"tool_name": "get_price", "args": {"symbol": "BTC"}}],
        "actor": "key:abcd1234",
        "created_at": NOON,
        "updated_at": NOON,
        "rules_version": RULES.version,
    }
    return Learning(owner=owner, **(defaults | fields))


def make_learning(owner: Any, **fields: Any) -> Learning:
    """Make a learning."""
    row = build_learning(owner, **fields)
    row.save(force_insert=True)
    return row


def random_trigger(dice: random.Random) -> str:
    """Return a trigger as users ask, of a few hundred words."""
    words = (
        dice.choice(VERBS),
        dice.choice(NOUNS),
        f"token{dice.randint(1, 300)}",
        "on",
        dice.choice(VENUES),
    )
    return " ".join(
        [
            *words,
            "with",
            dice.choice(NOUNS),
            "and",
            dice.choice(VERBS),
            str(dice.randint(1, 500)),
        ]
    )


def make_many(owner: Any, number: int, *, seed: int = 1) -> list[Learning]:
    """Make that many learnings with triggers and counters of all sorts."""
    dice = random.Random(seed)
    counters = ("success_count", "failure_count", "ignored_count")
    rows = [
        build_learning(
            owner,
            trigger=random_trigger(dice),
            **{name: dice.randint(0, 60) for name in counters},
        )
        for _number in range(number)
    ]
    return list(Learning.objects.bulk_create(rows))


def add_turn(
    owner: Any,
    *tools: str,
    session: Any = None,
    completed: bool = True,
    now: datetime = NOON,
    **fields: Any,
) -> Turn:
    """Record a turn that called these tools; a name that ends in `!` is a call that failed."""
    session = session or start_session(owner_id=owner.pk, title="Talk", actor="key:abcd1234", now=now)
    calls = [
        ToolCall(name.removesuffix("!"), fields.get("args", {"symbol": "BTC"}), ok=not name.endswith("!"))
        for name in tools
    ]
    said = {"user_message": fields.get("message", "open a long on BTC"), "assistant_message": "Done."}
    turn = NewTurn(**said, tool_calls=calls, completed=completed)
    return record_turn(owner=owner, session_id=session.pk, turn=turn, actor="key:abcd1234", now=now)
