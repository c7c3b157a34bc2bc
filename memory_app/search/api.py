"""`/v1/memory/search`. Shape: the contract."""

from datetime import datetime
from typing import Annotated, Any

from django.utils import timezone
from ninja import Query, Schema
from pydantic import Field

from memory_app.index.core.parser import MAX_QUERY_CHARS
from memory_app.index.core.request import Fusion, Sort
from memory_app.index.pages import note_text
from memory_app.memories.api import ConflictOut, WriterOut
from memory_app.search.answers import hit_records
from memory_app.search.core.surfaces import Surface
from memory_app.search.log import log_search
from memory_app.search.past import MAX_MOMENT_CHARS, read_moment
from memory_app.search.selectors import search_memories
from minara_site.access.access_log import log_listed
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.shell.pages import PageRequest
from minara_site.web.schemas import Data, OwnerQuery, Record

router = ApiRouter(tags=["memory"])


class FeatureOut(Record):
    """A feature of a hit, and what it adds to the logarithm of the score."""

    name: str
    value: float
    contribution: float


class FusionOut(Record):
    """How words and meaning made the score. A rank is null where that arm has not found the memory."""

    name: Fusion
    text_rank: int | None
    meaning_rank: int | None
    cosine: float | None
    features: list[FeatureOut]


class ExplanationOut(Record):
    """Why a memory was found. `rank_before` is by bm25 alone, 0 where words have not found it.

    By words alone, score = (bm25 + closeness) x (1 + 0.3 x entities). With `fusion`, which is there when meaning had a
    say, score = e^(sum of contributions) x (1 + 0.3 x entities), and for rrf (sum of 1 / (60 + rank)) x the same.
    """

    matched: list[str]
    bm25: float
    closeness: float
    entities: list[str]
    rank_before: int
    rank: int
    fusion: FusionOut | None = None


class HitOut(Record):
    """A memory that was found."""

    id: int
    category: Category
    content: str
    source: Source | None
    writer: WriterOut
    score: float
    updated_at: datetime
    conflict: ConflictOut | None = None
    explain: ExplanationOut | None = None


class HitsOut(Schema):
    """The hits, and remarks on how the query was read. There is one page: `limit` says how long it is."""

    items: list[HitOut]
    next_cursor: None
    notes: list[str]


class SearchQuery(OwnerQuery):
    """A query and how to answer it."""

    q: Annotated[str, Field(description=f"What to find. Its first {MAX_QUERY_CHARS} characters count; a note says so.")]
    limit: Annotated[int, Field(ge=1, le=200)] = 10
    category: Category | None = None
    sort: Sort = Sort.RELEVANCE
    fusion: Annotated[Fusion, Field(description="How words and meaning are joined; rrf is reciprocal rank fusion.")] = (
        Fusion.DEFAULT
    )
    as_of: Annotated[
        str | None,
        Field(max_length=MAX_MOMENT_CHARS, description="Find what was live at this time, or at the end of this day."),
    ] = None
    explain: bool = False


@router.get(
    "/memory/search",
    "Search memories",
    Act.SEARCH,
    Data[HitsOut],
    exclude_unset=True,
)
def search(request: PageRequest, query: Query[SearchQuery]) -> dict[str, Any]:
    """Find memories by words and meaning, best first.

    Syntax: words, "phrase", pre*, AND, OR, NOT, category:lesson, asset:ETH. By default, words find assets by any name.
    """
    now, owner = timezone.now(), request.principal.reads(Act.SEARCH, query.owner)
    found = search_memories(
        owner=owner,
        query=query.q,
        limit=query.limit,
        category=query.category,
        sort=query.sort,
        fusion=query.fusion,
        as_of=None if query.as_of is None else read_moment(query.as_of),
        explain=query.explain,
    )
    log_listed(request.principal, found.hits, kind="memories", now=now)
    ids = [hit.id for hit in found.hits]
    log_search(
        principal=request.principal,
        owner=owner,
        query=query.q,
        ids=ids,
        now=now,
        door=Surface.API,
    )
    reader = request.principal.owner
    items = hit_records([hit.for_reader(reader) for hit in found.hits], reader=reader)
    notes = [note_text(note) for note in found.notes]
    return {"ok": True, "data": {"items": items, "next_cursor": None, "notes": notes}}
