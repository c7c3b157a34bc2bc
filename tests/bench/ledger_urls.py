"""The project's addresses, and beside them a bare view that writes the rows of a tick and computes nothing."""

import json
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.urls import path
from django.utils import timezone
from ninja import NinjaAPI

from learning_app.ledger.models import DecisionSnapshot, Deployment
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
    """Write the snapshot, the open trades, the state and the use of lessons."""
    body, now = json.loads(request.body), timezone.now()
    deployment = Deployment.objects.get(uid=deployment_id, owner=request.principal.owner)
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
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE trade_history SET position_size = %s, average_price = %s, partial_pnl_usd = %s, mfe_usd = %s,"
            " mae_usd = %s, fees_usd = %s, updated_at = %s WHERE deployment_id = %s AND symbol = %s AND status = 'open'",
            [
                (each["size_base"], each["entry_price"], "0", each["mark_price"], "0", "0", now, deployment.pk, symbol)
                for symbol, each in positions.items()
            ],
        )
    state = AgentState.objects.get(deployment=deployment)
    state.marks = {symbol: each["mark_price"] for symbol, each in positions.items()}
    state.tick_at = body["tick_at"]
    state.save()
    LessonsUse.objects.filter(deployment=deployment).update(ticks=F("ticks") + 1, exposure=F("exposure") + 1)
    return {"ok": True}


urlpatterns = [*project_urls, path("bare/", bare.urls)]
