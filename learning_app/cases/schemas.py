"""What API and tool take and answer of trading cases. Shapes: the contract."""

from datetime import datetime
from typing import Annotated

from ninja import Schema
from pydantic import Discriminator, Field, Tag

from learning_app.cases.services.record import MAX_CASES, MAX_HINTS, MAX_HORIZON_HOURS, CaseDraft
from learning_app.vocabulary import OutcomeState
from minara_site.kernel.market.outcome import Direction, Gap
from minara_site.kernel.market.regime import Regime
from minara_site.web.schemas import MANY, ONE, HeldOut, PageQuery, Repeated, Strict, SymbolOut


class NewCase(Strict):
    """A decision on a market symbol that prices will judge."""

    asset: Annotated[
        str,
        Field(description="A market symbol: BTC, ETH/BTC, EURUSD, NASDAQ:AAPL, 7203.T."),
    ]
    decision: Annotated[str, Field(description="What was decided and why, 1 to 4000 characters. No secrets.")]
    direction: Annotated[Direction, Field(description="What the price is expected to do.")]
    hints: Annotated[
        list[str],
        Field(max_length=MAX_HINTS, description="Ids of the methodologies that were in front of you, in their order."),
    ] = []
    horizon_hours: Annotated[
        int | None,
        Field(
            ge=1,
            le=MAX_HORIZON_HOURS,
            description="Hours until the price judges it; left out, the shortest timeframe of the hints decides.",
        ),
    ] = None
    decided_at: Annotated[datetime | None, Field(description="When it was decided, ISO 8601; leave out for now.")] = (
        None
    )
    trade_ref: Annotated[str | None, Field(max_length=120, description="The id of the trade, where there is one.")] = (
        None
    )

    def as_draft(self) -> CaseDraft:
        """Return what the service takes."""
        return CaseDraft(
            self.asset,
            self.decision,
            self.direction,
            self.hints,
            self.horizon_hours,
            self.decided_at,
            self.trade_ref or "",
        )


NewCases = Annotated[
    Annotated[NewCase, Tag(ONE)] | Annotated[list[NewCase], Field(min_length=1, max_length=MAX_CASES), Tag(MANY)],
    Discriminator(lambda sent: MANY if isinstance(sent, list) else ONE),
]


class CaseQuery(PageQuery):
    """Filters of the list."""

    asset: Annotated[str | None, Field(max_length=32)] = None
    outcome_state: OutcomeState | None = None
    trade_ref: Annotated[str | None, Field(max_length=120)] = None


class DecisivePriceOut(Schema):
    """A price that decided, and its moment."""

    price: float
    at: datetime


class CreditOut(Schema):
    """Whether a case counts for a methodology: for all, and for its owner. `why` says which rule keeps it from that.

    `same_block_as` is the case of the same owner that counts in its place.
    """

    methodology: str
    counted: bool
    counted_for_owner: bool
    why: str | None
    same_block_as: int | None


class ControlOut(Schema):
    """How often the same bet was right in the eight horizons after, in [0, 1]: null until then, or with too few of it.

    `clear` is how many of the 32 windows left the noise band.
    """

    share: float | None
    clear: int
    known_at: datetime | None


class CaseOut(Schema):
    """A case, what became of it, and for which methodologies it counts. `gap` says why prices do not judge it."""

    id: int
    asset: str
    asset_text: str
    symbol: SymbolOut
    decision: str
    direction: Direction
    horizon_hours: int
    outcome_state: OutcomeState
    hints: list[str]
    hint_hash: str
    attribution_model: str
    trade_ref: str | None
    entry: DecisivePriceOut | None
    exit: DecisivePriceOut | None
    gap: Gap | None
    credits: list[CreditOut]
    control: ControlOut | None
    regime: Regime
    replayed: bool
    backdated: bool
    judged_by: str | None
    decided_at: datetime
    received_at: datetime
    window_ends_at: datetime
    resolved_at: datetime | None
    pnl_pct: float | None
    held: bool


class Warned(Schema):
    """What an answer warns of, each in a sentence."""

    warnings: list[str]


class NewCaseOut(Warned, CaseOut):
    """A case that was recorded."""


class CaseHeldOut(Warned):
    """The id of a case whose words the guard holds, and why; it is judged all the same."""

    id: int
    held: HeldOut
    symbol: SymbolOut


class RepeatedCaseOut(Repeated, NewCaseOut):
    """A case that this key recorded before."""


class RepeatedCaseHeldOut(Repeated, CaseHeldOut):
    """A case that this key recorded before, and why the guard holds its words."""


class RecordedCaseOut(Schema):
    """The id of a case of a list, and why the guard holds its words, where it does."""

    id: int
    held: HeldOut | None = None


class CasesRecordedOut(Schema):
    """The cases of a list in its order."""

    items: list[RecordedCaseOut]
