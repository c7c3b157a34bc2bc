"""The search lab: what words find, what meaning finds, and what becomes of both. One search, not three."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial

from django.db import DEFAULT_DB_ALIAS

from memory_app.embeddings.providers import is_enabled
from memory_app.embeddings.selectors import has_vectors
from memory_app.index.adapters import time_limit
from memory_app.index.core.highlight import Highlighter
from memory_app.index.core.query import Note, Query
from memory_app.index.core.request import Fusion, SearchRequest, Sort
from memory_app.index.selectors import read_query, unquoted
from memory_app.memories.core import EmbeddingState
from memory_app.memories.models import Memory
from memory_app.search.core.fusion import Fuser
from memory_app.search.core.rank import Ranked, Ranker
from memory_app.search.meaning import Meaning, read_meaning
from memory_app.search.past import Engine
from memory_app.search.selectors import (
    Hit,
    engine_of,
    find_accepted,
    gather,
    leave_out_refused,
    notes_on,
    request_of,
    to_hit,
)
from minara_site.kernel.core.tickers import extract_finance_entities
from minara_site.kernel.ownership import Owner


class Fallback(StrEnum):
    """Why meaning had no say."""

    DISABLED = "disabled"
    FAILED = "failed"
    TOO_SLOW = "too_slow"
    NO_VECTORS = "no_vectors"
    WORDS_ONLY = "words_only"


@dataclass(frozen=True)
class Comparison:
    """The hits of each order, best first; with a `fallback`, or where nothing has a vector, those of words alone."""

    columns: Mapping[Fusion, tuple[Hit, ...]]
    notes: tuple[Note, ...]
    fallback: Fallback | None

    @property
    def has_hits(self) -> bool:
        """Whether any arm has found anything."""
        return any(self.columns.values())


def compare_arms(
    *,
    owner: Owner,
    query: str,
    fusion: Fusion = Fusion.DEFAULT,
    as_of: datetime | None = None,
    limit: int = 10,
    using: str = DEFAULT_DB_ALIAS,
) -> Comparison:
    """Return what each arm finds and what the fusion makes of it; phrases and errors as of `search_memories`."""
    compare = partial(
        compare_parsed,
        owner=owner,
        fusion=fusion,
        as_of=as_of,
        limit=limit,
        using=using,
    )
    parsed = read_query(query, names_assets=fusion is Fusion.DEFAULT)
    found = compare(parsed)
    unquoted_found = compare(unquoted(parsed)) if parsed.is_exact and not found.has_hits else found
    return unquoted_found if unquoted_found.has_hits else found


def compare_parsed(
    parsed: Query,
    *,
    owner: Owner,
    fusion: Fusion,
    as_of: datetime | None,
    limit: int,
    using: str,
) -> Comparison:
    """Compare the arms of a parsed query, exactly as it was read."""
    ranker = Ranker(parsed.node, extract_finance_entities(parsed.text))
    request = request_of(parsed, owner, ranker, as_of=as_of)
    meaning = read_meaning(request, parsed, fusion, using=using)
    with time_limit(using):
        engine = engine_of(owner, as_of, using=using)
        orders = find_orders(
            engine,
            request,
            ranker,
            meaning,
            limit=limit,
            using=using,
        )
        notes = notes_on(
            parsed,
            engine,
            request,
            orders[Fusion.TEXT],
            owner=owner,
            limit=limit,
            using=using,
        )
    fallback = None if Fusion.MEANING in orders else why_keywords_only(parsed, request, meaning)
    highlighter = Highlighter(parsed.node, parsed.literal)
    columns = {
        each: tuple(to_hit(hit, highlighter, rank, explain=True) for rank, hit in enumerate(ranked, start=1))
        for each, ranked in orders.items()
    }
    return Comparison(columns, notes, fallback)


def find_orders(
    engine: Engine,
    request: SearchRequest,
    ranker: Ranker,
    meaning: Meaning | None,
    *,
    limit: int,
    using: str,
) -> dict[Fusion, list[Ranked]]:
    """Return the three orders of one pool, or that of the words alone."""
    pool = meaning and gather(engine, request, ranker, meaning, limit=limit)
    if not (meaning and pool):
        return {Fusion.TEXT: find_accepted(engine, request, ranker, limit=limit, using=using)}
    fuser = Fuser(pool, ranker)
    orders = {each: fuser.order(each) for each in (Fusion.TEXT, Fusion.MEANING, meaning.fusion)}
    everything = {hit.facts.id: hit for ranked in orders.values() for hit in ranked}
    accepted = {hit.facts.id for hit in leave_out_refused(engine, list(everything.values()), using=using)}
    return {each: [hit for hit in ranked if hit.facts.id in accepted][:limit] for each, ranked in orders.items()}


def why_keywords_only(
    parsed: Query,
    request: SearchRequest,
    meaning: Meaning | None,
) -> Fallback | None:
    """Return why meaning had no say; None when the query leaves nothing that it could order."""
    if not is_enabled():
        return Fallback.DISABLED
    if request.owner_id is None or request.sort is Sort.RECENT or not parsed.words:
        return Fallback.WORDS_ONLY
    if meaning is None:
        return Fallback.FAILED
    if meaning.cosines is None:
        return Fallback.TOO_SLOW
    return None if has_vectors(request.owner_id) else Fallback.NO_VECTORS


def count_pending(owner: Owner, *, most: int = 10_000) -> int:
    """Return how many live memories wait for their vector, counted up to `most`."""
    waiting = Memory.objects.for_owner(owner).live().filter(embedding_state=EmbeddingState.PENDING)
    return int(waiting.order_by()[:most].count())
