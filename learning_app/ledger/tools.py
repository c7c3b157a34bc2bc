"""Tools of trades: an agent records what it opened or closed, chat reads the history. Sources: S1, S3, S4."""

from typing import Annotated, Any

from django.utils import timezone
from pydantic import Field

from learning_app.ledger.schemas import NewTrade
from learning_app.ledger.selectors import list_trades, trade_record, trade_records, without_refused
from learning_app.ledger.services import record_trade
from minara_site.access.principal import Principal
from minara_site.kernel.core.symbols import normalise_asset
from minara_site.web.schemas import Strict


class HistoryArgs(Strict):
    """Arguments of query_trade_history."""

    deployment_id: Annotated[str | None, Field(max_length=36, description="One trading agent; all without it.")] = None
    asset: Annotated[str | None, Field(min_length=1, max_length=40, description="BTC, PEPE, TSLA.")] = None
    limit: Annotated[int, Field(ge=1, le=200, description="How many, newest first.")] = 20


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


def query_history(principal: Principal, args: HistoryArgs, *, reasoning: str) -> dict[str, Any]:
    """Return the owner's trades that were opened last. Two queries."""
    rows = list_trades(owner=principal.owner)
    if args.deployment_id:
        rows = rows.filter(deployment__uid=args.deployment_id)
    if args.asset:
        rows = rows.filter(asset=normalise_asset(args.asset) or args.asset)
    newest = rows.order_by("-entry_tick_at", "-number")[: args.limit]
    return {"items": trade_records(without_refused(newest))}
