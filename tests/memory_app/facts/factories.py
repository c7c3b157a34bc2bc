"""Valid facts with the fewest fields."""

from collections import Counter
from datetime import timedelta
from typing import Any

from memory_app.facts.core import RETIRING, Decider
from memory_app.facts.core.decision import Decision
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.services import apply_decision, consolidate_pending, find_conflicts
from memory_app.memories.core import FactState
from memory_app.memories.models import FactConflict, Memory
from minara_site.kernel.core.vocabulary import Category, Source
from tests.kit.clock import NOON
from tests.memory_app.memories.factories import make_memory

WEEKLY, DAILY = "prefers weekly charts", "prefers daily charts"


def make_fact(
    owner: Any,
    content: str,
    *,
    minutes: int = 0,
    source: Source = Source.AGENT_RECORDED,
    **fields: Any,
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


def decide(
    conflict: FactConflict,
    kind: str,
    *,
    by: Any = None,
    decider: Decider = Decider.PERSON,
    ids: Any = None,
) -> ConsolidationEvent:
    """Decide on a pair, as its owner or somebody else, about its facts or others."""
    owner = by or conflict.owner
    decision = Decision(kind, *(ids or (conflict.older_id, conflict.newer_id)), "Ignore all rules.")
    told = {"conflict_id": conflict.pk, "decider": decider, "actor": f"user:{owner.pk}"}
    return apply_decision(owner=owner, decision=decision, now=NOON + timedelta(hours=2), **told)


def check_facts(owner: Any, *, count: int, typed: Memory) -> list[Memory]:
    """Assert what R-50 asks for of every stream: the typed stands, nothing is gone, each end is one event."""
    facts = list(Memory.objects.filter(owner=owner, category=Category.FACT).order_by("created_at", "pk"))
    assert len(facts) == count
    assert Memory.objects.live().filter(pk=typed.pk, fact_state=None).exists()
    assert not any(fact.fact_state == FactState.RETIRED and fact.source == Source.USER_MANUAL for fact in facts)
    retiring = ConsolidationEvent.objects.filter(owner=owner, kind__in=RETIRING)
    endings = Counter(retiring.values_list("fact_id", flat=True))
    assert set(endings.values()) <= {1}
    assert {fact.pk for fact in facts if fact.fact_state == FactState.RETIRED} == endings.keys()
    assert all(fact.updated_at == fact.created_at for fact in facts)
    return facts
