"""Search on PostgreSQL: a tsvector of the same words as on SQLite.

The lexemes are stemmed here and not by a text search configuration: its parser depends on the locale, and its
`porter` differs from FTS5's (`methodology`, `is`). Weight A is the owner, B the category, D the text.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import OperationalError, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from memory_app.index.adapters.sql import (
    TIME_LIMIT_SECONDS,
    SearchBackend,
    SearchTooSlow,
    facts_of,
    total_of,
    upsert,
)
from memory_app.index.core.bm25 import is_phrase
from memory_app.index.core.document import Document, Kind, category_token, owner_token
from memory_app.index.core.query import AllOf, AnyOf, Node, Term, terms_of
from memory_app.index.core.request import Facts, Matches, SearchRequest
from minara_site.kernel.core.porter import stem

FIRST_PLACE = 10
"""Where the text begins; the gap keeps phrases from reaching into owner and category."""
SLICE = 500
QUERY_CANCELED = "57014"
BEST = """
    WITH found AS MATERIALIZED (
        SELECT m.id, d.body, d.words, length(d.words)::float8 AS size {tables} WHERE {where}
    ), term AS (
        SELECT query, number FROM unnest(%s::text[]::tsquery[]) WITH ORDINALITY AS terms (query, number)
    ), word AS (
        SELECT lexeme, number FROM unnest(%s::text[]) WITH ORDINALITY AS words (lexeme, number) WHERE lexeme <> ''
    ), hit AS (
        SELECT f.id, w.number, cardinality(u.positions)::float8 AS times
        FROM found f, unnest(f.words) u JOIN word w ON w.lexeme = u.lexeme
        UNION ALL
        SELECT f.id, t.number, 1
        FROM found f JOIN term t ON f.words @@ t.query WHERE t.number NOT IN (SELECT number FROM word)
    ), rarity AS MATERIALIZED (
        SELECT number, ln(greatest(n.total + 0.5, count(*) + 1.5)::float8 / (count(*) + 0.5)::float8) AS weight
        FROM hit, (SELECT {total} AS total) n GROUP BY number, n.total
    ), scored AS MATERIALIZED (
        SELECT id, sum(weight * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * f.size / a.mean))) AS score
        FROM hit JOIN rarity USING (number) JOIN found f USING (id), (SELECT avg(size) AS mean FROM found) a
        GROUP BY id
    )
    SELECT f.id, f.body, {total} FROM found f LEFT JOIN scored s USING (id)
    ORDER BY s.score DESC NULLS LAST, f.id DESC LIMIT %s
"""
DOCUMENTS = "SELECT id, owner, body, category FROM search_document WHERE id > %s ORDER BY id LIMIT %s"
STALE = """
    SELECT d.id, e.words FROM search_document d
    JOIN unnest(%s::bigint[], %s::text[]) AS e (id, words) ON e.id = d.id WHERE d.words <> e.words::tsvector
"""


class PostgresqlSearch(SearchBackend):
    """The search of a PostgreSQL database."""

    index = "FROM search_document d"
    memories = "JOIN memories m ON m.id = d.object_id AND m.owner_id = d.owner_id"
    words = also = "d.words @@ %s::tsquery"
    writing = upsert(
        ("owner_id", "owner", "body", "category", "words"),
        "%s, %s, %s, %s, %s::tsvector",
    )

    def expression(
        self,
        owner_id: int | None,
        node: Node,
        categories: frozenset[str] = frozenset(),
        kind: Kind = Kind.MEMORY,
    ) -> str:
        """Return the tsquery. Every lexeme in it is letters and digits, quoted, and bound to its weight."""
        parts = [] if owner_id is None else [f"'{owner_token(owner_id, kind)}':A"]
        names = sorted(filter(None, (stem(category_token(category)) for category in categories)))
        if names:
            parts.append(" | ".join(f"'{name}':B" for name in names).join("()"))
        return " & ".join([*parts, render(node)])

    def best(self, request: SearchRequest, node: Node, *, most: int) -> Matches:
        """Return the best live matches by BM25 in SQL, rarity counted among the matches."""
        total, total_values = total_of(request.owner_id)
        (tables, where), values = self.source(request, node, is_checked=True)
        terms = list(terms_of(node))
        words = ["" if is_phrase(term) or term.is_prefix or term.others else term.stems[0] for term in terms]
        statement = BEST.format(tables=tables, where=where, total=total)
        given = [
            *values,
            list(map(render, terms)),
            words,
            *total_values,
            *total_values,
            most,
        ]
        return Matches.of(self.rows((statement, given)))

    def frequencies(self, owner_id: int | None, terms: Sequence[Term]) -> list[int]:
        """Return how many of the owner's memories hold each term."""
        found = [self.matched(owner_id, term, by_words=True) for term in terms]
        counts = ", ".join(f"(SELECT count(*) {self.index} WHERE {where})" for where, _values in found)
        given = [value for _where, values in found for value in values]
        return list(self.rows((f"SELECT {counts}", given))[0])

    def load(self, ids: Sequence[int], request: SearchRequest) -> dict[int, Facts]:
        """Return what the hits show of these memories, by id; what the request does not allow is left out."""
        return {row[0]: Facts(*row) for row in self.rows(facts_of(self.connection, ids, request, "{}"))}

    def indexed(self, document: Document) -> tuple[str, ...]:
        """Return the words of a document."""
        return (vector(document.owner_token, document.body, document.category),)

    def index_problems(self) -> list[str]:
        """Compare the words of each document with those that its text has now."""
        return [f"the words of document {document_id} are out of date" for document_id, _words in self.stale()]

    def rebuild(self) -> None:
        """Write the words of every document anew where they differ."""
        with self.connection.cursor() as cursor:
            statement = "UPDATE search_document SET words = %s::tsvector WHERE id = %s"
            cursor.executemany(
                statement,
                [(words, document_id) for document_id, words in self.stale()],
            )

    def optimize(self) -> None:
        """Nothing to do: PostgreSQL's vacuum removes dead index entries."""

    def stale(self) -> Iterator[tuple[int, str]]:
        """Yield the documents whose words are not those of their text, and what they should be."""
        last_id, rows = 0, [()]
        while rows:
            with self.connection.cursor() as cursor:
                cursor.execute(DOCUMENTS, [last_id, SLICE])
                rows = cursor.fetchall()
                expected = {document_id: vector(*columns) for document_id, *columns in rows}
                cursor.execute(STALE, [list(expected), list(expected.values())])
                yield from cursor.fetchall()
            last_id = max(expected, default=last_id)


def vector(owner: str, body: str, category: str) -> str:
    """Return the tsvector of a document as its literal: each stem with its places."""
    places: dict[str, list[str]] = {owner: ["1A"]}
    places.setdefault(stem(category), []).append("2B")
    for at, word in enumerate(body.split(), start=FIRST_PLACE):
        places.setdefault(stem(word), []).append(str(at))
    return " ".join(f"'{lexeme}':{','.join(found)}" for lexeme, found in places.items() if lexeme)


def render(node: Node) -> str:
    """Return one part of the tsquery."""
    match node:
        case Term():
            return " | ".join(" <-> ".join(lexemes(name)) for name in node.names).join("()")
        case AnyOf(parts):
            return " | ".join(map(render, parts)).join("()")
        case AllOf(parts, excluded):
            return " & ".join(
                [
                    *map(render, parts),
                    *(f"!{render(part)}" for part in excluded),
                ]
            ).join("()")


def lexemes(name: Term) -> list[str]:
    """Return the words of a name for the tsquery."""
    *words, last = name.stems
    return [*(f"'{word}':D" for word in words), f"'{last}':*D" if name.is_prefix else f"'{last}':D"]


@contextmanager
def time_limit(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Stop a statement after TIME_LIMIT_SECONDS, and compile none: for BEST that takes longer than to run it.

    Raises SearchTooSlow.
    """
    goes_on = connection.in_atomic_block  # the caller's transaction, which is not to inherit this
    try:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {round(1000 * TIME_LIMIT_SECONDS)}; SET LOCAL jit = off")
            yield
            if goes_on:
                cursor.execute("SET LOCAL statement_timeout = DEFAULT; SET LOCAL jit = DEFAULT")
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") == QUERY_CANCELED:
            raise SearchTooSlow from error
        raise
