"""Methodologies, cases and preferences in any state, as rows: for pages and lists, which read them however they came about."""

from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from django.db import transaction

from learning_app.cases.models import TradingCase
from learning_app.cases.services.places import store_hints
from learning_app.institution.core.ladder import DAYS, due_at
from learning_app.institution.models import InstitutionReflection, InstitutionRoleOutput, InstitutionRun
from learning_app.ledger.models import Trade
from learning_app.methodologies.core.structure import StructuredMethodology
from learning_app.methodologies.core.wilson import wilson_lower_bound
from learning_app.methodologies.models import Methodology
from learning_app.preferences.models import Preference
from learning_app.vocabulary import Indicator, InstitutionPhase, PrimarySignal, Timeframe
from minara_site.kernel.core.assets import AssetClass
from minara_site.kernel.guard.core import RULES
from minara_site.kernel.market.core import Point
from minara_site.kernel.market.outcome import Direction
from minara_site.kernel.market.services import record_points
from tests.kit.clock import NOON

_NUMBERS = count(1)
INDICATORS = tuple(Indicator)


def structure(number: int, **fields: Any) -> StructuredMethodology:
    """Return structured fields that no other number has."""
    picked = tuple(INDICATORS[bit] for bit in range(20) if number >> bit & 1)
    defaults = {
        "direction": Direction.BULLISH,
        "primary_signal": PrimarySignal.MEAN_REVERSION,
        "timeframe": Timeframe.INTRADAY,
        "indicators": picked,
        "asset_class": AssetClass.MAJOR_CRYPTO,
    }
    kinds = {"direction": Direction, "primary_signal": PrimarySignal, "timeframe": Timeframe, "asset_class": AssetClass}
    return StructuredMethodology(**(defaults | {name: kinds[name](value) for name, value in fields.items()}))


def make_trade(owner: Any, *, hours: float = 30, **fields: Any) -> Trade:
    """Make a trade that was opened that many hours before noon."""
    at = NOON - timedelta(hours=hours)
    defaults: dict[str, Any] = {
        "symbol": "BTC-PERP",
        "asset": "BTC",
        "side": "long",
        "status": "closed" if "exit_price" in fields else "open",
        "entry_tick_at": at,
        "entry_price": 65_000 + next(_NUMBERS),
        "entry_size_usd": 1_000,
        "exit_tick_at": NOON if "exit_price" in fields else None,
        "actor": "key:abcd1234",
        "created_at": at,
        "updated_at": at,
        "rules_version": RULES.version,
    }
    row: Trade = Trade.objects.create(owner=owner, **(defaults | fields))
    return row


def make_methodology(**fields: Any) -> Methodology:
    """Make a methodology; quarantined unless `fields` say otherwise."""
    row = build_methodology(next(_NUMBERS), **fields)
    row.save(force_insert=True)
    return row


def build_methodology(
    number: int,
    *,
    correct: int = 0,
    used: int = 0,
    hours: float = 30,
    **fields: Any,
) -> Methodology:
    """Return the unsaved methodology of this number with these counts."""
    named = {
        name: fields.pop(name) for name in ("direction", "primary_signal", "timeframe", "asset_class") if name in fields
    }
    structured = structure(number, **named)
    at = NOON - timedelta(hours=hours)
    defaults = {
        "name": f"Method {number}",
        "methodology": f"Enter when signal {number} turns, leave after a day.",
        "structured_json": structured.as_json(),
        "dedup_key": structured.dedup_key,
        "confidence": wilson_lower_bound(correct, used) if used else 0.1,
        "times_used": used,
        "times_correct": correct,
        "actor": "key:abcd1234",
        "created_at": at,
        "updated_at": at,
        "rules_version": RULES.version,
        **structured.as_json(),
    }
    return Methodology(**(defaults | fields))


def make_case(owner: Any, *, hints: Any = (), **fields: Any) -> TradingCase:
    """Make a case decided so many hours before noon, with hints at these methodologies, of which it may count once."""
    case = build_case(owner, **fields)
    with transaction.atomic():
        case.save(force_insert=True)
        store_hints([(case, hints)])
    return case


def build_case(owner: Any, *, hours: float = 30, horizon: int = 24, **fields: Any) -> TradingCase:
    """Return an unsaved case decided so many hours before noon."""
    decided_at = fields.pop("decided_at", NOON - timedelta(hours=hours))
    defaults = {
        "asset": "BTC",
        "decision": "BTC goes on rising within a day.",
        "direction": Direction.BULLISH,
        "horizon_hours": horizon,
        "decided_at": decided_at,
        "window_ends_at": decided_at + timedelta(hours=horizon),
        "hint_hash": "0" * 64,
        "had_price": True,
        "actor": "key:abcd1234",
        "created_at": decided_at,
        "rules_version": RULES.version,
    }
    return TradingCase(owner=owner, **(defaults | fields))


def make_preference(owner: Any, statement: str = "Prefers limit orders.", **fields: Any) -> Preference:
    """Make a soft preference about venues that waits for its owner, unless `fields` say otherwise."""
    is_decided = fields.get("state", "proposed") != "proposed"
    decided = {"decided_by": f"user:{owner.pk}", "decided_at": NOON} if is_decided else {}
    defaults = {
        "dimension": "venue",
        "kind": "soft_preference",
        "source": "agent",
        "actor": "key:abcd1234",
        "created_at": NOON,
        "updated_at": NOON,
        "rules_version": RULES.version,
    }
    row = Preference(owner=owner, statement=statement, **(defaults | decided | fields))
    row.save(force_insert=True)
    return row


def post_prices(symbol: str, *prices: tuple[datetime, str], owner: Any = None, now: datetime = NOON) -> None:
    """Store points of the instance, or of an owner."""
    points = [Point(symbol, at, Decimal(price)) for at, price in prices]
    record_points(points=points, owner_id=owner.pk if owner else None, source="test", actor="test", now=now)


def make_run(
    owner: Any,
    *,
    said: str = "The trend is up.",
    is_open: bool = False,
    **fields: Any,
) -> InstitutionRun:
    """Make an institution run with an answer in each phase: open, or with a decision and a ladder."""
    at = fields.pop("at", NOON)
    decided = {
        "state": "done",
        "rating": "buy",
        "confidence": 0.7,
        "horizon_days": 14,
        "cases": dict.fromkeys(("base", "bull", "bear"), said),
        "decided_at": at,
        "ended_at": at,
    }
    defaults = {
        "ticker": "BTC",
        "actor": f"user:{owner.pk}",
        "created_at": at,
        "inputs": {"methods": [], "missing": []},
        **({"state": "running"} if is_open else decided),
    }
    run = InstitutionRun.objects.create(owner=owner, **(defaults | fields))
    InstitutionRoleOutput.objects.bulk_create(
        InstitutionRoleOutput(
            run=run,
            position=number,
            phase=phase,
            role="news",
            kind="AnalystReport",
            fields={"summary": said},
            at=at,
        )
        for number, phase in enumerate(InstitutionPhase)
    )
    if not is_open:
        InstitutionReflection.objects.bulk_create(
            InstitutionReflection(run=run, window=window, due_at=due_at(window, at)) for window in DAYS
        )
    return run
