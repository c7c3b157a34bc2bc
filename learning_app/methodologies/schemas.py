"""What the API takes and answers of methodologies. Shapes: the contract."""

from datetime import datetime
from typing import Annotated

from ninja import Schema
from pydantic import Field, StrictBool

from learning_app.methodologies.core.structure import StructuredMethodology
from learning_app.methodologies.services.create import MethodologyDraft
from learning_app.vocabulary import Indicator, PrimarySignal, Timeframe
from minara_site.kernel.core.assets import AssetClass
from minara_site.kernel.market.outcome import Direction
from minara_site.web.schemas import HeldOut, PageQuery, Strict

MAX_INDICATORS = 20


class PhaseIn(Strict):
    """One phase of a plan; it depends on the phases that it names."""

    name: str
    criteria: list[str] = []
    tools_used: list[str] = []
    depends_on: list[str] = []


class NewMethodology(Strict):
    """An analysis method in words and in structured fields; a text is 1 to 4 000 characters."""

    name: str
    asset_class: AssetClass
    methodology: str
    evidence: str = ""
    direction: Direction
    primary_signal: PrimarySignal
    timeframe: Timeframe
    indicators: Annotated[list[Indicator], Field(max_length=MAX_INDICATORS)] = []
    phases: list[PhaseIn] | None = None

    def as_draft(self) -> MethodologyDraft:
        """Return what the service takes."""
        structured = StructuredMethodology(
            self.direction,
            self.primary_signal,
            self.timeframe,
            tuple(self.indicators),
            self.asset_class,
        )
        phases = None if self.phases is None else [phase.model_dump() for phase in self.phases]
        return MethodologyDraft(self.name, self.methodology, structured, self.evidence, phases)


class Reason(Strict):
    """Why an operator decides so."""

    reason: str = ""


class NewOutcomeIn(Strict):
    """Whether a methodology was right; `case_id` names the case that shows it, which counts once."""

    correct: StrictBool
    case_id: Annotated[int | None, Field(ge=1, le=2**63 - 1)] = None


class MethodologyQuery(PageQuery):
    """Filters of the list."""

    asset_class: AssetClass | None = None
    direction: Direction | None = None
    quarantine: Annotated[int | None, Field(ge=0, le=1)] = None


class PhaseOut(Schema):
    """One phase of a plan."""

    name: str
    criteria: list[str]
    tools_used: list[str]
    depends_on: list[str]


class MarksOut(Schema):
    """What a methodology has shown: by the rule, against chance, and against the whole store."""

    graduated: bool
    beats_chance: bool
    survives_store: bool


class MethodologyOut(Schema):
    """A methodology; `confidence` is the Wilson lower bound, `e_value` the evidence that it is better than chance."""

    id: str
    name: str
    asset_class: AssetClass
    methodology: str
    evidence: str
    direction: Direction
    primary_signal: PrimarySignal
    timeframe: Timeframe
    indicators: list[Indicator]
    phases: list[PhaseOut] | None
    confidence: float
    quarantine: int
    times_used: int
    times_correct: int
    times_seen: int
    e_value: float | None
    independent_cases: int
    marks: MarksOut
    decay: bool
    created_at: datetime
    updated_at: datetime


class CreatedHeldOut(Schema):
    """The id of a methodology that the guard holds, and why."""

    id: str
    held: HeldOut | None
