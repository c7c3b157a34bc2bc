"""A broker on paper: one symbol, filled at a candle's close, with the whole account as its margin. Pure."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from learning_app.ledger.core import EngineKind, TradeAction, TradeSide
from learning_app.ledger.core.reconcile import ZERO
from learning_app.ticks.core import Proposal
from minara_site.kernel.market.core.values import rounded
from minara_site.web.values import plain_number

BPS = 10_000


class Execution(NamedTuple):
    """What the broker made of a proposal; `fee_usd` is below 0 where it pays for orders."""

    engine: EngineKind
    rule: str = ""
    fee_usd: Decimal = ZERO


@dataclass(slots=True)
class PaperBroker:
    """An account that trades one symbol; `size` is in units, below 0 when short, `average` what a unit cost.

    `leverage` bounds what a position may be worth, in multiples of the equity; costs are in basis points.
    """

    symbol: str
    cash: Decimal
    leverage: Decimal
    fee_bps: Decimal
    slippage_bps: Decimal
    size: Decimal = ZERO
    average: Decimal = ZERO

    def equity(self, mark: Decimal) -> Decimal:
        """Return what the account is worth."""
        return rounded(self.cash + self.size * mark)

    def portfolio(self, mark: Decimal) -> dict[str, Any]:
        """Return the account as a tick tells it."""
        position = {
            "symbol": self.symbol,
            "side": str(TradeSide.LONG if self.size > 0 else TradeSide.SHORT),
            "size_base": plain_number(abs(self.size)),
            "size_usd": plain_number(rounded(abs(self.size) * mark)),
            "entry_price": plain_number(self.average),
            "mark_price": plain_number(mark),
            "leverage": plain_number(self.leverage),
        }
        return {"equity_usd": plain_number(self.equity(mark)), "positions": [position] if self.size else []}

    def liquidate(self, mark: Decimal) -> bool:
        """Close what is held where nothing is left of the account at this mark; say whether that was so."""
        is_gone = bool(self.size) and self.equity(mark) <= 0
        if is_gone:
            self.cash = self.size = self.average = ZERO
        return is_gone

    def execute(self, said: Proposal, mark: Decimal) -> Execution:
        """Fill a proposal, or reject it with a rule."""
        if said.action is TradeAction.NONE:
            return Execution(EngineKind.NOOP)
        wanted = self.target_size(said, mark)
        if isinstance(wanted, str):
            return Execution(EngineKind.REJECTED, wanted)
        grows = abs(wanted) > abs(self.size)
        if grows and rounded(abs(wanted) * mark) > self.leverage * self.equity(mark):
            return Execution(EngineKind.REJECTED, "R_MARGIN")
        return self.fill(wanted, mark)

    def target_size(self, said: Proposal, mark: Decimal) -> Decimal | str:
        """Return the size after a proposal, or the rule that rejects it.

        `open` adds to a position of its side and replaces one of the other; `adjust_position` sets its size.
        """
        if said.symbol not in (None, self.symbol):
            return "R_SYMBOL"
        if said.action is not TradeAction.OPEN and not self.size:
            return "R_NO_POSITION"
        if said.action is TradeAction.CLOSE_POSITION:
            return ZERO
        held = TradeSide.LONG if self.size > 0 else TradeSide.SHORT
        side = said.side or (held if self.size else None)
        if said.action is None or side is None or said.size_usd is None or said.size_usd < 0:
            return "R_ORDER"
        size = rounded(side.sign * said.size_usd / mark)
        return rounded(self.size + size) if said.action is TradeAction.OPEN and size * self.size >= 0 else size

    def fill(self, wanted: Decimal, mark: Decimal) -> Execution:
        """Trade to a size at the mark, less the slippage."""
        change = wanted - self.size
        if not change:
            return Execution(EngineKind.NOOP)
        price = mark * (1 + (1 if change > 0 else -1) * self.slippage_bps / BPS)
        fee = rounded(abs(change) * price * self.fee_bps / BPS)
        if wanted * self.size <= 0:
            self.average = rounded(price) if wanted else ZERO
        elif abs(wanted) > abs(self.size):
            self.average = rounded((self.size * self.average + change * price) / wanted)
        self.cash, self.size = rounded(self.cash - change * price - fee), wanted
        return Execution(EngineKind.EXECUTED, fee_usd=fee)
