"""The search: parse, look up, rank, mark. One function for the page, the API and the tool."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext as _

from memory_app.memories.core import Category, Source
from memory_app.memories.models import Memory
from memory_app.memories.selectors import find_refused
from memory_app.search.adapters import SearchBackend, backend, time_limit
from memory_app.search.adapters.sql import midnight
from memory_app.search.core.highlight import Highlighter, Segment
from memory_app.search.core.parser import MAX_QUERY_CHARS, parse_query
from memory_app.search.core.query import Filters, Note, Query
from memory_app.search.core.rank import Ranked, Ranker, Scored
from memory_app.search.core.request import Facts, SearchRequest, Sort
from minara_site.kernel.core.tickers import extract_entities
from minara_site.kernel.errors import FieldError, Invalid
from minara_site.kernel.ownership import EVERYONE, Owner
from minara_site.kernel.plain_text import storable_problem

MOST_MATCHES = 4_000
MOST_CHOSEN = 200


@dataclass(frozen=True)
class Explanation:
    """Why a memory was found and where it stands: `rank_before` is its place (from 1) by BM25 alone."""

    matched: tuple[str, ...]
    bm25: float
    closeness: float
    entities: tuple[str, ...]
    rank_before: int
    rank: int


@dataclass(frozen=True)
class Hit:
    """One memory that was found. `highlights` joined are its content; `explain` is None unless asked for."""

    id: int
    owner_id: int
    category: str
    content: str
    source: str | None
    origin: str
    score: float
    updated_at: datetime
    highlights: tuple[Segment, ...]
    explain: Explanation | None


@dataclass(frozen=True)
class SearchResult:
    """The hits of a query, best or newest first, and what the parser had to say."""

    query: Query
    hits: tuple[Hit, ...]
    notes: tuple[Note, ...]


def search_memories(
    *,
    owner: Owner,
    query: str,
    limit: int = 10,
    category: Category | None = None,
    source: Source | None = None,
    sort: Sort = Sort.RELEVANCE,
    explain: bool = False,
    using: str = DEFAULT_DB_ALIAS,
) -> SearchResult:
    """Return the live memories of an owner that a query finds.

    Raises Invalid for a query that is too long or no text, and SearchTooSlow.
    """
    parsed = read_query(query, category=category, source=source)
    if parsed.is_empty:
        return SearchResult(parsed, (), parsed.notes)
    ranker = Ranker(parsed.node, extract_entities(query))
    order = sort if ranker.terms else Sort.RECENT  # with nothing to rank by, the newest come first
    request = SearchRequest(owner_id_of(owner), parsed.node, parsed.literal, parsed.filters, order)
    with time_limit(using):
        ranked = find_accepted(backend(using), request, ranker, limit=limit, using=using)
    highlighter = Highlighter(parsed.node, parsed.literal)
    hits = [to_hit(each, highlighter, rank, explain=explain) for rank, each in enumerate(ranked, start=1)]
    return SearchResult(parsed, tuple(hits), parsed.notes)


def find(engine: SearchBackend, request: SearchRequest, ranker: Ranker, *, limit: int) -> list[Ranked]:
    """Return the hits of a request in its order."""
    scored, facts = look(engine, request, ranker, limit=limit, is_checked=request.asks_memories)
    if len(facts) < len(scored):  # some of the best were deleted: look again, at live memories only
        scored, facts = look(engine, request, ranker, limit=limit, is_checked=True)
    if request.sort is Sort.RECENT:
        return [ranker.ranked(each, facts[each.id]) for each in scored if each.id in facts]
    return ranker.by_entities(scored, facts)[:limit]


def find_accepted(
    engine: SearchBackend, request: SearchRequest, ranker: Ranker, *, limit: int, using: str
) -> list[Ranked]:
    """Return the hits that the guard lets in; where it refuses some, the next ones take their places."""
    most = limit
    while True:
        ranked = find(engine, request, ranker, limit=most)
        accepted = leave_out_refused(ranked, using=using)
        if len(accepted) >= limit or len(ranked) < most or most > MOST_MATCHES:
            return accepted[:limit]
        most *= 2


def leave_out_refused(ranked: list[Ranked], *, using: str) -> list[Ranked]:
    """Leave out what today's rules refuse though others accepted it; the guard's job will hold it (P-04)."""
    if not ranked:
        return ranked
    ids = [each.facts.id for each in ranked]
    refused = find_refused(Memory.objects.using(using).filter(pk__in=ids).only("rules_version"))
    return [each for each in ranked if each.facts.id not in refused]


def look(
    engine: SearchBackend, request: SearchRequest, ranker: Ranker, *, limit: int, is_checked: bool
) -> tuple[list[Scored], dict[int, Facts]]:
    """Return what can be among the hits, best by words or newest first, and what is known of each."""
    matches = engine.match(request, most=MOST_MATCHES + 1, is_checked=is_checked)
    if request.node is None or request.sort is Sort.RECENT:
        scored = ranker.as_they_come(matches, limit=limit)
    elif len(matches.ids) <= MOST_MATCHES:
        scored = ranker.by_words(matches, limit=limit)
    else:  # too many to score each: the engine's own rank chooses
        best = engine.best(request, request.node, most=max(limit, MOST_CHOSEN))
        scored = ranker.by_words(best, limit=limit, frequencies=engine.frequencies(request.owner_id, ranker.terms))
    return scored, engine.load([each.id for each in scored], request) if scored else {}


def narrow(rows: "QuerySet[Any]", *, owner: Owner, query: str) -> "QuerySet[Any]":
    """Keep the memories of a list that a query finds, whatever their order and state. Raises Invalid."""
    parsed = read_query(query)
    if parsed.node is not None:
        sql, values = backend(rows.db).matching(owner_id_of(owner), parsed.node)
        rows = rows.filter(pk__in=RawSQL(sql, values))  # noqa: S611 the values are parameters
    elif parsed.literal:
        rows = rows.filter(content__icontains=parsed.literal)
    return rows.filter(kept_by(parsed.filters))


def limited(query: str | None, *, using: str = DEFAULT_DB_ALIAS) -> AbstractContextManager[None]:
    """Read within the time limit of the search what `narrow` left by this query. Raises SearchTooSlow."""
    return time_limit(using) if query else nullcontext()


def read_query(text: str, *, category: Category | None = None, source: Source | None = None) -> Query:
    """Return the parsed query with the filters of the door added. Raises Invalid."""
    problem = storable_problem(text)
    if len(text) > MAX_QUERY_CHARS:
        problem = _("Shorten the query to %(max)d characters; it has %(now)d.") % {
            "max": MAX_QUERY_CHARS,
            "now": len(text),
        }
    if problem is not None:
        raise Invalid(problem, errors=(FieldError("q", problem),))
    parsed = parse_query(text)
    filters = parsed.filters
    if category is not None:
        filters = replace(filters, categories=frozenset({category.value}))
    if source is not None:
        filters = replace(filters, sources=frozenset({source.value}))
    return replace(parsed, filters=filters)


def owner_id_of(owner: Owner) -> int | None:
    """Return the id that the index narrows by; None is everybody."""
    return None if owner is EVERYONE else owner.pk


def kept_by(filters: Filters) -> Q:
    """Return the filters of a query as a condition on memories."""
    kept = Q()
    if filters.categories:
        kept &= Q(category__in=filters.categories)
    if filters.not_categories:
        kept &= ~Q(category__in=filters.not_categories)
    if filters.sources:
        kept &= Q(source__in=filters.sources)
    if filters.not_sources:
        kept &= Q(source__isnull=True) | ~Q(source__in=filters.not_sources)
    if filters.after:
        kept &= Q(updated_at__gte=midnight(filters.after))
    if filters.before:
        kept &= Q(updated_at__lt=midnight(filters.before))
    return kept


def to_hit(ranked: Ranked, highlighter: Highlighter, rank: int, *, explain: bool) -> Hit:
    """Return a hit as callers see it."""
    found, scored = ranked.facts, ranked.scored
    marked = highlighter.mark(found.content, scored.body)
    explanation = None
    if explain:
        names = tuple(entity.key for entity in ranked.entities)
        explanation = Explanation(marked.matched, scored.bm25, scored.closeness, names, scored.rank or rank, rank)
    return Hit(
        id=found.id,
        owner_id=found.owner_id,
        category=found.category,
        content=found.content,
        source=found.source,
        origin=found.origin,
        score=ranked.score,
        updated_at=found.updated_at,
        highlights=marked.segments,
        explain=explanation,
    )
