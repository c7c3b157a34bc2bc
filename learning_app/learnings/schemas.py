"""What the API and the tool take and answer of learnings. Shapes: the contract."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field, JsonValue

from learning_app.learnings.services.store import LearningDraft
from minara_site.web.schemas import HeldOut, Strict


class StepIn(Strict):
    """One step; secrets in `args` are redacted before they are stored."""

    tool_name: str
    args: JsonValue = None


class NewLearning(Strict):
    """A procedure that worked: what was asked, and the tools or the guidance that helped."""

    name: Annotated[str, Field(description="A short name, such as open_long_with_stop.")]
    trigger: Annotated[str, Field(description="What a user asks when this helps, in a few words.")]
    tool_sequence: Annotated[list[StepIn], Field(description="The tools that did it, in order, at most 200.")] = []
    guidance: Annotated[str, Field(description="What to watch for. One of this and the tools is needed.")] = ""

    def as_draft(self) -> LearningDraft:
        """Return what the service takes."""
        return LearningDraft(
            self.name,
            self.trigger,
            [step.model_dump() for step in self.tool_sequence],
            self.guidance,
        )


class GuidanceIn(Strict):
    """New guidance; with the version that it changes, a later one is refused."""

    guidance: str
    version: Annotated[int | None, Field(ge=1, le=2**31)] = None


class LearningWriter(Schema):
    """Whose word a learning is: an agent by the label of its key, or a job."""

    kind: str
    name: str


class LearningOut(Schema):
    """A learning. `tool_sequence` is `[{tool_name, args}]`; `state` is live or held."""

    id: str
    writer: LearningWriter
    name: str
    trigger: str
    tool_sequence: list[dict[str, Any]]
    guidance: str
    origin: str
    success_count: int
    failure_count: int
    ignored_count: int
    last_used_at: datetime | None
    version: int
    state: str
    created_at: datetime
    updated_at: datetime


class LearningHeldOut(Schema):
    """A learning that the guard holds: no prompt reads it until an operator releases it."""

    id: str
    held: HeldOut


class LearningDeleted(Schema):
    """A learning was deleted; its owner can restore it for 30 days."""

    id: str
    deleted: bool
