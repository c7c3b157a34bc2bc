"""Valid memories with the fewest fields."""

from datetime import datetime, timedelta
from typing import Any

from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, build_memory
from minara_site.access.policy import Scope
from minara_site.access.principal import Principal
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from tests.kit.clock import NOON


def make_memory(
    owner: Any,
    content: str = "Trail BTC stops by 8%",
    *,
    category: Category = Category.PERSONALIZATION,
    source: Source = Source.USER_MANUAL,
    origin: str = "",
    at: datetime = NOON,
    deleted_at: datetime | None = None,
    **fields: Any,
) -> Memory:
    """Store a memory, by default one that its owner typed and may edit; it is read whatever the guard thinks of it."""
    draft = Draft(category, content, Provenance(source, f"user:{owner.pk}", origin))
    memory = build_memory(owner_id=owner.pk, draft=draft, now=at)
    memory.deleted_at, memory.held_at = deleted_at, None
    for name, value in fields.items():
        setattr(memory, name, value)
    memory.save()
    return memory


def make_many(owner: Any, count: int, *, word: str = "Memory", **fields: Any) -> list[Memory]:
    """Store memories one minute apart, the newest first in the list; equal words make equal texts."""
    at = fields.pop("at", NOON)
    return [
        make_memory(
            owner,
            f"{word} number {n}",
            at=at - timedelta(minutes=n),
            **fields,
        )
        for n in range(count)
    ]


def browser(user: Any) -> Principal:
    """Return somebody in the browser."""
    return Principal(user=user, role=user.role)


def key(user: Any, *scopes: Scope) -> Principal:
    """Return a key of this user."""
    return Principal(user=user, role=user.role, scopes=frozenset(scopes), key_prefix="abcd1234")
