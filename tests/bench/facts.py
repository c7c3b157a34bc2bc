"""What a sweep over pending facts takes, for 1 000 and for 10 000 of them: it must grow no faster than they do."""

import time
from pathlib import Path

from django.utils import timezone

from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.services import consolidate_pending, find_conflicts
from memory_app.facts.services.compare import MAX_COMPARED
from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memories
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from tests.bench.figures import Figure
from tests.bench.texts import make_texts

MANY, FEW, SMALL = 10_000, 1_000, 200
AT_MOST_SECONDS = 30
AT_MOST_TIMES = 1.5  # the seconds of one fact among many beside those of one among few
COPIES = 2  # of each text, so that half of the facts are retired


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Sweep the facts of two owners, and look for contradictions among the larger lot."""
    few, many = (SMALL, SMALL * 5) if small else (FEW, MANY)
    few_seconds = sweep(User.objects.create(username="few"), few)
    many_seconds = sweep(User.objects.get(is_default=True), many)
    times = (many_seconds / many) / (few_seconds / few)
    begun = time.perf_counter()
    find_conflicts(now=timezone.now())
    look_seconds = time.perf_counter() - begun
    return [
        Figure(
            name=f"sweep of {many:,} pending facts",
            value=many_seconds,
            unit="s",
            bound=f"at most {AT_MOST_SECONDS}",
            ok=many_seconds <= AT_MOST_SECONDS,
            reference=f"{many / many_seconds:,.0f} facts/s, half of them retired; {few:,} in {few_seconds:.2f} s",
        ),
        Figure(
            name="one fact of many beside one of few",
            value=times,
            unit="x",
            bound=f"at most {AT_MOST_TIMES}",
            ok=small or times <= AT_MOST_TIMES,
            reference=f"{many / few:.0f} times as many facts",
        ),
        Figure(
            name=f"look for contradictions of {MAX_COMPARED} facts among {many:,}",
            value=look_seconds,
            unit="s",
            reference="what one run of the job does",
        ),
    ]


def sweep(owner: User, count: int) -> float:
    """Return the seconds that it takes to consolidate so many facts of an owner."""
    provenance = Provenance(Source.AGENT_RECORDED, "key:bench")
    texts = [f"{text} #{number}" for number, text in enumerate(make_texts(count // COPIES))]
    drafts = (Draft(Category.FACT, text, provenance) for text in texts * COPIES)
    write_memories(owner_id=owner.pk, drafts=drafts, now=timezone.now(), actor="bench", tool_call="bench")
    begun = time.perf_counter()
    counts = consolidate_pending(now=timezone.now())
    seconds = time.perf_counter() - begun
    assert counts == {"settled": count // COPIES, "deduplicated": count - count // COPIES}
    assert ConsolidationEvent.objects.filter(owner=owner).count() == count
    assert Memory.objects.filter(owner=owner, fact_state="retired").count() == count - count // COPIES
    return seconds
