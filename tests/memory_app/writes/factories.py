"""Writers, and how every row stands."""

from typing import Any

from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memory
from memory_app.user_profile.models import UserProfileEntry
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
