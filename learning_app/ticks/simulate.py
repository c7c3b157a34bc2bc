"""Candles through a strategy, a broker on paper and the ledger in memory. No query. Source: S4; shapes: contract."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

import structlog
from django.utils.translation import gettext as _
from pydantic import BaseModel, ValidationError

from learning_app.ledger.core import EngineKind
from learning_app.ledger.core.reconcile import op_record
from learning_app.ledger.selectors import REASONS
from learning_app.lessons.core.reflection import MAX_TRADES, find_problem, render_lessons, trim_lessons
from learning_app.lessons.services.reflect import question_of
from learning_app.ticks.core.paper import Execution, PaperBroker
from learning_app.ticks.core.simulate import MemoryLedger, is_refused
from learning_app.ticks.schemas import ProposedActionIn, TickIn
from minara_site.kernel.core.hidden import visible
from minara_site.kernel.errors import SAID_BEFORE, Invalid, MinaraError
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.gateway import ask
from minara_site.kernel.market.adapters.files import open_lines
from minara_site.kernel.market.core import Bar
from minara_site.kernel.market.core.candle_rows import Row, parse_rows
from minara_site.kernel.market.importing import Report, check_step, usable_bars
from minara_site.kernel.market.labels import fault_sentence
from minara_site.web.values import plain_number

WINDOW = 100
"""How many candles a strategy sees."""
Model = TypeVar("Model", bound=BaseModel)

log = structlog.get_logger(__name__)


class Candle(NamedTuple):
    """A candle as a tick tells it; `ts` is when it opens, in Unix ms."""

    ts: int
    open: float
    high: float
    low: float
    close: float
    volume: float | None


Strategy = Callable[[list[Candle], dict[str, Any], dict[str, Any]], Any]


def load_strategy(name: str) -> Strategy:
    """Return the function of `module:function`; modules of this folder are found. Raises Invalid."""
    module, _colon, function = name.partition(":")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        found: Strategy = getattr(import_module(module), function)
    except Exception as error:  # noqa: BLE001 - whatever a module of the user's does when it begins
        raise failed(_("The strategy could not be loaded."), error) from None
    return found


def load_bars(path: Path, *, length: timedelta, now: datetime) -> list[Bar]:
    """Return the candles of a file by time. Raises NotFound, and Invalid without any or where a row cannot be used."""
    with open_lines(path) as lines:
        rows = usable_bars(parse_rows(lines, interval=length, now=now), Report(), refuse_row)
        bars = sorted(rows, key=attrgetter("opens_at"))
    if not bars:
        raise Invalid(_("There are no candles in the file."))
    check_step(bars, length, may_have_gaps=True)
    return bars


def refuse_row(row: Row) -> None:
    """Raise Invalid: where a candle is missing, nothing that follows is what it would have been."""
    assert row.problem is not None
    said = {"line": row.line, "problem": fault_sentence(row.problem)}
    raise Invalid(_("Line %(line)d of the file cannot be used. %(problem)s") % said)


def simulate(
    bars: Sequence[Bar],
    strategy: Strategy,
    broker: PaperBroker,
    ledger: MemoryLedger,
    *,
    length: timedelta,
    is_reflecting: bool = False,
) -> Iterator[dict[str, Any]]:
    """Yield each candle's tick as HTTP takes it, with the ops and the context that HTTP answers. Raises Invalid.

    A strategy is asked at each close, and sees no later one. `is_reflecting` asks a model for lessons where the
    configuration says when.
    """
    candles = list(map(candle_of, bars))
    context = asdict(ledger.first_context())
    for end, bar in enumerate(bars, start=1):
        at, mark, window = bar.opens_at + length, bar.close, candles[max(0, end - WINDOW) : end]
        said, done = None, Execution(EngineKind.NOOP)
        if not broker.liquidate(mark):
            try:
                answer = strategy(list(window), broker.portfolio(mark), context)
                said = json.loads(json.dumps(answer, default=str))
            except Exception as error:  # noqa: BLE001 - whatever a strategy does
                raise failed(_("The strategy failed at %(at)s.") % {"at": at.isoformat()}, error) from None
            if said is not None:
                done = broker.execute(checked(ProposedActionIn, said, "strategy").as_proposal(), mark)
        tick = {
            "tick_at": at.isoformat(),
            "portfolio": broker.portfolio(mark),
            "proposed_action": said,
            "engine": {"kind": done.engine, "rule": done.rule or None},
            "bars": {broker.symbol: window},
            "marks": {broker.symbol: plain_number(mark)},
            "fees": {broker.symbol: plain_number(done.fee_usd)},
        }
        ops, answered = ledger.record(checked(TickIn, tick, "tick").as_report())
        context = asdict(answered)
        if is_reflecting and ledger.is_time_to_reflect:
            reflect(ledger)
        yield {"tick": tick, "ops": list(map(op_record, ops)), "context": context}


def reflect(ledger: MemoryLedger) -> None:
    """Ask a model for lessons; a failure, or what is no lesson, changes nothing."""
    config = ledger.config.model_dump()
    rows = sorted(ledger.closed, key=attrgetter("exit_tick_at", "number"), reverse=True)[:MAX_TRADES]
    trades = [SimpleNamespace(**vars(row) | dict.fromkeys(REASONS, "")) if row.is_held else row for row in rows]
    if ledger.are_rules_held:
        config |= {"strategy": "", "avoid": ()}
    lessons = ledger.notes[0].lessons_text if ledger.notes else ""
    try:
        answer = ask(question_of(config, trades, lessons, category=Category.EXPERIMENT, subject="simulation"))
    except MinaraError as failure:
        log.warning("reflection_failed", reason=failure.problem_code)
        return
    text = render_lessons(answer.value)
    if find_problem(text, ledger.config.avoid) or is_refused(text):
        log.warning("reflection_dropped")
    else:
        ledger.learn(trim_lessons(text))


def candle_of(bar: Bar) -> Candle:
    """Return a candle as a tick tells it; a number of JSON holds its 15 digits."""
    opens_at = int(bar.opens_at.timestamp() * 1000)
    volume = None if bar.volume is None else float(bar.volume)
    return Candle(opens_at, float(bar.open), float(bar.high), float(bar.low), float(bar.close), volume)


def checked(model: type[Model], values: Any, name: str) -> Model:
    """Return values as a model. Raises Invalid with the first that cannot be used."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, (name, *first["loc"])))
        raise Invalid(visible(f"{place}: {first['msg'].removeprefix(SAID_BEFORE)}")) from None


def failed(sentence: str, error: Exception) -> Invalid:
    """Return the refusal of a user's code: what failed, and the first line of its error."""
    return Invalid(visible(f"{sentence} {type(error).__name__}: {error}".partition("\n")[0]))
