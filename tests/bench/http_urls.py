"""The project's addresses and one bare view beside them that runs the reference query."""

import sqlite3
import threading
from typing import Any

from django.conf import settings
from django.urls import path
from ninja import NinjaAPI

from minara_site.access.api_auth import allow
from minara_site.access.policy import Act
from minara_site.urls import handler400, handler403, handler404, handler500
from minara_site.urls import urlpatterns as project_urls
from tests.bench.http_query import REFERENCE_SQL, reference_match

__all__ = ["handler400", "handler403", "handler404", "handler500"]

bare = NinjaAPI(urls_namespace="bare", docs_url=None, openapi_url=None)
local = threading.local()


def connection() -> sqlite3.Connection:
    """Return this thread's own connection to the main file."""
    if not hasattr(local, "connection"):
        local.connection = sqlite3.connect(settings.DATABASES["default"]["NAME"])
    return local.connection


@bare.get("/search", auth=allow(Act.SEARCH))
def search(request: Any, q: str) -> dict[str, Any]:
    """Run the raw query and answer its rows."""
    owner_id = request.principal.owner.pk
    rows = connection().execute(REFERENCE_SQL, (reference_match(owner_id, q), owner_id)).fetchall()
    return {"items": [{"id": row[0], "content": row[1], "score": row[2]} for row in rows]}


urlpatterns = [*project_urls, path("bare/", bare.urls)]
