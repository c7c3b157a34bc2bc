"""What API and tool take and answer of trades. Shapes: the contract; names: S4's columns."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from learning_app.ledger.core import MAX_REASON_CHARS, TradeSide, TradeStatus
from learning_app.ledger.services import TradeDraft, check_symbol
from minara_site.web.schemas import HeldOut, PageQuery, Record, Strict
from minara_site.web.values import Amount, Moment, Price


class NewTrade(Strict):
    """A trade that was opened, or closed: symbol, side and opened_at name it."""

    symbol: Annotated[str, AfterValidator(check_symbol), Field(description="As the venue writes it: BTC, BTC-PERP.")]
    side: TradeSide
    size_usd: Annotated[Price, Field(description="What it was worth when it was opened, in USD.")]
    entry_price: Price
    opened_at: Annotated[Moment, Field(description="ISO 8601 or Unix time; with symbol and side it names the trade.")]
    exit_price: Annotated[Price | None, Field(description="Given, it closes the trade.")] = None
    closed_at: Annotated[Moment | None, Field(description="Leave out for now.")] = None
    realized_pnl_usd: Annotated[Amount | None, Field(description="Before fees; computed where left out.")] = None
    stop_price: Annotated[Price | None, Field(description="Where it was to end at a loss.")] = None
    reason: Annotated[
        str | None, Field(max_length=MAX_REASON_CHARS, description="Why it was opened, or closed. No secrets.")
    ] = None

    def as_draft(self) -> TradeDraft:
        """Return what the service takes."""
        return TradeDraft(**self.dict())


class TradeQuery(PageQuery):
    """Filters of the list."""

    status: TradeStatus | None = None
    asset: Annotated[str | None, Field(max_length=40)] = None


class TradeOut(Record):
    """A trade. Amounts are decimal strings in USD, `realized_pnl_usd` before fees.

    `asset` is what the symbol means, null where that is not known. `held` says why the reasons are left out. Where its
    ticks wrote it, `deployment_id` says of which trading agent; snapshots are those ticks.
    """

    id: str
    deployment_id: str | None
    skill_id: int | None
    skill_version: int | None
    symbol: str
    asset: str | None
    side: TradeSide
    status: TradeStatus
    entry_tick_at: datetime
    entry_price: str
    entry_size_usd: str
    entry_leverage: str | None
    entry_reason: str | None
    entry_snapshot_id: int | None
    entry_lessons_hash: str | None
    entry_regime_tag: str | None
    stop_price: str | None
    exit_tick_at: datetime | None
    exit_price: str | None
    exit_reason: str | None
    exit_snapshot_id: int | None
    holding_minutes: str | None
    realized_pnl_usd: str | None
    fees_usd: str | None
    mfe_usd: str | None
    mae_usd: str | None
    held: HeldOut | None
    created_at: datetime
    updated_at: datetime
