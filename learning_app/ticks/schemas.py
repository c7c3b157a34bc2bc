"""What the API of deployments and ticks takes and answers. Shapes: the contract."""

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from django.utils.translation import gettext as _
from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from learning_app.ledger.core import MAX_TEXT_CHARS, EngineKind, TradeAction, TradeSide
from learning_app.ledger.core.reconcile import Position
from learning_app.ledger.models import MAX_NAME_CHARS
from learning_app.ledger.services import check_symbol
from learning_app.lessons.core import NoteStatus
from learning_app.ticks.core import MAX_POSITIONS, Proposal, Report
from learning_app.ticks.core.config import Part, SkillConfig, without_nulls
from minara_site.kernel.market.core.values import LARGEST
from minara_site.web.schemas import HeldOut, Record, Strict
from minara_site.web.values import Amount, Moment, Price

MAX_BARS, BAR_FIELDS = 1_000, 6
Symbol = Annotated[str, AfterValidator(check_symbol)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME_CHARS)]
MAX_RULE_CHARS, SMALLEST_USD = 60, Decimal("1e-6")
Rule = Annotated[str, AfterValidator(lambda rule: re.sub(r"[^A-Za-z0-9_.:-]+", "_", rule.strip())[:MAX_RULE_CHARS])]


def check_bars(bars: list[list[float | int | str | None]]) -> list[list[Any]]:
    """Return bars `[ts, o, h, l, c, v]` whose moments grow. Raises ValueError."""
    newest: float = 0
    for bar in bars:
        if len(bar) < BAR_FIELDS - 1 or isinstance(bar[0], str) or bar[0] is None or bar[0] <= newest:
            raise ValueError(_("Give bars as [ts, open, high, low, close, volume], oldest first, ts in Unix ms."))
        newest = bar[0]
        try:
            Decimal(str(bar[4] or 0))
        except ArithmeticError:
            raise ValueError(_("The close of a bar is not a number.")) from None
    return bars


Bars = Annotated[list[list[float | int | str | None]], Field(max_length=MAX_BARS), AfterValidator(check_bars)]


class PositionIn(Part):
    """What is held of one symbol; a `size_base` of 0 is no position."""

    symbol: Symbol
    side: TradeSide
    size_base: Annotated[Amount, Field(description="In units of the asset, 0 or more.")]
    size_usd: Annotated[Amount, Field(description="What it is worth.")]
    entry_price: Price
    mark_price: Price
    leverage: Price | None = None

    @model_validator(mode="after")
    def check_size(self) -> "PositionIn":
        """Refuse sizes that contradict each other. Raises ValueError."""
        if self.size_base < 0 or (self.size_base > 0) != (self.size_usd > 0):
            raise ValueError(_("Give size_base and size_usd above 0, or both as 0. The side says which way it goes."))
        if self.size_base * self.mark_price >= LARGEST:
            raise ValueError(_("The position is too large."))
        return self


class PortfolioIn(Part):
    """The portfolio after this tick's fills."""

    equity_usd: Amount
    positions: Annotated[list[PositionIn], Field(max_length=MAX_POSITIONS)] = []

    @model_validator(mode="after")
    def check_symbols(self) -> "PortfolioIn":
        """Refuse a symbol that stands twice. Raises ValueError."""
        if len({position.symbol for position in self.positions}) < len(self.positions):
            raise ValueError(_("A symbol stands twice among the positions."))
        return self


class ProposedActionIn(Part):
    """What the agent proposed at this tick."""

    action: TradeAction | None = None
    symbol: Symbol | None = None
    side: TradeSide | None = None
    size_usd: Amount | None = None
    stop_price: Price | None = None
    reason: Annotated[str | None, Field(max_length=MAX_TEXT_CHARS, description="Why. No secrets.")] = None

    def as_proposal(self) -> Proposal:
        """Return what the core takes."""
        return Proposal(**{**self.model_dump(), "reason": (self.reason or "").strip()})


class EngineIn(Part):
    """What the engine made of it."""

    kind: EngineKind
    rule: Rule | None = None


class TickIn(Part):
    """One tick. Null is absent."""

    tick_at: Annotated[Moment, Field(description="After the last one; the same again changes nothing.")]
    portfolio: PortfolioIn
    proposed_action: ProposedActionIn | None = None
    engine: EngineIn
    bars: Annotated[dict[Symbol, Bars], BeforeValidator(without_nulls)] = {}
    marks: Annotated[dict[Symbol, Price], BeforeValidator(without_nulls)] = {}
    fees: Annotated[
        dict[Symbol, Amount],
        BeforeValidator(without_nulls),
        Field(description="In USD; negative is a rebate."),
    ] = {}
    command: Literal["flatten"] | None = None

    def as_report(self) -> Report:
        """Return what the service takes; a position of next to nothing is none."""
        said = self.proposed_action
        return Report(
            at=self.tick_at,
            equity_usd=self.portfolio.equity_usd,
            positions={
                each.symbol: Position(each.side, each.size_base, each.size_usd, each.mark_price, each.leverage)
                for each in self.portfolio.positions
                if each.size_usd >= SMALLEST_USD
            },
            costs={each.symbol: each.entry_price for each in self.portfolio.positions},
            engine=self.engine.kind,
            rule=self.engine.rule or "",
            proposal=said.as_proposal() if said else None,
            marks={each.symbol: each.mark_price for each in self.portfolio.positions} | self.marks,
            fees=self.fees,
            bars=self.bars,
            is_flatten=self.command is not None,
        )


class NewSkill(Strict):
    """A skill by its name, with what it says."""

    name: Name
    config: SkillConfig = SkillConfig()


class NewDeployment(Strict):
    """A deployment by its name; another `config` than the one it has is a new version."""

    name: Name
    skill: NewSkill


class DeployedSkillOut(Record):
    """A skill in one version; `held` says why strategy and avoid rules are left out."""

    name: str
    version: int
    config: Mapping[str, Any]
    held: HeldOut | None


class DeploymentOut(Record):
    """A deployment and its last tick."""

    id: str
    name: str
    skill: DeployedSkillOut
    created_at: datetime
    tick_at: datetime | None
    equity_usd: str | None


class ContextOut(Record):
    """What the next decision reads: sections of the user's message, segments of the system's prompt. "" is nothing."""

    sections: dict[str, str]
    segments: dict[str, str | None]
    tokens: int
    hash: str


class TickOut(Record):
    """What the tick wrote, and what the next decision reads."""

    ops: list[dict[str, Any]]
    context: ContextOut


class LessonsOut(Record):
    """One revision of the lessons; `text` is null while the guard holds it."""

    id: int
    text: str | None
    content_hash: str | None
    status: NoteStatus
    created_at: datetime


class RiskStateOut(Record):
    """The session as the agent reads it."""

    rejections: dict[str, int]
    tail: list[str]
    executed_today: int
    pnl_pct_today: float | None
    losing_closes: int
