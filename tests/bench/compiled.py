"""A compiled page at 20 000 memories of its owner: made for the first time, and out of the cache."""

import statistics
from collections.abc import Callable
from pathlib import Path

from django.utils import timezone

from memory_app.memories.services import Draft, write_memories
from memory_app.pages.cache import PAGES
from memory_app.pages.selectors import PageScope, get_versions, load_page, open_asset
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from tests.bench.figures import Figure, timed
from tests.bench.texts import CATEGORIES, make_texts, make_times

MEMORIES, FEW = 20_000, 500
ROUNDS = 200
MAX_CACHED_MS = 1.0


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure the page of BTC, which most of the texts mention."""
    owner, count = User.objects.get(is_default=True), FEW if small else MEMORIES
    provenance = Provenance(Source.AGENT_RECORDED, "bench")
    texts = zip(make_texts(count), make_times(count), strict=True)
    drafts = (
        Draft(Category(CATEGORIES[number % len(CATEGORIES)]), text, provenance, written_at=at)
        for number, (text, at) in enumerate(texts)
    )
    write_memories(
        owner_id=owner.pk,
        drafts=drafts,
        now=timezone.now(),
        actor="bench",
        tool_call="memory_write",
    )
    asked, now = PageScope(owner, open_asset("BTC"), hard_constraints=True), timezone.now()

    def read() -> object:
        return load_page(asked, reader=owner, now=now)

    first = [timed_first(read) for _ in range(ROUNDS // 10)]
    cached = [timed(read) for _ in range(ROUNDS)]
    version = statistics.median(timed(lambda: get_versions(owner.pk)) for _ in range(ROUNDS))
    size = len(load_page(asked, reader=owner, now=now).markdown.encode())
    return [
        Figure(
            name="compiled page, for the first time, median",
            value=statistics.median(first) * 1_000,
            unit="ms",
            reference=f"{size:,} bytes out of {count:,} memories",
        ),
        Figure(
            name="compiled page, cached, median",
            value=statistics.median(cached) * 1_000,
            unit="ms",
            bound=f"under {MAX_CACHED_MS:g}",
            ok=statistics.median(cached) * 1_000 < MAX_CACHED_MS,
            reference=f"{version * 1_000:.3f} ms of it is the look at the version in the database",
        ),
    ]


def timed_first(read: Callable[[], object]) -> float:
    """Return the seconds of a read that finds nothing in the cache."""
    PAGES.clear()
    return timed(read)
