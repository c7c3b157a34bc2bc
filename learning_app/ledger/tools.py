"""The tool `record_trade`: an agent records what it opened or closed. Sources: S1, S3."""

from typing import Any

from django.utils import timezone

from learning_app.ledger.schemas import NewTrade
from learning_app.ledger.selectors import trade_record
from learning_app.ledger.services import record_trade
from minara_site.access.principal import Principal


def record(principal: Principal, args: NewTrade, *, reasoning: str) -> dict[str, Any]:
    """Record a trade, or close an open one, and return it."""
    row, _is_new = record_trade(
        draft=args.as_draft(),
        owner_id=principal.owner.pk,
        actor=principal.actor,
        now=timezone.now(),
        reasoning=reasoning,
    )
    return trade_record(row)
