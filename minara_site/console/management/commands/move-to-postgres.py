# ruff: noqa: N999 - Django names a command after its file
"""`minara move-to-postgres --to URL`: the instance in the data folder, moved from SQLite to PostgreSQL."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from minara_site.console.moving.services import move_instance
from minara_site.kernel.command import MinaraCommand
from minara_site.kernel.errors import Refused
from minara_site.kernel.processes.start import hold_data_folder


class Command(MinaraCommand):
    """Moves the instance."""

    help = (
        "Copy a stopped instance from SQLite to an empty PostgreSQL database, and compare every table."
        " The SQLite files stay as they are. After an interruption it continues."
    )
    last_shown = ""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--to", required=True, metavar="URL", help="the address, as in DATABASE_URL")

    def handle(self, *args: Any, **options: Any) -> None:
        """Move, then show what every table holds, and what to do next."""
        if settings.MINARA.database_url:
            raise Refused(_("This instance is on PostgreSQL already. Unset DATABASE_URL to move its SQLite files."))
        files = {alias: Path(database["NAME"]) for alias, database in settings.DATABASES.items()}
        with hold_data_folder(settings.DATA_DIR):
            moved = move_instance(files, options["to"], report=self.show)
        self.stdout.write("")
        for name, (count, sha256) in moved.items():
            self.stdout.write(f"{name:<36} {count:>12,}  {sha256}")
        total = f"{sum(count for count, _sha256 in moved.values()):,}"
        self.stdout.write(_("Moved and compared: %(count)s rows. The SQLite files are unchanged.") % {"count": total})
        self.stdout.write(
            _("Set DATABASE_URL to that address, keep %(folder)s with the secret key and the workspace, and start.")
            % {"folder": settings.DATA_DIR}
        )

    def show(self, what: str, done: int, total: int) -> None:
        """Show how far the move is: in one line at a terminal, else in one line for each table."""
        line = f"{done / total:4.0%} {done:,} / {total:,} {what}" if total else what
        if self.stdout.isatty():
            self.stdout.write(f"\r\x1b[K{line}", ending="")
            self.stdout.flush()
        elif what != self.last_shown:
            self.stdout.write(line)
        self.last_shown = what
