"""The demo's trades: those of which its memories speak, and what is open now."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy as _

from learning_app.ledger.core import TRADE_KIND, TradeSide
from learning_app.ledger.models import Trade
from learning_app.ledger.services import TradeDraft, open_trade
from minara_site.kernel.demo import AGENT_KEY, DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows
from minara_site.kernel.events import send_after_commit, trade_recorded
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.guard.services import delete_holds


class DemoTrade(DemoRow):
    """One trade, opened `hours_ago`; closed after `held_hours` where it has an `exit_price`."""

    symbol: str
    side: TradeSide
    size_usd: Decimal
    entry_price: Decimal
    stop_price: Decimal | None = None
    reason: str
    held_hours: float = 0
    exit_price: Decimal | None = None
    exit_reason: str = ""


class TradesPart(DemoPart[DemoTrade]):
    """Trades of the demo's agent."""

    name, rows = "trades", read_rows(DemoTrade, __package__)

    def store(self, load: DemoLoad, owner: Any, row: DemoTrade) -> None:
        at = load.ago(row.hours_ago)
        closed_at = at + timedelta(hours=row.held_hours) if row.exit_price else None
        said = row.model_dump(exclude={"hours_ago", "held_hours", "exit_reason"})
        draft = TradeDraft(**said, opened_at=at, closed_at=closed_at)
        trade = open_trade(draft, reason=row.reason, owner_id=owner.pk, actor=AGENT_KEY, now=at)
        trade.exit_reason, trade.updated_at, trade.is_demo = row.exit_reason, closed_at or at, True
        store_judged(TRADE_KIND, trade, now=at)
        send_after_commit(trade_recorded, owner_id=owner.pk, trade_ids=(trade.pk,))

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        """Delete the trades; one that an agent closed since stays and is the demo's no longer."""
        trades = Trade.objects.filter(is_demo=True)
        kept = trades.filter(updated_at__gt=load.loaded_at).update(is_demo=False)
        ids = list(trades.values_list("pk", flat=True))
        delete_holds(kind=TRADE_KIND, object_ids=ids)
        trades.delete()
        return [RemovedRows(_("Trades"), len(ids), kept)]
