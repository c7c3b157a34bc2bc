"""What the roles of an institution run answer: each the input of one forced tool call. Source: S2 (institution). Pure.

The schemas stay as they are: scores compare the same fields across runs.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from learning_app.vocabulary import Rating
from minara_site.kernel.core.fence import fence_text
from minara_site.kernel.market.outcome import Direction

MAX_TEXT_CHARS, MAX_LINE_CHARS, MAX_LINES, MAX_CITED = 1_000, 300, 6, 8
MAX_HORIZON_DAYS: Final = 365


def check_not_blank(text: str) -> str:
    """Return the text as one line. Raises ValueError when it holds no word."""
    line = fence_text(text)
    if not any(letter.isalnum() for letter in line):
        raise ValueError("must not be empty")
    return line


def drop_repeats(values: Any) -> Any:
    """Return a list with each value once, in the order of its first; anything else as it is, for its field to judge."""
    if not isinstance(values, list):
        return values
    return [value for number, value in enumerate(values) if value not in values[:number]]


Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS), AfterValidator(check_not_blank)]
Line = Annotated[str, Field(min_length=1, max_length=MAX_LINE_CHARS), AfterValidator(check_not_blank)]
Lines = Annotated[list[Line], Field(max_length=MAX_LINES)]
Confidence = Annotated[
    float,
    Field(
        ge=0,
        le=1,
        description="0 to 1: how likely you think that you are right.",
    ),
]


class RoleAnswer(BaseModel):
    """What every answer has in common."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AnalystReport(RoleAnswer):
    """What one analyst finds."""

    stance: Direction = Field(description="Where your material points.")
    confidence: Confidence
    summary: Text = Field(description="What your material says, in plain sentences.")
    findings: Lines = Field(description="The facts and figures that carry it, one a line.")
    missing: Lines = Field(default=[], description="What you would have needed and did not have.")


class DebateTurn(RoleAnswer):
    """One turn of the debate between bull and bear."""

    argument: Text = Field(description="Your case, answering the other side's last turn where there is one.")
    points: Lines = Field(description="The points that carry it, one a line.")
    concedes: Lines = Field(default=[], description="What of the other side you accept.")


class ResearchPlan(RoleAnswer):
    """What the research manager makes of reports and debate."""

    recommendation: Rating
    rationale: Text = Field(description="Which side was stronger, and why.")
    steps: Lines = Field(description="What the trader should do, one step a line.")


class TraderProposal(RoleAnswer):
    """The trade that the trader proposes."""

    action: Rating
    confidence: Confidence
    entry: Line = Field(description="When to enter, in words; for hold what would change that.")
    exit: Line = Field(description="When to leave, with and without gain.")
    rationale: Text


class RiskOpinion(RoleAnswer):
    """What one voice of the risk committee says of the proposal."""

    verdict: Literal["accept", "adjust", "reject"]
    opinion: Text
    conditions: Lines = Field(default=[], description="What would have to change, one a line.")


class DecisionCases(RoleAnswer):
    """How the decision may turn out."""

    base: Text = Field(description="What you expect.")
    bull: Text = Field(description="What happens if it goes better for the price.")
    bear: Text = Field(description="What happens if it goes worse for the price.")


class PortfolioDecision(RoleAnswer):
    """The decision of the portfolio manager, which ends the run."""

    rating: Rating
    confidence: Confidence
    horizon_days: int = Field(
        ge=1,
        le=MAX_HORIZON_DAYS,
        description="Days until the base case should have played out.",
    )
    cases: DecisionCases
    cited: Annotated[list[Annotated[str, Field(max_length=40)]], BeforeValidator(drop_repeats)] = Field(
        default=[],
        max_length=MAX_CITED,
        description="Ids of the shown methods on which this decision rests; empty for none.",
    )


def check_cited(decision: PortfolioDecision, shown: list[str]) -> str:
    """Return in words for the model what is wrong with what a decision cites, empty for nothing."""
    if set(decision.cited) <= set(shown):
        return ""
    allowed = ", ".join(shown) or "none: leave it empty"
    return f"- cited: cite only shown methods. Shown were: {allowed}."
