"""System check: the triggers that keep the search in step are there."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

from memory_app.index import schema


@register(Tags.database)
def check_search_triggers(
    app_configs: Sequence[AppConfig] | None,
    databases: Sequence[str] | None = None,
    **kwargs: Any,
) -> list[CheckMessage]:
    """Report triggers that a rebuilt table has lost; without them the search falls out of step."""
    return [
        Error(
            f"The search trigger {name} is missing in the database {alias}.",
            hint="Run `minara migrate`; it puts the triggers back.",
            id="minara.E020",
        )
        for alias in databases or ()
        if schema.has_index(connections[alias])
        for name in sorted(schema.missing_triggers(connections[alias]))
    ]
