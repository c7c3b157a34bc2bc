"""The project's addresses and bare views beside them that run the reference queries on this thread's connection."""

import sqlite3
import threading
from typing import Any

import psycopg
from django.conf import settings
from django.urls import path
from ninja import NinjaAPI

from minara_site.access.api_auth import allow
from minara_site.access.policy import Act
from minara_site.urls import handler400, handler403, handler404, handler500, urlpatterns as project_urls
from tests.bench.http_query import LIST, POSTGRESQL, SQLITE, postgresql_match, sqlite_match

__all__ = ["handler400", "handler403", "handler404", "handler500"]

bare = NinjaAPI(urls_namespace="bare", docs_url=None, openapi_url=None)
local = threading.local()


def connection() -> Any:
    """Return this thread's own connection to the main database."""
    if not hasattr(local, "connection"):
        url = settings.MINARA.database_url
        local.connection = (
            psycopg.connect(url, autocommit=True) if url else sqlite3.connect(settings.DATABASES["default"]["NAME"])
        )
    return local.connection


@bare.get("/search", auth=allow(Act.SEARCH))
def search(request: Any, q: str) -> dict[str, Any]:
    """Run the raw query and answer its rows."""
    owner_id = request.principal.owner.pk
    if settings.MINARA.database_url:
        found = connection().execute(POSTGRESQL, {"match": postgresql_match(owner_id, q), "owner": owner_id})
    else:
        found = connection().execute(SQLITE, (sqlite_match(owner_id, q), owner_id))
    return {"items": [{"id": row[0], "content": row[1], "score": row[2]} for row in found.fetchall()]}


@bare.get("/memory", auth=allow(Act.MEMORY_READ))
def memories(request: Any, limit: int) -> dict[str, Any]:
    """Run the raw query of the list and answer its rows."""
    found = connection().execute(LIST, (request.principal.owner.pk, limit))
    names = [column.name for column in found.description]
    return {"items": [dict(zip(names, row, strict=True)) for row in found.fetchall()]}


urlpatterns = [*project_urls, path("bare/", bare.urls)]
