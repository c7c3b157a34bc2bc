"""The shapes in which the API tells why a memory is there."""

from datetime import datetime

from ninja import Schema

from memory_app.memories.api import ConflictOut, WriterOut
from minara_site.kernel.core.vocabulary import Source
from minara_site.web.schemas import HeldOut


class DecisionOut(Schema):
    """A decision of the general fact layer; `other` is the memory it was compared with.

    `is_about_it` is false where the decision was about the other one.
    """

    at: datetime
    kind: str
    decider: str
    actor: str
    other: int | None
    is_about_it: bool
    is_undone: bool
    reason: str


class EdgeOut(Schema):
    """Something that it mentions, and how."""

    type: str
    kind: str
    key: str
    weight: float


class UseOut(Schema):
    """A session whose frozen prompt carried it."""

    session: str
    at: datetime


class FoundOut(Schema):
    """A search that returned it at this place, from 1; `query` is null where it is not the caller's to read."""

    at: datetime
    rank: int
    door: str
    actor: str
    query: str | None


class UsedBy(Schema):
    """The newest 20 sessions; `count` stops at 200."""

    count: int
    is_exact: bool
    newest: list[UseOut]


class FoundBy(Schema):
    """The newest 20 searches; `count` stops at 200."""

    count: int
    is_exact: bool
    newest: list[FoundOut]


class WithoutIt(Schema):
    """What would change without it: the rows that would take its place in the next prompt, pages, retired facts."""

    prompt_changes: bool
    moves_up: list[int]
    assets: list[str]
    retired_in_its_favour: list[int]


class ReportOut(Schema):
    """Who wrote it and why, what was decided about it, where it was read, what would change without it."""

    writer: WriterOut
    reasoning: str
    is_judged_by_todays_rules: bool
    released_by: str | None
    decisions: list[DecisionOut]
    conflicts: list[int]
    conflict: ConflictOut | None
    edges: list[EdgeOut]
    carried_by: UsedBy
    found_by: FoundBy
    without_it: WithoutIt


class WhyOut(ReportOut):
    """Where a memory comes from, and whether the agent reads it without asking."""

    id: int
    source: Source | None
    actor: str
    origin: str
    content_hash: str
    version: int
    created_at: datetime
    updated_at: datetime
    is_editable: bool
    rules_version: str
    held: HeldOut | None
    in_prompt: bool
    note: str
    prompt_line: str
    tokens: int
