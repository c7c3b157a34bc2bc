"""System check: the trigger that keeps a reflection as it was first written is there (trust R-01)."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

from memory_app.roles import db_triggers as triggers


@register(Tags.database)
def check_written_once(
    app_configs: Sequence[AppConfig] | None,
    databases: Sequence[str] | None = None,
    **kwargs: Any,
) -> list[CheckMessage]:
    """Report a database where a rebuilt table has lost the trigger; without it a reflection could be rewritten."""
    return [
        Error(
            f"The trigger {triggers.NAME} is missing in the database {alias}.",
            hint="Run `minara migrate`; it puts the trigger back.",
            id="minara.E021",
        )
        for alias in databases or ()
        if triggers.has_table(connections[alias]) and not triggers.has_trigger(connections[alias])
    ]
