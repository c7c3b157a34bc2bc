"""Keep the queue, the counters of limits, busy marks and the logs of reads in a SQLite file of their own.

So none of them ever blocks a write of data, or waits for one.
"""

from typing import Any

from django.db.models import Model

QUEUE = "queue"
QUEUE_APP = "django_q"
BESIDE_THE_QUEUE = {
    ("kernel", "busymark"),
    ("kernel", "ratecount"),
    ("learning_app", "suggestionlogentry"),
    ("memory_app", "searchlogentry"),
    ("memory_app", "searchloghit"),
}


def belongs_to_queue(app_label: str, model_name: str | None) -> bool:
    """Say whether this table lives in the queue database."""
    return app_label == QUEUE_APP or (app_label, model_name) in BESIDE_THE_QUEUE


class QueueRouter:
    """Sends django-q2's tables and those beside them, and nothing else, to the queue database."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str | None:
        """Read these tables from the queue file."""
        meta = model._meta  # noqa: SLF001 - Django's documented way
        return QUEUE if belongs_to_queue(meta.app_label, meta.model_name) else None

    db_for_write = db_for_read

    def allow_migrate(
        self,
        db: str,
        app_label: str,
        model_name: str | None = None,
        **hints: Any,
    ) -> bool:
        """Create each table in one of the two files only."""
        return (db == QUEUE) == belongs_to_queue(app_label, model_name)
