"""What the app does once a process, after every app is loaded."""

from typing import Any

from django.db import connections
from django.db.models.signals import post_migrate

from memory_app.embeddings import pgvector
from memory_app.embeddings.receivers import listen as embed_what_is_written
from memory_app.facts.services import ask_for_sweep
from memory_app.index import checks as index_checks, schema
from memory_app.pages import evidence as pages_evidence
from memory_app.pages.services import listen as keep_pages_fresh
from memory_app.roles import checks as roles_checks, db_triggers
from memory_app.roles.registry import registry
from memory_app.roles.services.triggers import listen as reflect_when_due
from minara_site.kernel.events import fact_recorded

__all__ = ["index_checks", "pages_evidence", "roles_checks", "start"]


def start() -> None:
    """Register receivers and checks. Raises RoleDeclarationError: a role that cannot work stops the start."""
    post_migrate.connect(install_search, dispatch_uid="memory_app")
    keep_pages_fresh()
    fact_recorded.connect(ask_for_sweep)
    embed_what_is_written()
    reflect_when_due()
    registry()


def install_search(sender: Any, using: str, **kwargs: Any) -> None:
    """Put back triggers that a migration dropped with the table it rebuilt; let the database compare vectors."""
    if sender.name != "memory_app":
        return
    if schema.has_index(connections[using]):
        schema.restore_triggers(connections[using])
    pgvector.install(connections[using])
    db_triggers.install(connections[using])
