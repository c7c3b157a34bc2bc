"""Rows that a query finds, whatever their order: lists are narrowed by the language of the search."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL

from memory_app.index.adapters import backend, time_limit
from memory_app.index.adapters.sql import linked_ids, midnight
from memory_app.index.core.document import Kind as DocumentKind
from memory_app.index.core.parser import MAX_QUERY_CHARS, parse_query
from memory_app.index.core.query import Filters, Node, Note, NoteCode, Query
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.errors import invalid_field
from minara_site.kernel.ownership import EVERYONE, Owner
from minara_site.kernel.plain_text import storable_problem


def narrow(rows: "QuerySet[Any]", *, owner: Owner, query: str) -> "QuerySet[Any]":
    """Keep the memories of a list that a query finds, whatever their order and state. Raises Invalid.

    Of what the guard holds the index has no word, so that words find none of it.
    """
    parsed = read_query(query)
    if parsed.node is not None:
        rows = matching(rows, owner_id_of(owner), parsed.node)
    elif parsed.literal:
        rows = rows.filter(content__icontains=parsed.literal)
    return rows.filter(kept_by(parsed.filters, owner_id_of(owner)))


def narrow_entries(
    rows: "QuerySet[Any]",
    *,
    owner: Owner,
    query: str,
) -> "QuerySet[Any]":
    """Keep the entries of role memory that a query finds, whatever their order and state. Raises Invalid.

    Days are of `decided_at`. Entries have neither category nor source: who asks for one finds nothing.
    """
    parsed = read_query(query)
    filters = parsed.filters
    if filters.categories or filters.sources:
        return rows.none()
    if parsed.node is not None:
        rows = matching(
            rows,
            owner_id_of(owner),
            parsed.node,
            DocumentKind.ROLE_MEMORY,
        )
    elif parsed.literal:
        learned = Q(narrative__icontains=parsed.literal) | Q(lesson__icontains=parsed.literal)
        rows = rows.filter(Q(decision__icontains=parsed.literal) | (Q(lesson_held_at__isnull=True) & learned))
    return rows.filter(within(filters, "decided_at"), linked(filters, owner_id_of(owner), DocumentKind.ROLE_MEMORY))


def matching(
    rows: "QuerySet[Any]",
    owner_id: int | None,
    node: Node,
    kind: DocumentKind = DocumentKind.MEMORY,
) -> "QuerySet[Any]":
    """Keep the rows whose words match, memories or those of another kind."""
    sql, values = backend(rows.db).matching(owner_id, node, kind)
    return rows.filter(pk__in=RawSQL(sql, values))  # noqa: S611 the values are parameters


def limited(query: str | None, *, using: str = DEFAULT_DB_ALIAS) -> AbstractContextManager[None]:
    """Read within the time limit of the search what `narrow` left by this query. Raises SearchTooSlow."""
    return time_limit(using) if query else nullcontext()


def read_query(
    text: str,
    *,
    category: Category | None = None,
    source: Source | None = None,
    is_personal: bool = False,
    names_assets: bool = True,
) -> Query:
    """Return the parsed query with the filters of the door added; what is too long is cut. Raises Invalid."""
    problem = storable_problem(text)
    if problem is not None:
        raise invalid_field("q", problem)
    parsed = parse_query(text[:MAX_QUERY_CHARS], names_assets=names_assets)
    if len(text) > MAX_QUERY_CHARS:
        parsed = replace(
            parsed,
            notes=(Note(NoteCode.CUT, str(len(text))), *parsed.notes),
        )
    filters = replace(parsed.filters, is_personal=is_personal)
    if category is not None:
        filters = replace(filters, categories=frozenset({category.value}))
    if source is not None:
        filters = replace(filters, sources=frozenset({source.value}))
    return replace(parsed, filters=filters)


def unquoted(query: Query) -> Query:
    """Return a query that looks for the words of its phrases instead of the phrases, and says so."""
    read = parse_query(query.text, unquotes=True, names_assets=query.names_assets)
    return replace(
        read,
        filters=query.filters,
        notes=tuple(dict.fromkeys((*query.notes, *read.notes))),
    )


def owner_id_of(owner: Owner) -> int | None:
    """Return the id that the index narrows by; None is everybody."""
    return None if owner is EVERYONE else owner.pk


def kept_by(filters: Filters, owner_id: int | None) -> Q:
    """Return the filters of a query as a condition on the memories of an owner."""
    kept = Q()
    if filters.categories:
        kept &= Q(category__in=filters.categories)
    if filters.not_categories:
        kept &= ~Q(category__in=filters.not_categories)
    if filters.sources:
        kept &= Q(source__in=filters.sources)
    if filters.not_sources:
        kept &= Q(source__isnull=True) | ~Q(source__in=filters.not_sources)
    if filters.is_personal:
        kept &= Q(category=Category.PERSONALIZATION) | Q(fact_state="settled")
    return kept & within(filters, "updated_at") & linked(filters, owner_id)


def linked(filters: Filters, owner_id: int | None, kind: DocumentKind = DocumentKind.MEMORY) -> Q:
    """Return the assets of a query as a condition on the rows of a kind."""
    wanted, unwanted = (
        Q(pk__in=RawSQL(*linked_ids(owner_id, assets, kind))) if assets else Q()  # noqa: S611 as above
        for assets in (filters.assets, filters.not_assets)
    )
    return wanted & ~unwanted


def within(filters: Filters, moment: str) -> Q:
    """Return the days of a query as a condition on this column."""
    kept = Q()
    if filters.after:
        kept &= Q(**{f"{moment}__gte": midnight(filters.after)})
    if filters.before:
        kept &= Q(**{f"{moment}__lt": midnight(filters.before)})
    return kept
