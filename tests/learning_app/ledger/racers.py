"""What the processes of the race do, on one shared database."""

import json
from datetime import timedelta
from decimal import Decimal

from learning_app.ledger.core import TradeSide
from learning_app.ledger.models import Trade
from learning_app.ledger.services import TradeDraft, record_trade
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from tests.kit.clock import NOON
from tests.kit.racers import in_processes

HOUR = timedelta(hours=1)


def open_and_close(processes: int) -> str:
    """Open and close one trade from so many processes at once; return what is stored and was told."""
    in_processes(*[(record,) for _process in range(processes)])
    acts = list(AuditEntry.objects.order_by("pk").values_list("tool_call", flat=True))
    rows = list(Trade.objects.values_list("status", "realized_pnl_usd"))
    return json.dumps([acts, [(status, float(pnl)) for status, pnl in rows]])


def record() -> None:
    """Open the trade and close it."""
    owner_id = User.objects.get(is_default=True).pk
    opened = {"symbol": "BTC", "side": TradeSide.LONG, "size_usd": Decimal(1000), "entry_price": Decimal(50)}
    for exit_price, closed_at in ((None, None), (Decimal(55), NOON)):
        draft = TradeDraft(**opened, opened_at=NOON - HOUR, exit_price=exit_price, closed_at=closed_at)
        record_trade(draft=draft, owner_id=owner_id, actor="key:abcd1234", now=NOON)
