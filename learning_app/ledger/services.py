"""Recording what an agent traded in a session: opened once, closed once. Sources: S1, S3 (in-session trades), S4."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from learning_app.ledger.core import (
    MAX_REASON_CHARS,
    SYMBOL,
    TRADE_KIND,
    WITHOUT_WORDS,
    TradeSide,
    TradeStatus,
    held_minutes,
    realized_pnl,
)
from learning_app.ledger.models import Trade
from learning_app.ledger.selectors import trade_record
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.core.symbols import asset_of_market
from minara_site.kernel.errors import Conflict, invalid_field
from minara_site.kernel.events import send_after_commit, trade_outcome_updated, trade_recorded
from minara_site.kernel.guard.held_at import hold_row, store_judged
from minara_site.kernel.guard.selectors import judge_stored
from minara_site.kernel.guard.services import lift_holds
from minara_site.kernel.market.core.values import LARGEST, Fault, UnusableError
from minara_site.kernel.market.labels import fault_sentence
from minara_site.kernel.ownership import owner_locked
from minara_site.kernel.plain_text import clean_text

CLOCKS_DIFFER = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class TradeDraft:
    """What is said of a trade. With `exit_price` it is closed, at `closed_at` or now; `reason` is of what is new."""

    symbol: str
    side: TradeSide
    size_usd: Decimal
    entry_price: Decimal
    opened_at: datetime
    exit_price: Decimal | None = None
    closed_at: datetime | None = None
    realized_pnl_usd: Decimal | None = None
    stop_price: Decimal | None = None
    reason: str | None = None


def check_symbol(text: str) -> str:
    """Return a venue's symbol. Raises ValueError, which says what one looks like."""
    symbol = text.strip()
    if SYMBOL.fullmatch(symbol) is None:
        raise ValueError(_("Give the venue's symbol, such as BTC, BTC/USDT:USDT or xyz:TSLA."))
    return symbol


def record_trade(
    *,
    draft: TradeDraft,
    owner_id: int,
    actor: str,
    now: datetime,
    reasoning: str = "",
) -> tuple[Trade, bool]:
    """Return the trade that a draft names and whether it is new; an open one is closed where the draft has an exit.

    What is said again changes nothing. Raises Invalid, and Conflict where the stored trade says otherwise.
    """
    reason = clean_text(draft.reason or "", field="reason", max_chars=MAX_REASON_CHARS, min_chars=0)
    check_moments(draft, now=now)
    with owner_locked(owner_id):
        row: Trade | None = Trade.objects.filter(
            owner_id=owner_id,
            deployment=None,
            symbol=draft.symbol,
            side=draft.side,
            entry_tick_at=draft.opened_at,
        ).first()
        is_new = row is None
        if row is None:
            row = open_trade(draft, reason=reason, owner_id=owner_id, actor=actor, now=now)
            store_judged(TRADE_KIND, row, now=now)
            send_after_commit(trade_recorded, owner_id=owner_id, trade_ids=(row.pk,))
        elif problem := find_difference(row, draft, reason):
            raise Conflict(problem, code="changed", current=trade_record(row))
        elif row.status == TradeStatus.CLOSED or draft.exit_price is None:
            return row, False
        else:
            close_trade(row, draft, reason=reason, now=now)
        if row.status == TradeStatus.CLOSED:
            send_after_commit(trade_outcome_updated, owner_id=owner_id, trade_ids=(row.pk,))
        record_audit(
            now=now,
            actor=actor,
            tool_call="trade_recorded" if is_new else "trade_closed",
            owner_id=owner_id,
            reasoning=reasoning,
            details={"id": row.uid, "sha256": content_digest(row.guarded_text)} | ({"held": 1} if row.held_at else {}),
        )
    return row, is_new


def check_moments(draft: TradeDraft, *, now: datetime) -> None:
    """Refuse an exit without a price, a close before the opening, and what lies ahead. Raises Invalid."""
    if draft.exit_price is None and (draft.closed_at is not None or draft.realized_pnl_usd is not None):
        raise invalid_field("exit_price", _("Give exit_price to close the trade."))
    latest = now + CLOCKS_DIFFER
    if draft.opened_at > latest:
        raise invalid_field("opened_at", _("opened_at is in the future. Record a trade once it is open."))
    if draft.closed_at is not None and not draft.opened_at <= draft.closed_at <= latest:
        raise invalid_field("closed_at", _("Give closed_at as a moment after opened_at, not in the future."))


def open_trade(draft: TradeDraft, *, reason: str, owner_id: int, actor: str, now: datetime) -> Trade:
    """Return the unsaved row of a trade, closed where the draft has an exit."""
    row = Trade(
        owner_id=owner_id,
        symbol=draft.symbol,
        asset=asset_of_market(draft.symbol),
        side=draft.side,
        status=TradeStatus.OPEN,
        entry_tick_at=draft.opened_at.astimezone(UTC),
        entry_price=draft.entry_price,
        entry_size_usd=draft.size_usd,
        entry_reason=reason,
        stop_price=draft.stop_price,
        actor=actor,
        created_at=now,
        updated_at=now,
    )
    if draft.exit_price is not None:
        set_exit(row, draft, now=now)
    return row


def close_trade(row: Trade, draft: TradeDraft, *, reason: str, now: datetime) -> None:
    """Close a stored trade; a new reason is judged with the one before. Needs a transaction."""
    set_exit(row, draft, now=now)
    row.stop_price = row.stop_price or draft.stop_price
    row.updated_at = now
    if reason and reason != row.entry_reason:
        set_exit_reason(row, reason, now=now)
    row.save()


def set_exit_reason(row: Trade, reason: str, *, now: datetime) -> None:
    """Give a stored trade the reason of its exit; a new one is judged with that of its entry. Needs a transaction."""
    row.exit_reason = reason
    if reason in WITHOUT_WORDS | {row.entry_reason}:
        return
    lift_holds(kind=TRADE_KIND, object_ids=[row.pk], actor=row.actor, now=now)
    verdict = judge_stored(TRADE_KIND, {row.pk: row.guarded_text})[row.pk]
    row.rules_version, row.held_at = verdict.rules_version, now if verdict.is_held else None
    if verdict.is_held:
        hold_row(TRADE_KIND, row, verdict, now=now)


def set_exit(row: Trade, draft: TradeDraft, *, now: datetime) -> None:
    """Give a row the exit of a draft, with the P&L that it says, or else that of its prices. Raises Invalid."""
    assert draft.exit_price is not None
    row.status, row.exit_price = TradeStatus.CLOSED, draft.exit_price
    row.exit_tick_at = max(draft.closed_at or now, row.entry_tick_at)
    row.holding_minutes = held_minutes(row.entry_tick_at, row.exit_tick_at)
    pnl = draft.realized_pnl_usd
    if pnl is None:
        pnl = realized_pnl(
            TradeSide(row.side), size_usd=row.entry_size_usd, entry=row.entry_price, exit_price=draft.exit_price
        )
    if abs(pnl) >= LARGEST:
        raise invalid_field("exit_price", fault_sentence(UnusableError(Fault.TOO_LARGE)))
    row.realized_pnl_usd = pnl


def find_difference(row: Trade, draft: TradeDraft, reason: str) -> str:
    """Return what a stored trade says otherwise than a draft that names it, empty for nothing."""
    said: dict[str, tuple[Any, Any]] = {
        "size_usd": (row.entry_size_usd, draft.size_usd),
        "entry_price": (row.entry_price, draft.entry_price),
        "stop_price": (row.stop_price, draft.stop_price),
    }
    is_closed = row.status == TradeStatus.CLOSED
    if is_closed:
        said |= {
            "exit_price": (row.exit_price, draft.exit_price),
            "closed_at": (row.exit_tick_at, draft.closed_at),
            "realized_pnl_usd": (row.realized_pnl_usd, draft.realized_pnl_usd),
        }
    if is_closed or draft.exit_price is None:
        said["reason"] = (reason if reason in {row.entry_reason, row.exit_reason} else "", reason or None)
    elif row.stop_price is None:
        del said["stop_price"]  # what closes a trade may say where it was to end
    different = [name for name, (stored, sent) in said.items() if sent is not None and stored != sent]
    if not different:
        return ""
    if is_closed and "exit_price" in different:
        return _("This trade is closed already, with another exit. Nothing was changed.")
    return _("This trade is stored with another %(fields)s. Nothing was changed.") % {"fields": ", ".join(different)}
