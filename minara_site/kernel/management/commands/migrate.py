"""`minara migrate`: brings every database to this version's tables, the queue's file too."""

from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands.migrate import Command as Migrate
from django.db import connections

EVERY = "every database"


class Command(Migrate):
    """Migrate all databases, or the one that `--database` names."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database=EVERY)

    def execute(self, *args: Any, **options: Any) -> str | None:
        aliases = connections if options["database"] == EVERY else [options["database"]]
        written = [super(Command, self).execute(*args, **{**options, "database": alias}) for alias in aliases]
        return written[-1]
