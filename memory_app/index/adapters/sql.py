"""The SQL that both engines share: the document upsert, the filters, the literal pattern, the time limit."""

# ruff: noqa: S608 statements are put together from constants of this room; values are parameters

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, time
from typing import Any, ClassVar

from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils.translation import gettext as _

from memory_app.index.core.document import Document, Kind
from memory_app.index.core.query import Node, Term, as_typed, terms_of
from memory_app.index.core.request import Facts, Matches, SearchRequest, Sort
from minara_site.kernel.errors import Unavailable

TIME_LIMIT_SECONDS = 2
MAX_COUNTED = 100_000
NEWEST = "m.updated_at DESC, m.id DESC"
PERSONAL = "(m.category = 'personalization' OR m.fact_state = 'settled')"

Sql = tuple[str, list[Any]]


class SearchTooSlow(Unavailable):
    """The query ran into the time limit and was stopped."""

    code = "search_too_slow"

    def __init__(self) -> None:
        super().__init__(
            _("This search took more than %(seconds)d seconds and was stopped. Use longer or fewer words.")
            % {"seconds": TIME_LIMIT_SECONDS},
            retry_after_seconds=1,
        )


class SearchBackend(ABC):
    """What a database engine does for the search; reads belong inside `time_limit`.

    `index` and `memories` are the tables of a query, `words` is the condition of a match, `also` that of another one in
    the same query, `writing` writes a document.
    """

    index: ClassVar[str]
    memories: ClassVar[str]
    words: ClassVar[str]
    also: ClassVar[str]
    writing: ClassVar[str]

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        """Work on this connection."""
        self.connection = connection

    @abstractmethod
    def expression(
        self,
        owner_id: int | None,
        node: Node,
        categories: frozenset[str] = frozenset(),
        kind: Kind = Kind.MEMORY,
    ) -> str:
        """Return what the index is asked: every word is letters and digits, quoted, and bound to its place."""

    @abstractmethod
    def best(self, request: SearchRequest, node: Node, *, most: int) -> Matches:
        """Return the best live matches by the engine's own rank."""

    @abstractmethod
    def frequencies(self, owner_id: int | None, terms: Sequence[Term]) -> list[int]:
        """Return how many of the owner's memories hold each term."""

    @abstractmethod
    def load(self, ids: Sequence[int], request: SearchRequest) -> dict[int, Facts]:
        """Return what the hits show of these memories, by id; what the request does not allow is left out."""

    @abstractmethod
    def index_problems(self) -> list[str]:
        """Compare the index with the documents; return what differs, empty when all is well."""

    @abstractmethod
    def rebuild(self) -> None:
        """Build the index anew from the documents."""

    @abstractmethod
    def optimize(self) -> None:
        """Merge the index, so that no trace of removed words stays in it."""

    def match(
        self,
        request: SearchRequest,
        *,
        most: int,
        is_checked: bool,
    ) -> Matches:
        """Return at most `most` matches, newest first or in no order.

        Without `is_checked` memories are not looked at: deleted ones are among them.
        """
        if request.node is None:
            return Matches.of(self.rows(unworded(self.connection, request, most)))
        order = f"ORDER BY {NEWEST}" if request.sort is Sort.RECENT else ""
        return self.matches(
            request,
            request.node,
            order,
            most=most,
            is_checked=is_checked,
        )

    def matches(
        self,
        request: SearchRequest,
        node: Node,
        order: str,
        *,
        most: int,
        is_checked: bool,
    ) -> Matches:
        """Return matches in an order."""
        total, total_values = total_of(request.owner_id)
        (tables, where), values = self.source(request, node, is_checked=is_checked)
        statement = f"SELECT d.object_id, d.body, {total} {tables} WHERE {where} {order} LIMIT %s"
        return Matches.of(self.rows((statement, [*total_values, *values, most])))

    def source(
        self,
        request: SearchRequest,
        node: Node,
        *,
        is_checked: bool,
    ) -> tuple[tuple[str, str], list[Any]]:
        """Return tables and condition of matches."""
        where, values = self.matched(request.owner_id, node, request.filters.categories)
        if not is_checked:
            return (self.index, where), values
        kept, more_values = conditions(self.connection, request)
        return (f"{self.index} {self.memories}", f"{where} AND {kept}"), [*values, *more_values]

    def matched(
        self,
        owner_id: int | None,
        node: Node,
        categories: frozenset[str] = frozenset(),
        kind: Kind = Kind.MEMORY,
        *,
        by_words: bool = False,
    ) -> Sql:
        """Return the condition of a match. The owner stands in the words for speed and in SQL for safety.

        The other name of an asset may be a common word: unless `by_words`, it counts in what is linked to the asset.
        """
        own, values = owned(owner_id)
        match = self.expression(owner_id, node, categories, kind)
        where, values = f"{self.words} AND d.kind = '{kind}' AND {own}", [match, *values]
        typed = as_typed(node)
        if by_words or typed == node:
            return where, values
        ids, more = linked_ids(owner_id, {term.asset for term in terms_of(node)}, kind)
        also = self.expression(owner_id, typed, categories, kind)
        return f"{where} AND (d.object_id IN ({ids}) OR {self.also})", [*values, *more, also]

    def matching(
        self,
        owner_id: int | None,
        node: Node,
        kind: Kind = Kind.MEMORY,
    ) -> Sql:
        """Return the query for the ids of an owner's rows of a kind that match, live or not."""
        where, values = self.matched(owner_id, node, kind=kind)
        return f"SELECT d.object_id {self.index} WHERE {where}", values

    def kept(self, request: SearchRequest, node: Node | None) -> set[int]:
        """Return the ids that the request allows, whatever their words; a `node` they must match."""
        matching = None if node is None else self.matching(request.owner_id, node)
        return {row[0] for row in self.rows(kept_ids(self.connection, request, matching))}

    def write(self, documents: Sequence[Document]) -> None:
        """Insert the documents or bring them up to date; unchanged ones are not touched."""
        rows: list[tuple[Any, ...]] = [
            (d.kind, d.object_id, d.owner_id, d.owner_token, d.body, d.category, *self.indexed(d)) for d in documents
        ]
        with self.connection.cursor() as cursor:
            cursor.executemany(self.writing, rows)

    def indexed(self, document: Document) -> tuple[str, ...]:
        """Return what the engine keeps with a document so that its words are found."""
        return ()

    def rows(self, query: Sql) -> list[tuple[Any, ...]]:
        """Run a query."""
        with self.connection.cursor() as cursor:
            cursor.execute(*query)
            return list(cursor.fetchall())


def upsert(columns: tuple[str, ...], places: str) -> str:
    """Return the statement that writes one document and leaves an unchanged one alone."""
    changed = ", ".join(f"{name} = excluded.{name}" for name in columns)
    old = ", ".join(f"search_document.{name}" for name in columns)
    new = ", ".join(f"excluded.{name}" for name in columns)
    return (
        f"INSERT INTO search_document (kind, object_id, {', '.join(columns)}) VALUES (%s, %s, {places}) "
        f"ON CONFLICT (kind, object_id) DO UPDATE SET {changed} WHERE ({old}) <> ({new})"
    )


def conditions(connection: BaseDatabaseWrapper, request: SearchRequest) -> Sql:
    """Return what a memory `m` must be: live, of the request's owner (None is everybody's), and left by its filters.

    As of an earlier moment: live then, unchanged since, and neither deleted nor held now.
    """
    own, values = owned(request.owner_id, "m")
    filters = request.filters
    clauses = ["m.deleted_at IS NULL", "m.held_at IS NULL", own]
    if request.as_of is None:
        clauses.append("m.retired_at IS NULL")
    else:
        clauses += ["(m.retired_at IS NULL OR m.retired_at > %s)", "m.created_at <= %s", "m.updated_at <= %s"]
        values += [connection.ops.adapt_datetimefield_value(request.as_of)] * 3
    for column, wanted, unwanted in (
        ("category", filters.categories, filters.not_categories),
        ("source", filters.sources, filters.not_sources),
    ):
        if wanted:
            clauses.append(f"m.{column} IN ({places(wanted)})")
            values += sorted(wanted)
        if unwanted:
            clauses.append(f"(m.{column} IS NULL OR m.{column} NOT IN ({places(unwanted)}))")
            values += sorted(unwanted)
    for assets, negation in ((filters.assets, ""), (filters.not_assets, "NOT ")):
        if assets:
            ids, found = linked_ids(request.owner_id, assets)
            clauses.append(f"m.id {negation}IN ({ids})")
            values += found
    if filters.is_personal:
        clauses.append(PERSONAL)
    for day, comparison in ((filters.after, ">="), (filters.before, "<")):
        if day is not None:
            clauses.append(f"m.updated_at {comparison} %s")
            values.append(connection.ops.adapt_datetimefield_value(midnight(day)))
    return " AND ".join(clauses), values


def owned(owner_id: int | None, table: str = "d") -> Sql:
    """Return the condition that a row is this owner's; None is everybody's."""
    return ("1 = 1", []) if owner_id is None else (f"{table}.owner_id = %s", [owner_id])


def linked_ids(owner_id: int | None, assets: Collection[str], kind: Kind = Kind.MEMORY) -> Sql:
    """Return the query for the ids of the rows of a kind that are about one of these assets, by their edges."""
    own, values = owned(owner_id, "e")
    table = "memories" if kind is Kind.MEMORY else kind
    where = f"{own} AND e.src_table = '{table}' AND e.dst_entity_kind = 'ticker'"
    where += f" AND e.dst_entity_key IN ({places(assets)})"
    return f"SELECT e.src_id FROM memory_edges e WHERE {where}", [*values, *sorted(assets)]


def total_of(owner_id: int | None) -> Sql:
    """Return the expression for how many documents this owner has, counted up to MAX_COUNTED."""
    own, values = owned(owner_id, "counted")
    rows = f"SELECT 1 FROM search_document counted WHERE counted.kind = 'memory' AND {own} LIMIT {MAX_COUNTED}"
    return f"(SELECT count(*) FROM ({rows}) documents)", values


def unworded(connection: BaseDatabaseWrapper, request: SearchRequest, most: int) -> Sql:
    """Return the query for text as it stands, or for filters alone, newest first: ids, no words, no total."""
    where, values = conditions(connection, request)
    if request.literal:
        like = "LIKE" if connection.vendor == "sqlite" else "ILIKE"
        where += rf" AND m.content {like} %s ESCAPE '\'"
        values.append(literal_pattern(request.literal))
    return f"SELECT m.id, '', 0 FROM memories m WHERE {where} ORDER BY {NEWEST} LIMIT %s", [*values, most]


def facts_of(
    connection: BaseDatabaseWrapper,
    ids: Sequence[int],
    request: SearchRequest,
    moment: str,
) -> Sql:
    """Return the query for what the hits show, of those memories that the request allows.

    `moment` is how the engine reads a column with a time: `{}` stands for the column.
    """
    where, values = conditions(connection, request)
    times = f"{moment.format('m.created_at')}, {moment.format('m.updated_at')}"
    columns = f"m.id, m.owner_id, m.category, m.content, m.source, m.origin, m.actor, {times}, m.fact_type"
    allowed = f"m.id IN ({places(ids)}) AND {where}"
    return f"SELECT {columns}, m.rules_version FROM memories m WHERE {allowed}", [*ids, *values]


def kept_ids(
    connection: BaseDatabaseWrapper,
    request: SearchRequest,
    matching: Sql | None,
) -> Sql:
    """Return the query for the ids that the request allows, whatever their words; `matching` narrows to its ids."""
    where, values = conditions(connection, request)
    if matching is not None:
        where, values = f"{where} AND m.id IN ({matching[0]})", [*values, *matching[1]]
    return f"SELECT m.id FROM memories m WHERE {where}", values


def literal_pattern(text: str) -> str:
    r"""Return the LIKE pattern for text as it stands, to be used with ESCAPE '\'."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def places(values: Collection[object]) -> str:
    """Return one parameter for each value."""
    return ", ".join(["%s"] * len(values))


def midnight(day: date) -> datetime:
    """Return the beginning of a day in UTC."""
    return datetime.combine(day, time.min, tzinfo=UTC)
