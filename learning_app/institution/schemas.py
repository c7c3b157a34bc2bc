"""What the API takes and answers of institution runs. Shapes: the contract."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from learning_app.vocabulary import InstitutionPhase, InstitutionState, LadderWindow, MissingInput, OutcomeState, Rating
from minara_site.web.schemas import PageQuery, Strict


class NewRuns(Strict):
    """Tickers of which the instance has prices; each is a run of its own."""

    tickers: Annotated[list[str], Field(description="1 to 20 tickers, such as BTC or ETH/BTC.")]


class RunsOut(Schema):
    """The runs that were asked for."""

    run_ids: list[str]


class RunQuery(PageQuery):
    """Filters of the list."""

    ticker: Annotated[str | None, Field(max_length=32)] = None
    state: InstitutionState | None = None


class RoleOutputOut(Schema):
    """What a role answered: the fields of its `kind`, a refused text withheld."""

    role: str
    kind: str
    fields: dict[str, Any]
    at: datetime


class InstitutionPhaseOut(Schema):
    """A phase and what its roles answered, in order."""

    name: InstitutionPhase
    outputs: list[RoleOutputOut]


class InstitutionDecisionOut(Schema):
    """The decision; `cases` are base, bull and bear, `cited` ids of methodologies."""

    rating: Rating
    confidence: float
    horizon_days: int
    cases: dict[str, str]
    cited: list[str]


class RungOut(Schema):
    """A window of the ladder, its score once it is over; after 30 days also that of the decision's own horizon."""

    window: LadderWindow
    due_at: datetime
    score: OutcomeState | None
    pnl_pct: float | None
    horizon_score: OutcomeState | None
    horizon_pnl_pct: float | None
    scored_at: datetime | None


class InstitutionRunOut(Schema):
    """An institution run. `feeds` says that its scores count; `shown` are the methodologies that could be cited."""

    id: str
    ticker: str
    state: InstitutionState
    error: str | None
    feeds: bool
    missing: list[MissingInput]
    shown: list[str]
    phases: list[InstitutionPhaseOut]
    decision: InstitutionDecisionOut | None
    ladder: list[RungOut]
    calls: int
    cost_usd: str
    created_at: datetime
    decided_at: datetime | None
    ended_at: datetime | None
