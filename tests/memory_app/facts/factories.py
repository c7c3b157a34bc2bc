"""Valid facts with the fewest fields."""

from datetime import timedelta
from typing import Any

from memory_app.facts.models import FactConflict
from memory_app.facts.services import consolidate_pending, find_conflicts
from memory_app.memories.models import Memory
from minara_site.kernel.core.vocabulary import Category, Source
from tests.kit.clock import NOON
from tests.memory_app.memories.factories import make_memory

WEEKLY, DAILY = "prefers weekly charts", "prefers daily charts"


def make_fact(
    owner: Any, content: str, *, minutes: int = 0, source: Source = Source.AGENT_RECORDED, **fields: Any
) -> Memory:
    """Store a pending fact that was written these minutes after noon."""
    at = NOON + timedelta(minutes=minutes)
    held_at = fields.pop("held_at", None)
    fact = make_memory(owner, content, category=Category.FACT, source=source, at=at, **fields)
    if held_at:
        Memory.objects.filter(pk=fact.pk).update(held_at=held_at)
    return fact


def make_conflict(owner: Any, older: str = WEEKLY, newer: str = DAILY) -> FactConflict:
    """Store two facts that contradict each other, settled, and the pair that the look for contradictions finds."""
    make_fact(owner, older)
    make_fact(owner, newer, minutes=30)
    consolidate_pending(now=NOON)
    find_conflicts(now=NOON)
    return FactConflict.objects.for_owner(owner).latest("pk")
