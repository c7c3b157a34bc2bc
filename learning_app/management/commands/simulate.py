"""`minara simulate`: a strategy over a file of candles, on paper. Source: S4; shapes: the contract."""

import json
from argparse import ArgumentParser
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import Field

from learning_app.ledger.selectors import columns_of
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.core.paper import BPS, PaperBroker
from learning_app.ticks.core.simulate import MemoryLedger
from learning_app.ticks.schemas import Symbol
from learning_app.ticks.simulate import checked, load_bars, load_strategy, simulate
from minara_site.kernel.command import MinaraCommand
from minara_site.kernel.errors import Invalid
from minara_site.kernel.market.core import parse_interval
from minara_site.web.schemas import Strict
from minara_site.web.values import Amount, Price


class Account(Strict):
    """What is traded, with how much, and what it costs."""

    symbol: Symbol
    cash: Price
    leverage: Price
    fee_bps: Amount
    slippage_bps: Annotated[Amount, Field(ge=0, lt=BPS)]


class Command(MinaraCommand):
    """Simulate a strategy."""

    help = "Simulate a strategy over candles with a broker on paper. Nothing is stored, and no real order is made."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the candles, the strategy, and what trading costs."""
        parser.add_argument("--prices", type=Path, required=True, help="CSV file: ts, open, high, low, close, volume")
        parser.add_argument("--symbol", required=True, help="what they are prices of: BTC")
        parser.add_argument("--interval", required=True, help="length of a candle: 5m, 1h, 1d")
        parser.add_argument("--strategy", required=True, metavar="MODULE:FUNCTION", help="what decides at each close")
        parser.add_argument("--config", type=Path, help="JSON file: strategy, avoid, memory")
        parser.add_argument("--equity", dest="cash", default="10000", help="what the account begins with, in USD")
        parser.add_argument("--leverage", default="1", help="what a position may be worth, in multiples of the equity")
        parser.add_argument("--fee-bps", default="0", help="of what is traded, in basis points; negative is a rebate")
        parser.add_argument("--slippage-bps", default="0", help="of the price, in basis points against the trader")
        parser.add_argument("--deployment", default="", help="name that draws which of two revisions comes first")
        parser.add_argument("--reflect", action="store_true", help="ask a model for lessons, as the config says when")
        parser.add_argument("--json", action="store_true", help="a line a candle, and the trades last")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print each candle, or how it ended."""
        seconds = parse_interval(options["interval"])
        if seconds is None:
            raise Invalid(_("Write --interval as a length like 5m, 1h, 1d or 1w."))
        account = checked(Account, {name: options[name] for name in Account.model_fields}, "account")
        broker = PaperBroker(**account.dict())
        ledger = MemoryLedger(load_config(options["config"]), options["deployment"])
        strategy, length = load_strategy(options["strategy"]), timedelta(seconds=seconds)
        bars = load_bars(options["prices"], length=length, now=timezone.now())
        for step in simulate(bars, strategy, broker, ledger, length=length, is_reflecting=options["reflect"]):
            if options["json"]:
                self.say_json(step)
        if options["json"]:
            self.say_json({"trades": [columns_of(row, is_held=row.is_held) for row in ledger.trades]})
            return
        said = _(
            "Simulated, no real money. Trades closed: %(closed)d. P&L net of fees: %(net)s USD. Equity: %(equity)s USD."
        )
        net = sum((row.realized_pnl_usd - row.fees_usd for row in ledger.closed), Decimal(0))
        ended = {"closed": len(ledger.closed), "net": f"{net:+,.2f}", "equity": f"{broker.equity(bars[-1].close):,.2f}"}
        self.stdout.write(said % ended)


def load_config(path: Path | None) -> SkillConfig:
    """Return the configuration of a file; without one, the default. Raises Invalid."""
    try:
        values = json.loads(path.read_bytes()) if path else {}
    except (OSError, ValueError):
        raise Invalid(_("The configuration %(path)s is no file of JSON that can be read.") % {"path": path}) from None
    return checked(SkillConfig, values, "config")
