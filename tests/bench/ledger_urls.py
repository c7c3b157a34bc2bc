"""The project's addresses, and beside them a bare view that writes the rows of a tick and computes nothing."""

import json
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F
from django.urls import path
from django.utils import timezone
from ninja import NinjaAPI

from learning_app.ledger.core import TradeStatus
from learning_app.ledger.models import DecisionSnapshot, Deployment, Trade
from learning_app.lessons.models import LessonsUse
from learning_app.ticks.models import AgentState
from minara_site.access.api_auth import allow
from minara_site.access.policy import Act
from minara_site.urls import handler400, handler403, handler404, handler500, urlpatterns as project_urls

__all__ = ["handler400", "handler403", "handler404", "handler500"]
bare = NinjaAPI(urls_namespace="bare", docs_url=None, openapi_url=None)


@bare.post("/ticks/{deployment_id}", auth=allow(Act.TRADE_WRITE))
@transaction.atomic
def tick(request: Any, deployment_id: str) -> dict[str, Any]:
    """Write the snapshot, the state, the open trades and the use of lessons."""
    body, now = json.loads(request.body), timezone.now()
    deployment = Deployment.objects.get(uid=deployment_id, owner=request.principal.owner)
    rows = {row.symbol: row for row in Trade.objects.filter(deployment=deployment, status=TradeStatus.OPEN)}
    positions = {each["symbol"]: each for each in body["portfolio"]["positions"]}
    DecisionSnapshot.objects.create(
        owner=deployment.owner,
        deployment=deployment,
        version=deployment.version,
        tick_at=body["tick_at"],
        equity_usd=body["portfolio"]["equity_usd"],
        positions=positions,
        engine_kind=body["engine"]["kind"],
        context_hash="0" * 64,
        context_tokens=1,
        memory=positions,
        actor="bench",
        created_at=now,
    )
    for symbol, row in rows.items():
        row.mfe_usd, row.updated_at = Decimal(positions[symbol]["mark_price"]), now
    Trade.objects.bulk_update(
        rows.values(),
        ("position_size", "average_price", "partial_pnl_usd", "mfe_usd", "mae_usd", "fees_usd", "updated_at"),
    )
    state = AgentState.objects.get(deployment=deployment)
    state.marks = {symbol: each["mark_price"] for symbol, each in positions.items()}
    state.tick_at = body["tick_at"]
    state.save()
    LessonsUse.objects.filter(deployment=deployment).update(ticks=F("ticks") + 1, exposure=F("exposure") + 1)
    return {"ok": True}


urlpatterns = [*project_urls, path("bare/", bare.urls)]
