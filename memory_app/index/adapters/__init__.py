"""The two engines behind one protocol: raw SQL, values always as parameters."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from memory_app.index.adapters import postgresql, sqlite
from memory_app.index.adapters.postgresql import PostgresqlSearch
from memory_app.index.adapters.sql import Sql
from memory_app.index.adapters.sqlite import SqliteSearch
from memory_app.index.core.document import Document, Kind
from memory_app.index.core.query import Node, Term
from memory_app.index.core.request import Facts, Matches, SearchRequest


class SearchBackend(Protocol):
    """What a database engine does for the search; reads belong inside `time_limit`."""

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        """Work on this connection."""

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

    def best(self, request: SearchRequest, node: Node, *, most: int) -> Matches:
        """Return the best live matches by the engine's own rank."""

    def frequencies(self, owner_id: int | None, terms: Sequence[Term]) -> list[int]:
        """Return how many of the owner's memories hold each term."""

    def load(self, ids: Sequence[int], request: SearchRequest) -> dict[int, Facts]:
        """Return what the hits show of these memories, by id; what the request does not allow is left out."""

    def kept(self, request: SearchRequest, node: Node | None) -> set[int]:
        """Return the ids that the request allows, whatever their words; a `node` they must match."""

    def matching(
        self,
        owner_id: int | None,
        node: Node,
        kind: Kind = Kind.MEMORY,
    ) -> Sql:
        """Return the query for the ids of an owner's rows of a kind that match, live or not."""

    def write(self, documents: Sequence[Document]) -> None:
        """Insert the documents or bring them up to date; unchanged ones are not touched."""

    def index_problems(self) -> list[str]:
        """Compare the index with the documents; return what differs, empty when all is well."""

    def rebuild(self) -> None:
        """Build the index anew from the documents."""

    def optimize(self) -> None:
        """Merge the index, so that no trace of removed words stays in it."""


def time_limit(using: str) -> AbstractContextManager[None]:
    """Stop what is read from this database inside when it takes too long. Raises SearchTooSlow."""
    connection = connections[using]
    limit = sqlite.time_limit if connection.vendor == "sqlite" else postgresql.time_limit
    return limit(connection)


def backend(using: str) -> SearchBackend:
    """Return the search of this database."""
    connection = connections[using]
    return SqliteSearch(connection) if connection.vendor == "sqlite" else PostgresqlSearch(connection)
