"""Makes cached pages out of date, in every process: the one write of this room. Source: S1, architecture."""

from typing import Any

from django.db import connection

from minara_site.kernel.events import fact_recorded, memory_written, role_memory_changed

EVENTS = (memory_written, fact_recorded, role_memory_changed)
RAISE = """
    INSERT INTO compiled_page_versions (owner_id, version) SELECT id, 1 FROM access_user WHERE id = %s
    ON CONFLICT (owner_id) DO UPDATE SET version = compiled_page_versions.version + 1
"""  # an owner may be gone by now; in SQL: each write of a memory pays for it, and the ORM takes ten times as long


def listen() -> None:
    """Let the events that change what pages are made of raise the version."""
    for event in EVENTS:
        event.connect(raise_version, dispatch_uid="compiled pages")


def raise_version(sender: object, *, owner_id: int, **facts: Any) -> None:
    """Count that an owner's data changed, after it is committed."""
    with connection.cursor() as cursor:
        cursor.execute(RAISE, [owner_id])
