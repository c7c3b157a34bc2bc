"""Keep the queue's tables in their own SQLite file, so that the worker's polling never blocks a write."""

from typing import Any

from django.db.models import Model

QUEUE = "queue"
QUEUE_APP = "django_q"


class QueueRouter:
    """Sends django-q2's tables, and nothing else, to the queue database."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str | None:
        """Read queue tables from the queue file."""
        return QUEUE if model._meta.app_label == QUEUE_APP else None  # noqa: SLF001 - Django's documented way

    db_for_write = db_for_read

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        """Create each table in one of the two files only."""
        return (db == QUEUE) == (app_label == QUEUE_APP)
