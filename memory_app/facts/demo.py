"""The demo's facts with what sweeps decided on them, stored with the room's own writes.

Only rows of the demo are touched: a sweep over all would settle what the owner really wrote.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial

from django.db.models import Q

from memory_app.facts.core import RETIRING, Decider, EventKind
from memory_app.facts.core.sweep import Step
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.services.compare import store_pairs
from memory_app.facts.services.consolidate import ACTOR
from memory_app.facts.services.rows import note, retire, settle
from memory_app.memories.core import ConflictBasis, FactState
from memory_app.memories.demo import DemoMemory, demo_memories, edited_since, write_demo_memory
from memory_app.memories.models import Memory
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.demo import DemoAct, DemoLoad, DemoPart, RemovedRows, read_rows

SWEPT_AFTER, COMPARED_AFTER = timedelta(minutes=15), timedelta(minutes=1)


class DemoFact(DemoMemory):
    """One fact, settled by a sweep unless it is `pending`.

    `same_as` is the text of the fact in whose favour it was retired, `contradicts` that of one in conflict with it.
    """

    category: Category = Category.FACT
    source: Source = Source.AGENT_RECORDED
    pending: bool = False
    same_as: str = ""
    contradicts: str = ""


class FactsPart(DemoPart[DemoFact]):
    """Facts, consolidation events and conflicts."""

    name, rows = "facts", read_rows(DemoFact, __package__)

    def acts(self, load: DemoLoad) -> Iterator[DemoAct]:
        yield from super().acts(load)
        for name, facts in self.rows.items():
            for fact in facts:
                if not fact.pending:
                    at = load.ago(fact.hours_ago) + SWEPT_AFTER
                    yield at, partial(sweep, load.people[name], fact, now=at)

    def store(self, load: DemoLoad, owner: User, row: DemoFact) -> None:
        write_demo_memory(load, owner, row)

    def remove(self, load: DemoLoad) -> tuple[RemovedRows, ...]:
        """Delete every event, the undoing ones first: each protects the event that it undoes. The facts are memories.

        What the owner really said, and a later sweep retired in favour of a fact of the demo, is settled again.
        """
        ids = Memory.objects.filter(is_demo=True).exclude(edited_since(load)).values("pk")
        events = ConsolidationEvent.objects.filter(Q(fact_id__in=ids) | Q(other_id__in=ids))
        retired = events.filter(kind__in=RETIRING, other_id__in=ids, undone_by__isnull=True).values("fact_id")
        settle(Memory.objects.filter(pk__in=retired, fact_state=FactState.RETIRED, is_demo=False))
        events.filter(undoes__isnull=False).delete()
        events.delete()
        return ()


def sweep(owner: User, fact: DemoFact, *, now: datetime) -> None:
    """Settle or retire a fact, and a minute later find the conflict with the one that it contradicts."""
    rows = demo_memories(owner)
    row = rows.get(content=fact.text)
    if fact.same_as:
        retire([row.pk], now=now)
        step = Step(
            EventKind.DEDUPLICATED,
            row.pk,
            rows.get(content=fact.same_as).pk,
        )
    else:
        settle([row])
        step = Step(EventKind.SETTLED, row.pk)
    note(owner.pk, [step], decider=Decider.RULE, actor=ACTOR, now=now)
    if fact.contradicts:
        other = rows.get(content=fact.contradicts)
        store_pairs([(row, other)], ConflictBasis.STATEMENT, now=now + COMPARED_AFTER)
