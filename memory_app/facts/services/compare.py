"""Finding settled facts that may contradict each other. Source: S1 (contradiction resolution).

Each settled fact is compared once, with those that the search index finds for its words; never all pairs.
"""

from collections.abc import Iterator
from datetime import datetime

import structlog
from django.db import transaction

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.contradiction import Topic
from memory_app.facts.core.sweep import Step
from memory_app.facts.models import FactConflict
from memory_app.facts.selectors import find_similar, list_uncompared
from memory_app.facts.services.consolidate import ACTOR
from memory_app.facts.services.rows import is_settled, lock_facts_of, lock_rows, note
from memory_app.index.adapters.sql import SearchTooSlow
from memory_app.memories.models import Memory
from minara_site.kernel.jobs.services import Claim, report_progress

MAX_COMPARED = 200  # facts in a run; the next run goes on
MAX_CONFLICTS = 5  # of one fact, the most alike first
MAX_SLOW = 3  # looks of one owner and run that take too long: each took two seconds for nothing

log = structlog.get_logger(__name__)


def find_conflicts(
    *,
    now: datetime,
    most: int = MAX_COMPARED,
    claim: Claim | None = None,
) -> int:
    """Compare the settled facts that were not yet compared, at most so many; return how many conflicts were found."""
    found = done = 0
    total = min(most, list_uncompared().count())
    for owner_id in list(list_uncompared().order_by("owner_id").values_list("owner_id", flat=True).distinct()):
        for new in compare_owner(
            owner_id,
            most - done,
            now=now,
            run_id=claim.run_id if claim else None,
        ):
            found += new
            done += 1
            report_progress(claim, done, total)
    return found


def compare_owner(
    owner_id: int,
    most: int,
    *,
    now: datetime,
    run_id: int | None,
) -> Iterator[int]:
    """Compare facts of an owner, at most so many; yield for each how many conflicts are new.

    One whose look takes too long stays uncompared; after some of these the owner's others wait for the next run.
    """
    slow = 0
    # in another order each time, so that those whose look takes too long never stand before the others for good
    for fact in list(list_uncompared().filter(owner=owner_id).order_by("?")[:most]):
        try:
            alike = find_similar(fact)
        except SearchTooSlow:
            log.warning(
                "fact_not_compared",
                owner_id=owner_id,
                fact_id=fact.pk,
                reason=SearchTooSlow.code,
            )
            slow += 1
            if slow == MAX_SLOW:
                return
            continue
        with transaction.atomic():
            lock_facts_of(owner_id)
            new = store_conflicts(fact, alike, now=now, run_id=run_id)
        yield new


def store_conflicts(
    fact: Memory,
    alike: list[Memory],
    *,
    now: datetime,
    run_id: int | None,
) -> int:
    """Store the pairs that may contradict each other, each once, with an event; return how many are new.

    A fact that is gone by now is compared when it is back.
    """
    topic, others = Topic(fact.content), [(each, Topic(each.content)) for each in alike]
    scored = [(topic.similarity(other), each) for each, other in others if topic.may_contradict(other)]
    scored.sort(key=lambda pair: (-pair[0], pair[1].pk))
    locked = lock_rows(
        fact.owner_id,
        [fact.pk, *(each.pk for _score, each in scored)],
    )
    still = {pk for pk, row in locked.items() if is_settled(row)}
    if fact.pk not in still:
        return 0
    Memory.objects.filter(pk=fact.pk).update(compared_at=now)
    pairs = []
    for similarity, other in [pair for pair in scored if pair[1].pk in still][:MAX_CONFLICTS]:
        older, newer = sorted((fact, other), key=lambda row: (row.created_at, row.pk))
        fields = {
            "older": older,
            "newer": newer,
            "similarity": similarity,
            "found_at": now,
        }
        pairs.append(FactConflict(owner_id=fact.owner_id, **fields))
    stored = FactConflict.objects.filter(older__in=[pair.older_id for pair in pairs])
    known = set(stored.values_list("older_id", "newer_id"))
    new = [pair for pair in pairs if (pair.older_id, pair.newer_id) not in known]
    FactConflict.objects.bulk_create(new)
    steps = [Step(EventKind.CONFLICT_FOUND, pair.newer_id, pair.older_id) for pair in new]
    note(
        fact.owner_id,
        steps,
        decider=Decider.RULE,
        actor=ACTOR,
        now=now,
        run_id=run_id,
    )
    return len(new)
