"""`/v1/trades`: record what was traded in a session, and read it. Shapes: the contract."""

from typing import Any

from ninja import Query, Status

from learning_app.ledger.schemas import NewTrade, TradeOut, TradeQuery
from learning_app.ledger.selectors import list_trades, trade_record, trade_records, without_refused
from learning_app.ledger.services import record_trade
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.core.symbols import normalise_asset
from minara_site.shell.answers import answer_list
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.keyset import Order
from minara_site.web.schemas import Data, Items

router = ApiRouter(tags=["trades"])


@router.post("/trades", "Record a trade", Act.TRADE_WRITE, {200: Data[TradeOut], 201: Data[TradeOut]})
def create(request: PageRequest, payload: NewTrade) -> Status[dict[str, Any]]:
    """Record a trade that was opened, or close one: `symbol`, `side` and `opened_at` name it.

    200 says that an open one was closed, or that an equal one is stored; other values are 409. Reasons that the guard
    refuses are held, the trade counts all the same.
    """
    principal = request.principal
    row, is_new = record_trade(draft=payload.as_draft(), owner_id=principal.owner.pk, **done_by(request))
    return Status(201 if is_new else 200, {"data": trade_record(row)})


@router.get("/trades", "List trades", Act.TRADES_READ, Data[Items[TradeOut]])
def list_(request: PageRequest, query: Query[TradeQuery]) -> dict[str, Any]:
    """List trades, the one that was opened last first."""
    rows = list_trades(owner=request.principal.reads(Act.TRADES_READ, query.owner))
    if query.status:
        rows = rows.filter(status=query.status)
    if query.asset:
        rows = rows.filter(asset=normalise_asset(query.asset) or query.asset)
    return answer_list(
        request,
        rows,
        Order("entry_tick_at"),
        query,
        scope="v1/trades",
        kind="trades",
        records=lambda found: trade_records(without_refused(found)),
    )
