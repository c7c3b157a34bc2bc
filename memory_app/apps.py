"""The app and its label."""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate

from minara_site.kernel.events import fact_recorded


class MemoryConfig(AppConfig):
    """Registers the app, its checks, and the repair of the search triggers after each migrate."""

    name = "memory_app"

    def ready(self) -> None:
        """Register what Django finds only by import."""
        from memory_app.embeddings.receivers import listen as embed_what_is_written
        from memory_app.facts.services import ask_for_sweep
        from memory_app.pages.services import listen
        from memory_app.roles import checks as roles_checks  # noqa: F401
        from memory_app.roles.registry import registry
        from memory_app.roles.services.triggers import listen as reflect_when_due
        from memory_app.search import checks  # noqa: F401

        post_migrate.connect(install_search, sender=self)
        listen()
        fact_recorded.connect(ask_for_sweep)
        embed_what_is_written()
        reflect_when_due()
        registry()  # a role that cannot work stops the start


def install_search(using: str, **kwargs: Any) -> None:
    """Put back triggers that a migration dropped with the table it rebuilt; let the database compare vectors."""
    from memory_app.embeddings import pgvector
    from memory_app.roles import triggers as roles
    from memory_app.search import schema

    if schema.has_index(connections[using]):
        schema.restore_triggers(connections[using])
    pgvector.install(connections[using])
    roles.install(connections[using])
