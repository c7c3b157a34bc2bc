"""The search: parse, look up by words and by meaning, rank, mark. One function for the page, the API and the tool."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Self

from django.db import DEFAULT_DB_ALIAS

from memory_app.index.adapters import backend, time_limit
from memory_app.index.core.highlight import Highlighter
from memory_app.index.core.query import Note, NoteCode, Query
from memory_app.index.core.request import Facts, Fusion, SearchRequest, Sort
from memory_app.index.selectors import kept_by, matching, owner_id_of, read_query, unquoted
from memory_app.memories.core import MEMORY_KIND, is_hard
from memory_app.memories.models import Memory
from memory_app.memories.selectors import find_refused_of
from memory_app.search.core.fusion import DEPTH, Fuser, Neighbours, Pool, ids_around, widened
from memory_app.search.core.rank import Fused, Ranked, Ranker, Scored
from memory_app.search.meaning import Meaning, read_meaning
from memory_app.search.past import Engine, PastSearch, count_deleted_since, search_past
from minara_site.access.models import User
from minara_site.kernel.core.excerpt import Segment
from minara_site.kernel.core.tickers import extract_finance_entities
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.masking import mask, mask_segments
from minara_site.kernel.guard.selectors import judge_stored
from minara_site.kernel.ownership import Owner

MAX_MATCHES = 4_000
MAX_CHOSEN = 200


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
    actor: str
    score: float
    updated_at: datetime
    highlights: tuple[Segment, ...]
    explain: Explanation | None
    is_hard: bool = False

    def for_reader(self, reader: User) -> Self:
        """Return it as this person may see it: secrets of another owner are masked."""
        if self.owner_id == reader.pk:
            return self
        return replace(
            self,
            content=mask(self.content),
            highlights=mask_segments(self.highlights),
        )


@dataclass(frozen=True)
class SearchResult:
    """The hits of a query, best or newest first, and what the parser had to say."""

    hits: tuple[Hit, ...]
    notes: tuple[Note, ...]


def search_memories(
    *,
    owner: Owner,
    query: str,
    limit: int = 10,
    category: Category | None = None,
    source: Source | None = None,
    is_personal: bool = False,
    sort: Sort = Sort.RELEVANCE,
    fusion: Fusion = Fusion.DEFAULT,
    as_of: datetime | None = None,
    explain: bool = False,
    using: str = DEFAULT_DB_ALIAS,
) -> SearchResult:
    """Return the live memories of an owner that a query finds, by their words and by their meaning.

    Without vectors, provider or answer of the provider, and where the vectors take too long to read, the words alone
    find, in one order whatever the reason (trust R-44); so they do across all owners, with operators, and in the order
    of time. The default fusion finds an asset by all its names, the others, S1's, by those that were typed. `as_of`
    finds what was live then. `is_personal` keeps personalization memories and settled facts, of now alone. Where a
    phrase in quotes keeps everything out, its words find.
    Raises Invalid for a query that is no text, and SearchTooSlow.
    """
    parsed = read_query(
        query,
        category=category,
        source=source,
        is_personal=is_personal,
        names_assets=fusion is Fusion.DEFAULT,
    )
    if parsed.is_empty:
        return SearchResult((), parsed.notes)

    find_hits = partial(
        find_parsed,
        owner=owner,
        limit=limit,
        sort=sort,
        fusion=fusion,
        as_of=as_of,
        explain=explain,
        using=using,
    )
    result = find_hits(parsed)
    unquoted_result = find_hits(unquoted(parsed)) if parsed.is_exact and not result.hits else result
    return unquoted_result if unquoted_result.hits else result


def find_parsed(
    parsed: Query,
    *,
    owner: Owner,
    limit: int,
    sort: Sort,
    fusion: Fusion,
    as_of: datetime | None,
    explain: bool,
    using: str,
) -> SearchResult:
    """Return what a parsed query finds, exactly as it was read."""
    ranker = Ranker(parsed.node, extract_finance_entities(parsed.text))
    request = request_of(parsed, owner, ranker, sort=sort, as_of=as_of)
    meaning = read_meaning(request, parsed, fusion, using=using)
    with time_limit(using):
        engine = engine_of(owner, as_of, using=using)
        ranked = find_accepted(
            engine,
            request,
            ranker,
            limit=limit,
            using=using,
            meaning=meaning,
        )
        notes = notes_on(
            parsed,
            engine,
            request,
            ranked,
            owner=owner,
            limit=limit,
            using=using,
        )
    highlighter = Highlighter(parsed.node, parsed.literal)
    hits = [to_hit(each, highlighter, rank, explain=explain) for rank, each in enumerate(ranked, start=1)]
    return SearchResult(tuple(hits), notes)


def request_of(
    parsed: Query,
    owner: Owner,
    ranker: Ranker,
    *,
    sort: Sort = Sort.RELEVANCE,
    as_of: datetime | None = None,
) -> SearchRequest:
    """Return what the engine is asked; with nothing to rank by, the newest come first."""
    order = sort if ranker.terms else Sort.RECENT
    return SearchRequest(
        owner_id_of(owner),
        parsed.node,
        parsed.literal,
        parsed.filters,
        order,
        as_of,
    )


def engine_of(owner: Owner, as_of: datetime | None, *, using: str) -> Engine:
    """Return the search of this database, now or as it stood at a moment."""
    now = backend(using)
    return now if as_of is None else search_past(now, as_of, Memory.objects.using(using).for_owner(owner))


def notes_on(
    parsed: Query,
    engine: Engine,
    request: SearchRequest,
    ranked: Sequence[Ranked],
    *,
    owner: Owner,
    limit: int,
    using: str,
) -> tuple[Note, ...]:
    """Return what is to be said of a query and of what it found."""
    notes = [*parsed.notes, *notes_of_then(owner, request, using=using)]
    if misses_common(
        parsed,
        engine,
        request,
        {each.facts.id for each in ranked},
        limit=limit,
    ):
        notes.append(Note(NoteCode.COMMON_WORDS, ", ".join(parsed.left_out)))
    return tuple(notes)


def misses_common(
    parsed: Query,
    engine: Engine,
    request: SearchRequest,
    found: set[int],
    *,
    limit: int,
) -> bool:
    """Say whether a memory would be among the hits with the common words that were left out.

    What they alone find comes last by relevance, so that it has no place where the hits are as many as were asked for.
    """
    if not parsed.left_out or (len(found) >= limit and request.sort is Sort.RELEVANCE):
        return False
    matches = engine.match(
        replace(request, node=parsed.whole),
        most=min(limit, len(found) + 1),
        is_checked=True,
    )
    return not found.issuperset(matches.ids)


def notes_of_then(
    owner: Owner,
    request: SearchRequest,
    *,
    using: str,
) -> Iterator[Note]:
    """Yield a note on what an earlier search found and has been deleted since."""
    if request.as_of is not None and request.node is not None:
        rows = Memory.objects.using(using).for_owner(owner).filter(kept_by(request.filters, request.owner_id))
        deleted = count_deleted_since(
            matching(rows, request.owner_id, request.node),
            request.as_of,
        )
        if deleted:
            yield Note(NoteCode.DELETED_SINCE, str(deleted))


def find(
    engine: Engine,
    request: SearchRequest,
    ranker: Ranker,
    *,
    limit: int,
    meaning: Meaning | None,
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
        newest = sorted(
            ranked,
            key=lambda each: (each.facts.updated_at, each.facts.id),
            reverse=True,
        )
        return newest[:limit]
    return ranker.by_entities(scored, facts, most=limit)


def gather(
    engine: Engine,
    request: SearchRequest,
    ranker: Ranker,
    meaning: Meaning,
    *,
    limit: int,
) -> Pool | None:
    """Return what words and meaning find, with neighbours; None without a vector to compare with."""
    cosines = meaning.cosines
    if not cosines:
        return None
    depth = max(limit, DEPTH)
    scored, facts = look_live(engine, request, ranker, limit=depth)
    neighbours = Neighbours(list(cosines))
    chosen = widened(
        [each.id for each in scored],
        list(cosines)[:depth],
        neighbours,
    )
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
        ranked = find(
            engine,
            request,
            ranker,
            limit=most,
            meaning=meaning,
        )
        accepted = leave_out_refused(engine, ranked, using=using)
        if len(accepted) >= limit or len(ranked) < most or most > MAX_MATCHES:
            return accepted[:limit]
        most *= 2


def leave_out_refused(
    engine: Engine,
    ranked: list[Ranked],
    *,
    using: str,
) -> list[Ranked]:
    """Leave out what today's rules refuse though others accepted it; the guard's job will hold it (P-04)."""
    stale = [each.facts.id for each in ranked if each.facts.rules_version != guard.RULES.version]
    refused = find_refused_of(stale, using=using) if stale else set()
    if isinstance(engine, PastSearch):
        texts = {each.facts.id: each.facts.content for each in ranked if each.facts.id in engine.changed}
        refused |= {pk for pk, verdict in judge_stored(MEMORY_KIND, texts).items() if verdict.is_held}
    return [each for each in ranked if each.facts.id not in refused]


def look_live(
    engine: Engine,
    request: SearchRequest,
    ranker: Ranker,
    *,
    limit: int,
) -> tuple[list[Scored], dict[int, Facts]]:
    """Return what `look` does; when some of the best were deleted, look again at live memories only."""
    scored, facts = look(
        engine,
        request,
        ranker,
        limit=limit,
        is_checked=request.asks_memories,
    )
    if len(facts) < len(scored):
        return look(engine, request, ranker, limit=limit, is_checked=True)
    return scored, facts


def look(
    engine: Engine,
    request: SearchRequest,
    ranker: Ranker,
    *,
    limit: int,
    is_checked: bool,
) -> tuple[list[Scored], dict[int, Facts]]:
    """Return what can be among the hits, best by words or newest first, and what is known of each."""
    matches = engine.match(request, most=MAX_MATCHES + 1, is_checked=is_checked)
    if request.node is None or request.sort is Sort.RECENT:
        scored = ranker.as_they_come(matches, limit=limit)
    elif len(matches.ids) <= MAX_MATCHES:
        scored = ranker.by_keywords(matches, limit=limit)
    else:  # too many to score each: the engine's own rank chooses
        best = engine.best(request, request.node, most=max(limit, MAX_CHOSEN))
        scored = ranker.by_keywords(
            best,
            limit=limit,
            frequencies=engine.frequencies(request.owner_id, ranker.terms),
        )
    return scored, engine.load([each.id for each in scored], request) if scored else {}


def to_hit(
    ranked: Ranked,
    highlighter: Highlighter,
    rank: int,
    *,
    explain: bool,
) -> Hit:
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
        actor=found.actor,
        score=ranked.score,
        updated_at=found.updated_at,
        highlights=marked.segments,
        explain=explanation,
        is_hard=is_hard(found),
    )
