"""What happened to the demo's facts and what was searched, told with the rooms' own writes; and its removal.

Only rows of the demo are touched: a sweep over all would settle what the owner really wrote.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q

from memory_app.facts.core import RETIRING, Decider, EventKind
from memory_app.facts.core.sweep import Step
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.services.compare import store_conflicts
from memory_app.facts.services.consolidate import ACTOR
from memory_app.facts.services.rows import note, retire, settle
from memory_app.memories.core import FactState
from memory_app.memories.models import Memory, MemoryQuerySet
from memory_app.search.log import keep_search
from memory_app.search.models import SearchLogEntry
from minara_site.access.models import User
from minara_site.console.demo.content import DemoMemory, DemoSearch

AFTER_THE_SWEEP = timedelta(minutes=1)
MAX_HITS = 5


def demo_rows(owner: User) -> MemoryQuerySet:
    """Return the demo's memories of an owner."""
    rows: MemoryQuerySet = Memory.objects.for_owner(owner).filter(is_demo=True)
    return rows


def sweep_facts(owner: User, memories: Sequence[DemoMemory], *, now: datetime) -> None:
    """Settle and retire facts as their stories say, oldest decision first."""
    rows = {row.content: row for row in demo_rows(owner).filter(fact_state__isnull=False)}
    swept = [(memory.settled_hours_ago, memory) for memory in memories if memory.settled_hours_ago is not None]
    for hours_ago, memory in sorted(swept, key=lambda pair: -pair[0]):
        fact, at = rows[memory.text], now - timedelta(hours=hours_ago)
        if memory.gave_way_to:
            retire([fact.pk], now=at)
            step = Step(EventKind.DEDUPLICATED, fact.pk, rows[memory.gave_way_to].pk)
        else:
            settle([fact])
            step = Step(EventKind.SETTLED, fact.pk)
        note(owner.pk, [step], decider=Decider.RULE, actor=ACTOR, now=at)


def find_conflict(owner: User, older: str, newer: str) -> None:
    """Let the two facts of these texts be found to contradict each other, a minute after the newer one settled."""
    facts = demo_rows(owner)
    fact, other = facts.get(content=newer), facts.get(content=older)
    settled = ConsolidationEvent.objects.for_owner(owner).get(fact_id=fact.pk, kind=EventKind.SETTLED)
    store_conflicts(fact, [other], now=settled.at + AFTER_THE_SWEEP, run_id=None)


def keep_searches(owner: User, searches: Iterable[DemoSearch], *, actor: str, now: datetime) -> list[SearchLogEntry]:
    """Keep what an agent searched and what came back; nothing while no log is kept."""
    kept = []
    for search in searches if settings.MINARA.minara_search_log_days else ():
        found = demo_rows(owner).live().filter(content__contains=search.word).order_by("-updated_at", "-id")
        ids = list(found.values_list("pk", flat=True)[:MAX_HITS])
        entry = SearchLogEntry(
            owner_id=owner.pk,
            actor=actor,
            door=search.surface,
            query=search.query,
            found=len(ids),
            at=now - timedelta(hours=search.hours_ago),
        )
        keep_search(entry, ids)
        kept.append(entry)
    return kept


def delete_history(memory_ids: Collection[int]) -> None:
    """Remove every event about these facts, the undoing ones first: each protects the event that it undoes.

    What the owner really said, and a later sweep retired in favour of one of them, stands again.
    """
    events = ConsolidationEvent.objects.filter(Q(fact_id__in=memory_ids) | Q(other_id__in=memory_ids))
    retired = events.filter(kind__in=RETIRING, other_id__in=memory_ids).values("fact_id")
    settle(Memory.objects.filter(pk__in=retired, fact_state=FactState.RETIRED).exclude(pk__in=memory_ids))
    events.filter(undoes__isnull=False).delete()
    events.delete()
