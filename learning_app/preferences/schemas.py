"""What the API takes and answers of preferences. Shapes: the contract."""

from datetime import datetime
from typing import Annotated

from ninja import Schema
from pydantic import Field

from learning_app.preferences.core import MAX_REASON_CHARS
from learning_app.preferences.services.propose import PreferenceDraft
from learning_app.vocabulary import PreferenceDimension, PreferenceKind, PreferenceSource, PreferenceState
from minara_site.web.schemas import HeldOut, PageQuery, Strict


class NewPreference(Strict):
    """What a user seems to want."""

    dimension: PreferenceDimension
    kind: PreferenceKind
    statement: Annotated[str, Field(description="One wish in plain words, 1 to 4000 characters. No secrets.")]

    def as_draft(self) -> PreferenceDraft:
        """Return what the service takes."""
        return PreferenceDraft(self.dimension, self.kind, self.statement)


class Approval(Strict):
    """Other words to approve; without them it is approved as it stands."""

    statement: str | None = None


class DecisionReason(Strict):
    """Why somebody decides so."""

    reason: Annotated[str, Field(max_length=MAX_REASON_CHARS)] = ""


class PreferenceQuery(PageQuery):
    """Filters of the list."""

    state: PreferenceState | None = None
    dimension: PreferenceDimension | None = None
    kind: PreferenceKind | None = None


class PreferenceOut(Schema):
    """A preference as every call answers it; `evidence_count` is how often it was proposed."""

    id: int
    dimension: PreferenceDimension
    kind: PreferenceKind
    statement: str
    state: PreferenceState
    source: PreferenceSource
    evidence_count: int
    origin: str | None
    version: int
    decided_at: datetime | None
    created_at: datetime
    updated_at: datetime


class PreferenceHeldOut(Schema):
    """The id of a preference whose text the guard holds, and why."""

    id: int
    held: HeldOut | None
