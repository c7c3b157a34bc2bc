"""The tool `memory_search`: what an agent asks during a turn. Source: S1 (memory_search)."""

from typing import Annotated, Any

from django.utils import timezone
from pydantic import Field

from memory_app.index.core.parser import MAX_QUERY_CHARS
from memory_app.index.core.request import Fusion
from memory_app.index.pages import note_text
from memory_app.search.answers import hit_records
from memory_app.search.log import log_search
from memory_app.search.past import MAX_MOMENT_CHARS, read_moment
from memory_app.search.selectors import SearchResult, search_memories
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.core.vocabulary import Category
from minara_site.kernel.ownership import Owner
from minara_site.web.schemas import Strict


class MemorySearchArgs(Strict):
    """Arguments of memory_search."""

    query: Annotated[
        str,
        Field(
            description='Words (any of them; an asset by any name), "exact phrase", prefix*, AND, OR, NOT, '
            f"category:lesson, asset:ETH, after:2026-05. The first {MAX_QUERY_CHARS} characters count."
        ),
    ]
    limit: Annotated[int, Field(ge=1, le=200, description="How many, best match first.")] = 10
    category: Annotated[Category | None, Field(description="Only this category; leave out for all.")] = None
    fusion: Annotated[Fusion, Field(description="How words and meaning are joined; leave out for the default.")] = (
        Fusion.DEFAULT
    )
    as_of: Annotated[
        str | None,
        Field(
            max_length=MAX_MOMENT_CHARS,
            description="Find what was known at this ISO time or day; leave out for now.",
        ),
    ] = None


def memory_search(
    principal: Principal,
    args: MemorySearchArgs,
    *,
    reasoning: str,
) -> dict[str, Any]:
    """Return the memories that a query finds, best match first."""
    owner = principal.reads(Act.SEARCH)
    found = search_memories(
        owner=owner,
        query=args.query,
        limit=args.limit,
        category=args.category,
        fusion=args.fusion,
        as_of=None if args.as_of is None else read_moment(args.as_of),
    )
    return answer_hits(principal, owner, args.query, found)


def answer_hits(principal: Principal, owner: Owner, query: str, found: SearchResult) -> dict[str, Any]:
    """Log what a query found and return it as tools answer it."""
    ids = [hit.id for hit in found.hits]
    log_search(principal=principal, owner=owner, query=query, ids=ids, now=timezone.now())
    items = hit_records(found.hits, reader=principal.owner)
    return {"items": items, "notes": [note_text(note) for note in found.notes]}
