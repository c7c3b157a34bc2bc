"""Search on SQLite: FTS5 over `search_document`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from time import monotonic

from django.db import DatabaseError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

from memory_app.index.adapters.sql import (
    TIME_LIMIT_SECONDS,
    SearchBackend,
    SearchTooSlow,
    facts_of,
    upsert,
)
from memory_app.index.core.document import ROLE_MEMORY_WORD, Kind, category_token, owner_token
from memory_app.index.core.query import AllOf, AnyOf, Node, Term
from memory_app.index.core.request import Facts, Matches, SearchRequest

STEPS_BETWEEN_LOOKS = 10_000


class SqliteSearch(SearchBackend):
    """The search of a SQLite database.

    CROSS JOIN keeps the order of the tables: the planner may otherwise go through an owner's memories and ask the index
    about each.
    """

    index = "FROM search_index CROSS JOIN search_document d ON d.id = search_index.rowid"
    memories = "CROSS JOIN memories m ON m.id = d.object_id AND m.owner_id = d.owner_id"
    words = "search_index MATCH %s"
    also = "d.id IN (SELECT rowid FROM search_index WHERE search_index MATCH %s)"
    writing = upsert(("owner_id", "owner", "body", "category"), "%s, %s, %s, %s")

    def expression(
        self,
        owner_id: int | None,
        node: Node,
        categories: frozenset[str] = frozenset(),
        kind: Kind = Kind.MEMORY,
    ) -> str:
        return match_expression(owner_id, node, categories, kind)

    def best(self, request: SearchRequest, node: Node, *, most: int) -> Matches:
        """Return the best live matches by FTS5's own rank."""
        order = "ORDER BY bm25(search_index, 0.0, 1.0, 0.0), m.id DESC"
        return self.matches(request, node, order, most=most, is_checked=True)

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
                    frozenset(),
                )
            )
            for *columns, created, updated, fact_type, rules in rows
        }

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
        case Term():
            names = (f'body : "{" ".join(name.tokens)}"' + " *" * name.is_prefix for name in node.names)
            return " OR ".join(names).join("()")
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
