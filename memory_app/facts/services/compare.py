"""Finding settled facts that may contradict each other. Source: S1 (contradiction resolution).

Each settled fact is compared once, with those that the search index finds for its words; never all pairs.
"""

from datetime import datetime

from django.db import transaction

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.contradiction import Topic
from memory_app.facts.core.sweep import Step
from memory_app.facts.models import FactConflict
from memory_app.facts.selectors import find_alike, read_uncompared
from memory_app.facts.services.consolidate import ACTOR
from memory_app.facts.services.rows import is_settled, lock_facts_of, lock_rows, note
from memory_app.memories.models import Memory
from minara_site.kernel.jobs.services import Claim, report_progress

MOST_COMPARED = 200  # facts in a run; the next run goes on
MOST_CONFLICTS = 5  # of one fact, the most alike first


def find_conflicts(*, now: datetime, most: int = MOST_COMPARED, claim: Claim | None = None) -> int:
    """Compare the settled facts that were not yet compared, at most so many; return how many conflicts were found."""
    facts = read_uncompared(most)
    found = 0
    for done, fact in enumerate(facts, start=1):
        alike = find_alike(fact)
        with transaction.atomic():
            lock_facts_of(fact.owner_id)
            found += store_conflicts(fact, alike, now=now, run_id=claim.run_id if claim else None)
        report_progress(claim, done, len(facts))
    return found


def store_conflicts(fact: Memory, alike: list[Memory], *, now: datetime, run_id: int | None) -> int:
    """Store the pairs that may contradict each other, each once, with an event; return how many are new.

    A fact that is gone by now is compared when it is back.
    """
    topic, others = Topic(fact.content), [(each, Topic(each.content)) for each in alike]
    scored = [(topic.similarity(other), each) for each, other in others if topic.may_contradict(other)]
    scored.sort(key=lambda pair: (-pair[0], pair[1].pk))
    locked = lock_rows(fact.owner_id, [fact.pk, *(each.pk for _score, each in scored)])
    still = {pk for pk, row in locked.items() if is_settled(row)}
    if fact.pk not in still:
        return 0
    Memory.objects.filter(pk=fact.pk).update(compared_at=now)
    likest = [(similarity, other) for similarity, other in scored if other.pk in still][:MOST_CONFLICTS]
    pairs = [conflict_of(fact, other, similarity, now=now) for similarity, other in likest]
    stored = FactConflict.objects.filter(older__in=[pair.older_id for pair in pairs])
    known = set(stored.values_list("older_id", "newer_id"))
    new = [pair for pair in pairs if (pair.older_id, pair.newer_id) not in known]
    FactConflict.objects.bulk_create(new)
    steps = [Step(EventKind.CONFLICT_FOUND, pair.newer_id, pair.older_id) for pair in new]
    note(fact.owner_id, steps, decider=Decider.RULE, actor=ACTOR, now=now, run_id=run_id)
    return len(new)


def conflict_of(one: Memory, other: Memory, similarity: float, *, now: datetime) -> FactConflict:
    """Return the unsaved conflict of two facts."""
    older, newer = sorted((one, other), key=lambda row: (row.created_at, row.pk))
    return FactConflict(owner_id=one.owner_id, older=older, newer=newer, similarity=similarity, found_at=now)
