"""Reads of trades."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from learning_app.ledger.core import TRADE_KIND
from learning_app.ledger.models import Trade
from minara_site.kernel.guard.selectors import find_open_holds, find_refused as find_refused_texts, hold_record
from minara_site.kernel.ownership import Owner
from minara_site.web.values import plain_number

AMOUNTS = (
    "entry_price",
    "entry_size_usd",
    "entry_leverage",
    "stop_price",
    "exit_price",
    "holding_minutes",
    "realized_pnl_usd",
    "fees_usd",
    "mfe_usd",
    "mae_usd",
)
PLAIN = (
    "symbol",
    "asset",
    "side",
    "status",
    "entry_tick_at",
    "entry_lessons_hash",
    "entry_regime_tag",
    "exit_tick_at",
)
LINKS = ("skill_id", "skill_version", "entry_snapshot_id", "exit_snapshot_id")
REASONS = ("entry_reason", "exit_reason")


def list_trades(*, owner: Owner) -> "QuerySet[Trade]":
    """Return the trades of an owner, unordered."""
    return Trade.objects.for_owner(owner).select_related("deployment")


def list_newest(*, owner: Owner, asset: str, limit: int) -> list[Trade]:
    """Return the trades of an asset that were opened last; reasons that the guard refuses are empty. Two queries."""
    return without_refused(list_trades(owner=owner).filter(asset=asset).order_by("-entry_tick_at", "-number")[:limit])


def without_refused(rows: "Sequence[Trade] | QuerySet[Trade]") -> list[Trade]:
    """Return trades whose reasons are empty where they are held or today's rules refuse them."""
    found = list(rows)
    refused = find_refused_texts(TRADE_KIND, [row for row in found if not row.held_at])
    for row in found:
        if row.held_at or row.pk in refused:
            row.entry_reason = row.exit_reason = ""
    return found


def trade_record(row: Trade) -> dict[str, Any]:
    """Return a trade as API and tools answer it; reasons that are held are empty, and `held` says why."""
    return trade_records([row])[0]


def trade_records(rows: Sequence[Trade]) -> list[dict[str, Any]]:
    """Return trades as API and tools answer them. One query for what is held."""
    holds = find_open_holds(TRADE_KIND, [row.pk for row in rows if row.held_at])
    return [
        {
            "id": row.uid,
            "deployment_id": row.deployment.uid if row.deployment else None,
            **{name: getattr(row, name) for name in LINKS},
            **columns_of(row, is_held=row.held_at is not None),
            "held": hold_record(holds[row.pk]) if row.pk in holds else None,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
        }
        for row in rows
    ]


def columns_of(row: Any, *, is_held: bool) -> dict[str, Any]:
    """Return what a trade is as it is answered, wherever it is kept."""
    return {
        **{name: getattr(row, name, None) for name in PLAIN},
        **{name: plain_number(getattr(row, name, None)) for name in AMOUNTS},
        **{name: None if is_held else getattr(row, name, None) or None for name in REASONS},
    }
