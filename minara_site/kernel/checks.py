"""System checks with stable ids; `minara check` and every start of a command run them."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

from minara_site.kernel.command import SETUP

OLDEST_SQLITE = (3, 35, 0)  # RETURNING
OLDEST_POSTGRESQL = 15_00_00
QUEUE_ROUTER = "minara_site.kernel.jobs.router.QueueRouter"


@register(SETUP)
def check_debug_stays_local(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse debug pages on a host that others can reach (trust W-30)."""
    if settings.DEBUG and not {*settings.ALLOWED_HOSTS} <= {*settings.LOCAL_HOSTS}:
        return [
            Error(
                "Debug pages would be shown to other machines.",
                hint="Unset MINARA_DEBUG, or remove the other hosts from MINARA_PUBLIC_URL and MINARA_ALLOWED_HOSTS.",
                id="minara.E001",
            )
        ]
    return []


@register(SETUP)
def check_sqlite(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse a SQLite that is too old or was built without full text search."""
    if settings.MINARA.database_url or (sqlite3.sqlite_version_info >= OLDEST_SQLITE and has_full_text()):
        return []
    hint = "Use a Python with SQLite 3.35 or newer and FTS5, or PostgreSQL through DATABASE_URL."
    return [
        Error(
            f"SQLite {sqlite3.sqlite_version} cannot hold the search index.",
            hint=hint,
            id="minara.E003",
        )
    ]


def has_full_text() -> bool:
    """Say whether this Python's SQLite has FTS5."""
    with sqlite3.connect(":memory:") as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE trial USING fts5(body)")
        except sqlite3.OperationalError:
            return False
    return True


@register(SETUP)
def check_queue_database(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to let the queue's polling share the main SQLite file."""
    has_router = QUEUE_ROUTER in settings.DATABASE_ROUTERS and "queue" in settings.DATABASES
    if settings.MINARA.database_url or (has_router and settings.Q_CLUSTER["orm"] == "queue"):
        return []
    hint = f"Keep {QUEUE_ROUTER} in DATABASE_ROUTERS and the alias `queue` in DATABASES and Q_CLUSTER."
    return [Error("The job queue has no SQLite file of its own.", hint=hint, id="minara.E004")]


@register(Tags.database)
def check_postgresql(databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse a PostgreSQL older than what the tests run on."""
    old = [
        alias
        for alias in databases or ()
        if connections[alias].vendor == "postgresql" and connections[alias].pg_version < OLDEST_POSTGRESQL  # type: ignore[attr-defined]
    ]
    hint = "Use PostgreSQL 15 or newer."
    return [Error(f"The server of `{alias}` is too old.", hint=hint, id="minara.E005") for alias in old]
