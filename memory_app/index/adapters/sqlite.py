"""Search on SQLite: FTS5 over `search_document`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from time import monotonic

from django.db import DatabaseError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

from memory_app.index.adapters.sql import (
    NEWEST,
    TIME_LIMIT_SECONDS,
    SearchTooSlow,
    Sql,
    SqlSearch,
    conditions,
    facts_of,
    owned,
    total_of,
    unworded,
    upsert,
)
from memory_app.index.core.document import ROLE_MEMORY_WORD, Document, Kind, category_token, owner_token
from memory_app.index.core.query import AllOf, AnyOf, Node, Term
from memory_app.index.core.request import Facts, Matches, SearchRequest, Sort

UPSERT = upsert(("owner_id", "owner", "body", "category"), "%s, %s, %s, %s")
STEPS_BETWEEN_LOOKS = 10_000
INDEX = "FROM search_index CROSS JOIN search_document d ON d.id = search_index.rowid"
MEMORIES = "CROSS JOIN memories m ON m.id = d.object_id AND m.owner_id = d.owner_id"
"""CROSS JOIN keeps the order of the tables: the planner may otherwise go through an owner's memories and ask the index
about each.
"""


class SqliteSearch(SqlSearch):
    """The search of a SQLite database."""

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

    def best(self, request: SearchRequest, node: Node, *, most: int) -> Matches:
        """Return the best live matches by FTS5's own rank."""
        order = "ORDER BY bm25(search_index, 0.0, 1.0, 0.0), m.id DESC"
        return self.matches(request, node, order, most=most, is_checked=True)

    def matches(
        self,
        request: SearchRequest,
        node: Node,
        order: str,
        *,
        most: int,
        is_checked: bool,
    ) -> Matches:
        """Return matches in an order. The owner stands in MATCH for speed and in SQL for safety."""
        own, values = owned(request.owner_id)
        tables, where = INDEX, f"search_index MATCH %s AND d.kind = 'memory' AND {own}"
        if is_checked:
            kept, more_values = conditions(self.connection, request)
            tables, where, values = f"{INDEX} {MEMORIES}", f"{where} AND {kept}", [*values, *more_values]
        total, total_values = total_of(request.owner_id)
        match = match_expression(request.owner_id, node, request.filters.categories)
        statement = f"SELECT d.object_id, d.body, {total} {tables} WHERE {where} {order} LIMIT %s"
        return Matches.of(self.rows((statement, [*total_values, match, *values, most])))

    def frequencies(self, owner_id: int | None, terms: Sequence[Term]) -> list[int]:
        """Return how many of the owner's memories hold each term."""
        counts = ", ".join(["(SELECT count(*) FROM search_index WHERE search_index MATCH %s)"] * len(terms))
        return list(
            self.rows(
                (
                    f"SELECT {counts}",
                    [counted_expression(owner_id, term) for term in terms],
                )
            )[0]
        )

    def load(self, ids: Sequence[int], request: SearchRequest) -> dict[int, Facts]:
        """Return what the hits show of these memories, by id; what the request does not allow is left out."""
        rows = self.rows(facts_of(self.connection, ids, request, "{} || '+00:00'"))  # cheaper than Django's converter
        return {
            columns[0]: Facts._make(
                (
                    *columns,
                    *map(datetime.fromisoformat, (created, updated)),
                    fact_type,
                    rules,
                )
            )
            for *columns, created, updated, fact_type, rules in rows
        }

    def matching(
        self,
        owner_id: int | None,
        node: Node,
        kind: Kind = Kind.MEMORY,
    ) -> Sql:
        own, values = owned(owner_id)
        statement = f"SELECT d.object_id {INDEX} WHERE search_index MATCH %s AND d.kind = '{kind}' AND {own}"
        return statement, [match_expression(owner_id, node, kind=kind), *values]

    def write(self, documents: Sequence[Document]) -> None:
        """Insert the documents or bring them up to date; unchanged ones are not touched."""
        rows = [(d.kind, d.object_id, d.owner_id, d.owner_token, d.body, d.category) for d in documents]
        with self.connection.cursor() as cursor:
            cursor.executemany(UPSERT, rows)

    def index_problems(self) -> list[str]:
        """Compare the index with the documents, word by word."""
        try:
            self.command("integrity-check", rank=1)
        except OperationalError:  # locked, or interrupted: says nothing about the index
            raise
        except DatabaseError:
            return ["the full-text index differs from its documents"]
        return []

    def rebuild(self) -> None:
        """Build the index anew from the documents."""
        self.command("rebuild")

    def optimize(self) -> None:
        """Merge the index, so that no trace of removed words stays in it."""
        self.command("optimize")

    def command(self, name: str, rank: int = 0) -> None:
        """Give FTS5 one of its special commands."""
        with self.connection.cursor() as cursor:
            cursor.execute("INSERT INTO search_index(search_index, rank) VALUES (%s, %s)", [name, rank])


def counted_expression(owner_id: int | None, term: Term) -> str:
    """Return the MATCH text for the memories that hold a term: across all owners no token keeps other kinds out."""
    match = match_expression(owner_id, term)
    return match if owner_id is not None else f'({match}) NOT category : "{ROLE_MEMORY_WORD}"'


def match_expression(
    owner_id: int | None,
    node: Node,
    categories: frozenset[str] = frozenset(),
    kind: Kind = Kind.MEMORY,
) -> str:
    """Return the MATCH text. Every word in it is letters and digits, quoted, and bound to its column."""
    owner = f'owner : "{kind.owner_mark}" *' if owner_id is None else f'owner : "{owner_token(owner_id, kind)}"'
    narrowing = [] if owner_id is None else [owner]
    names = sorted(filter(None, map(category_token, categories)))
    if names:
        narrowing.append(" OR ".join(f'category : "{name}"' for name in names).join("()"))
    return " AND ".join([*narrowing, render(node, owner)])


def render(node: Node, everything: str) -> str:
    """Return one part of the MATCH text; `everything` matches each row that may be found at all."""
    match node:
        case Term(tokens, is_prefix):
            return f'body : "{" ".join(tokens)}"' + " *" * is_prefix
        case AnyOf(parts):
            return " OR ".join(render(part, everything) for part in parts).join("()")
        case AllOf(parts, excluded):
            wanted = [render(part, everything) for part in parts] or [everything]
            unwanted = [render(part, everything) for part in excluded]
            joined = " AND ".join(wanted).join("()")
            return f"({joined} NOT ({' OR '.join(unwanted)}))" if unwanted else joined


@contextmanager
def time_limit(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Stop a statement after TIME_LIMIT_SECONDS. Raises SearchTooSlow."""
    connection.ensure_connection()
    raw = connection.connection
    deadline = monotonic() + TIME_LIMIT_SECONDS
    raw.set_progress_handler(lambda: monotonic() > deadline, STEPS_BETWEEN_LOOKS)
    try:
        yield
    except OperationalError as error:
        if "interrupted" in str(error):
            raise SearchTooSlow from error
        raise
    finally:
        raw.set_progress_handler(None, 0)
