"""What the API takes and answers of the learning audit. Shapes: the contract."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from learning_app.audit.core.composite import Band
from learning_app.audit.core.records import Severity
from learning_app.audit.selectors import MAX_TREND_DAYS
from minara_site.web.schemas import OwnerQuery, PageQuery, Strict


class NewPass(Strict):
    """A pass over so many days, the setting's without; table hashes before and after it on request."""

    window_days: int | None = None
    table_hashes: bool = False


class FindingOut(Schema):
    """A fault of the learning loop. `rows` name its first objects as `kind:id`; `count` says how many there are."""

    code: str
    dimension: str
    severity: Severity
    text: str
    count: int
    rows: list[str]
    facts: dict[str, Any] = {}
    first_seen_at: datetime | None = None


class DimensionOut(Schema):
    """A score from 0 to 100, null when there is not enough data, with the facts that it was computed of."""

    score: float | None
    facts: dict[str, Any] = {}
    findings: list[FindingOut] = []
    advisory_actions: list[str] = []


class AuditReportOut(Schema):
    """What one pass found; the weights used sum to 1. Composite and band are null when no dimension has a score."""

    id: int
    created_at: datetime
    window_days: int
    composite: float | None
    band: Band | None
    dimensions: dict[str, DimensionOut]
    dimension_weights_used: dict[str, float]
    table_hashes: dict[str, dict[str, str]] | None
    requested_by: str


class TrendPointOut(Schema):
    """One pass of the trend."""

    id: int
    created_at: datetime
    window_days: int
    composite: float | None
    band: Band | None
    scores: dict[str, float | None]


class TrendOut(Schema):
    """The passes of the last days, oldest first."""

    days: int
    items: list[TrendPointOut]


class TrendQuery(OwnerQuery):
    """How far back the trend goes."""

    days: Annotated[int, Field(ge=1, le=MAX_TREND_DAYS)] = 90


class FindingQuery(PageQuery):
    """Findings of the newest report, of one severity where one is given."""

    severity: Severity | None = None
