"""Writers, who takes them back, and how every row stands."""

from datetime import datetime, timedelta
from typing import Any

from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memory
from memory_app.user_profile.models import UserProfileEntry
from memory_app.writes.models import WriteRollback
from memory_app.writes.selectors.plans import preview_roll_back, preview_undo
from memory_app.writes.services import roll_back, undo_roll_back
from minara_site.access.principal import Principal
from minara_site.kernel.core.vocabulary import Category, Provenance, Source

SAME = (
    "id",
    "owner_id",
    "content",
    "content_hash",
    "fact_type",
    "fact_state",
    "tickers",
    "category",
    "source",
    "metadata",
    "actor",
    "origin",
    "created_at",
    "updated_at",
    "deleted_at",
    "held_at",
)


def agent(user: Any, prefix: str) -> Principal:
    """Return a key of this user; without scopes, as when keys still changed what a person typed."""
    return Principal(user=user, role=user.role, scopes=None, key_prefix=prefix)


def person(user: Any) -> Principal:
    """Return somebody in the browser."""
    return Principal(user=user, role=user.role)


def write(principal: Principal, text: str, *, now: Any, typed: bool = False) -> Memory:
    """Store a memory as this writer; one that is `typed` may be edited and deleted."""
    category, source = Category.OBSERVATION, Source.AGENT_RECORDED
    if typed:
        category, source = Category.PERSONALIZATION, Source.USER_MANUAL
    draft = Draft(category, text, Provenance(source, principal.actor))
    return write_memory(owner_id=principal.owner.pk, draft=draft, now=now)


def standing() -> dict[int, dict[str, Any]]:
    """Return every memory by id, all but its version and its batch."""
    return {row["id"]: row for row in Memory.objects.values(*SAME)}


def profiles() -> set[tuple[Any, ...]]:
    """Return every value of every profile, with its writer and time."""
    return set(UserProfileEntry.objects.values_list("owner", "key", "value", "actor", "updated_at", "held_value"))


def roll(olga: Any, writer: str, since: datetime, now: datetime, reason: str = "stolen") -> WriteRollback:
    """Preview what a writer did since then and take it back."""
    sha256 = preview_roll_back(writer=writer, since=since, now=now).sha256
    return roll_back(
        principal=person(olga),
        writer=writer,
        since=since,
        sha256=sha256,
        reason=reason,
        now=now,
    )


def unroll(olga: Any, rollback: WriteRollback, now: datetime) -> WriteRollback:
    """Preview the undo and apply it."""
    sha256 = preview_undo(rollback).sha256
    return undo_roll_back(
        principal=person(olga),
        rollback_id=rollback.pk,
        sha256=sha256,
        reason="a mistake",
        now=now,
    )


class Story:
    """What several writers do about one owner, a minute after another, and how an operator takes it back."""

    def __init__(self, ana: Any, olga: Any, now: datetime) -> None:
        self.owner, self.ana, self.operator, self.olga = ana, person(ana), olga, person(olga)
        self.now = self.since = now

    def tick(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now

    def roll(self, writer: str) -> WriteRollback:
        return roll(self.operator, writer, self.since, self.tick())

    def unroll(self, rollback: WriteRollback) -> WriteRollback:
        return unroll(self.operator, rollback, self.tick())
