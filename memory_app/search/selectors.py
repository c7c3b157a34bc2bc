"""The search: parse, look up by words and by meaning, rank, mark. One function for the page, the API and the tool."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext as _

from memory_app.held.core import Kind
from memory_app.memories.core import Category, Source
from memory_app.memories.models import Memory
from memory_app.memories.selectors import find_refused
from memory_app.search.adapters import backend, time_limit
from memory_app.search.adapters.sql import midnight
from memory_app.search.core.document import Kind as DocumentKind
from memory_app.search.core.fusion import DEPTH, Fuser, Neighbours, Pool, ids_around, widened
from memory_app.search.core.highlight import Highlighter, Segment
from memory_app.search.core.parser import MAX_QUERY_CHARS, parse_query
from memory_app.search.core.query import Filters, Node, Note, NoteCode, Query
from memory_app.search.core.rank import Fused, Ranked, Ranker, Scored
from memory_app.search.core.request import Facts, Fusion, SearchRequest, Sort
from memory_app.search.meaning import Meaning, read_meaning
from memory_app.search.past import Engine, PastSearch, count_deleted_since, search_past
from minara_site.kernel.core.tickers import extract_finance_entities
from minara_site.kernel.errors import FieldError, Invalid
from minara_site.kernel.guard.selectors import judge_stored
from minara_site.kernel.ownership import EVERYONE, Owner
from minara_site.kernel.plain_text import storable_problem

MOST_MATCHES = 4_000
MOST_CHOSEN = 200


@dataclass(frozen=True)
class Explanation:
    """Why a memory was found and where it stands: `rank_before` is its place (from 1) by BM25 alone.

    `fused` is None when words alone made the order; with it a place of 0 says that BM25 has not found the memory.
    """

    matched: tuple[str, ...]
    bm25: float
    closeness: float
    entities: tuple[str, ...]
    rank_before: int
    rank: int
    fused: Fused | None = None


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
    fusion: Fusion = Fusion.DEFAULT,
    as_of: datetime | None = None,
    explain: bool = False,
    using: str = DEFAULT_DB_ALIAS,
) -> SearchResult:
    """Return the live memories of an owner that a query finds, by their words and by their meaning.

    Without vectors, provider or answer of the provider, and where the vectors take too long to read, the words alone
    find, exactly as with the fusion `text` (trust R-44); so they do across all owners, with operators, and in the order
    of time. `as_of` finds what was live then.
    Raises Invalid for a query that is too long or no text, and SearchTooSlow.
    """
    parsed = read_query(query, category=category, source=source)
    if parsed.is_empty:
        return SearchResult(parsed, (), parsed.notes)
    ranker = Ranker(parsed.node, extract_finance_entities(query))
    request = request_of(parsed, owner, ranker, sort=sort, as_of=as_of)
    meaning = read_meaning(request, parsed, fusion, using=using)
    with time_limit(using):
        engine = engine_of(owner, as_of, using=using)
        ranked = find_accepted(engine, request, ranker, limit=limit, using=using, meaning=meaning)
        notes = (*parsed.notes, *notes_of_then(owner, request, using=using))
    highlighter = Highlighter(parsed.node, parsed.literal)
    hits = [to_hit(each, highlighter, rank, explain=explain) for rank, each in enumerate(ranked, start=1)]
    return SearchResult(parsed, tuple(hits), notes)


def request_of(
    parsed: Query, owner: Owner, ranker: Ranker, *, sort: Sort = Sort.RELEVANCE, as_of: datetime | None = None
) -> SearchRequest:
    """Return what the engine is asked; with nothing to rank by, the newest come first."""
    order = sort if ranker.terms else Sort.RECENT
    return SearchRequest(owner_id_of(owner), parsed.node, parsed.literal, parsed.filters, order, as_of)


def engine_of(owner: Owner, as_of: datetime | None, *, using: str) -> Engine:
    """Return the search of this database, now or as it stood at a moment."""
    now = backend(using)
    return now if as_of is None else search_past(now, as_of, Memory.objects.using(using).for_owner(owner))


def notes_of_then(owner: Owner, request: SearchRequest, *, using: str) -> Iterator[Note]:
    """Yield a note on what an earlier search found and has been deleted since."""
    if request.as_of is not None and request.node is not None:
        rows = Memory.objects.using(using).for_owner(owner).filter(kept_by(request.filters))
        deleted = count_deleted_since(matching(rows, request.owner_id, request.node), request.as_of)
        if deleted:
            yield Note(NoteCode.DELETED_SINCE, str(deleted))


def find(
    engine: Engine, request: SearchRequest, ranker: Ranker, *, limit: int, using: str, meaning: Meaning | None
) -> list[Ranked]:
    """Return the hits of a request in its order."""
    if meaning is not None:
        pool = gather(engine, request, ranker, meaning, limit=limit)
        if pool is not None:
            return Fuser(pool, ranker).order(meaning.fusion, most=limit)
    extra = len(engine.changed) if isinstance(engine, PastSearch) else 0  # they come first, whatever their time
    scored, facts = look_live(engine, request, ranker, limit=limit + extra)
    if request.sort is Sort.RECENT:
        ranked = [ranker.ranked(each, facts[each.id]) for each in scored if each.id in facts]
        newest = sorted(ranked, key=lambda each: (each.facts.updated_at, each.facts.id), reverse=True)
        return newest[:limit]
    return ranker.by_entities(scored, facts)[:limit]


def gather(engine: Engine, request: SearchRequest, ranker: Ranker, meaning: Meaning, *, limit: int) -> Pool | None:
    """Return what words and meaning find, with neighbours; None without a vector to compare with."""
    cosines = meaning.cosines
    if not cosines:
        return None
    depth = max(limit, DEPTH)
    scored, facts = look_live(engine, request, ranker, limit=depth)
    neighbours = Neighbours(list(cosines))
    chosen = widened([each.id for each in scored], list(cosines)[:depth], neighbours)
    missing = dict.fromkeys(each for each in ids_around(chosen, neighbours) if each not in facts)
    if missing:
        facts = facts | engine.load(list(missing), request)
    return Pool(scored, cosines, facts, neighbours, meaning.words, depth)


def find_accepted(
    engine: Engine,
    request: SearchRequest,
    ranker: Ranker,
    *,
    limit: int,
    using: str,
    meaning: Meaning | None = None,
) -> list[Ranked]:
    """Return the hits that the guard lets in; where it refuses some, the next ones take their places."""
    most = limit
    while True:
        ranked = find(engine, request, ranker, limit=most, using=using, meaning=meaning)
        accepted = leave_out_refused(engine, ranked, using=using)
        if len(accepted) >= limit or len(ranked) < most or most > MOST_MATCHES:
            return accepted[:limit]
        most *= 2


def leave_out_refused(engine: Engine, ranked: list[Ranked], *, using: str) -> list[Ranked]:
    """Leave out what today's rules refuse though others accepted it; the guard's job will hold it (P-04)."""
    if not ranked:
        return ranked
    ids = [each.facts.id for each in ranked]
    refused = find_refused(Memory.objects.using(using).filter(pk__in=ids).only("rules_version"))
    if isinstance(engine, PastSearch):
        texts = {each.facts.id: each.facts.content for each in ranked if each.facts.id in engine.changed}
        refused |= {pk for pk, verdict in judge_stored(Kind.MEMORY, texts).items() if verdict.is_held}
    return [each for each in ranked if each.facts.id not in refused]


def look_live(
    engine: Engine, request: SearchRequest, ranker: Ranker, *, limit: int
) -> tuple[list[Scored], dict[int, Facts]]:
    """Return what `look` does; when some of the best were deleted, look again at live memories only."""
    scored, facts = look(engine, request, ranker, limit=limit, is_checked=request.asks_memories)
    if len(facts) < len(scored):
        return look(engine, request, ranker, limit=limit, is_checked=True)
    return scored, facts


def look(
    engine: Engine, request: SearchRequest, ranker: Ranker, *, limit: int, is_checked: bool
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
        rows = matching(rows, owner_id_of(owner), parsed.node)
    elif parsed.literal:
        rows = rows.filter(content__icontains=parsed.literal)
    return rows.filter(kept_by(parsed.filters))


def narrow_entries(rows: "QuerySet[Any]", *, owner: Owner, query: str) -> "QuerySet[Any]":
    """Keep the entries of role memory that a query finds, whatever their order and state. Raises Invalid.

    Days are of `decided_at`. Entries have neither category nor source: who asks for one finds nothing.
    """
    parsed = read_query(query)
    filters = parsed.filters
    if filters.categories or filters.sources:
        return rows.none()
    if parsed.node is not None:
        rows = matching(rows, owner_id_of(owner), parsed.node, DocumentKind.ROLE_MEMORY)
    elif parsed.literal:
        rows = rows.filter(Q(decision__icontains=parsed.literal) | is_learned(parsed.literal))
    return rows.filter(within(filters, "decided_at"))


def is_learned(literal: str) -> Q:
    """Return the condition that what an entry taught has this text in it; what the guard holds of that is not read."""
    learned = Q(narrative__icontains=literal) | Q(lesson__icontains=literal)
    return Q(lesson_held_at__isnull=True) & learned


def matching(
    rows: "QuerySet[Any]", owner_id: int | None, node: Node, kind: DocumentKind = DocumentKind.MEMORY
) -> "QuerySet[Any]":
    """Keep the rows whose words match, memories or those of another kind."""
    sql, values = backend(rows.db).matching(owner_id, node, kind)
    return rows.filter(pk__in=RawSQL(sql, values))  # noqa: S611 the values are parameters


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
    return kept & within(filters, "updated_at")


def within(filters: Filters, moment: str) -> Q:
    """Return the days of a query as a condition on this column."""
    kept = Q()
    if filters.after:
        kept &= Q(**{f"{moment}__gte": midnight(filters.after)})
    if filters.before:
        kept &= Q(**{f"{moment}__lt": midnight(filters.before)})
    return kept


def to_hit(ranked: Ranked, highlighter: Highlighter, rank: int, *, explain: bool) -> Hit:
    """Return a hit as callers see it."""
    found, scored = ranked.facts, ranked.scored
    marked = highlighter.mark(found.content, scored.body)
    explanation = None
    if explain:
        names = tuple(entity.key for entity in ranked.entities)
        before = scored.rank if ranked.fused else scored.rank or rank
        explanation = Explanation(marked.matched, scored.bm25, scored.closeness, names, before, rank, ranked.fused)
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
