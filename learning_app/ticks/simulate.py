"""Candles through a strategy, a broker on paper and the ledger in memory. No query. Source: S4; shapes: the contract."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from pydantic import ValidationError

from learning_app.ledger.core import EngineKind
from learning_app.ledger.core.reconcile import op_record
from learning_app.ledger.selectors import AMOUNTS, PLAIN, REASONS
from learning_app.ticks.core.paper import Execution, PaperBroker, plain
from learning_app.ticks.core.simulate import MemoryLedger
from learning_app.ticks.schemas import ProposedActionIn, TickIn
from minara_site.kernel.errors import Invalid
from minara_site.kernel.market.adapters.files import open_lines
from minara_site.kernel.market.core import Bar
from minara_site.kernel.market.core.candle_rows import parse_rows
from minara_site.kernel.market.importing import Report as FileReport, check_step, usable_bars

WINDOW = 100
"""How many candles a strategy sees."""
Strategy = Callable[[Sequence["Candle"], dict[str, Any], dict[str, Any]], dict[str, Any] | None]


class Candle(NamedTuple):
    """A candle as a tick tells it; `ts` is when it opens, in Unix ms."""

    ts: int
    open: float
    high: float
    low: float
    close: float
    volume: float | None


class Step(NamedTuple):
    """A candle's tick as HTTP takes it, and what HTTP answers."""

    tick: dict[str, Any]
    ops: list[dict[str, Any]]
    context: dict[str, Any]


def load_strategy(name: str) -> Strategy:
    """Return the function of `module:function`; modules of this folder are found. Raises Invalid."""
    module, _colon, function = name.partition(":")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        found = getattr(import_module(module), function, None)
    except Exception as error:  # noqa: BLE001 - whatever a strategy's module does when it begins
        raise Invalid(_("The module %(module)s could not be loaded: %(error)s") % {"module": module, "error": told(error)}) from error
    if not callable(found):
        raise Invalid(_("There is no function %(name)s. Give --strategy MODULE:FUNCTION.") % {"name": name})
    return found


def load_candles(path: Path, *, length: timedelta, now: datetime) -> list[Bar]:
    """Return the candles of a file by time. Raises NotFound, and Invalid where it has none or a row cannot be read."""
    with open_lines(path) as lines:
        rows = list(parse_rows(lines, interval=length, now=now))
