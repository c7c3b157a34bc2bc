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

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--to",
            required=True,
            metavar="URL",
            help="the address, as in DATABASE_URL",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Move, then show what every table holds, and what to do next."""
        if settings.MINARA.database_url:
            raise Refused(_("This instance is on PostgreSQL already. Unset DATABASE_URL to move its SQLite files."))
        files = {alias: Path(str(database["NAME"])) for alias, database in settings.DATABASES.items()}
        with hold_data_folder(settings.DATA_DIR):
            moved = move_instance(files, options["to"], report=self.show)
        self.stdout.write("")
        for name, (count, sha256) in moved.items():
            self.stdout.write(f"{name:<36} {count:>12,}  {sha256}")
        facts = {"count": f"{sum(count for count, _sha256 in moved.values()):,}", "folder": settings.DATA_DIR}
        self.stdout.write(_("Moved and compared: %(count)s rows. The SQLite files are unchanged.") % facts)
        self.stdout.write(_("Now set DATABASE_URL to that address, keep %(folder)s for its key, and start.") % facts)

    def show(self, what: str, done: int, total: int) -> None:
        """Show how far the move is: in one line at a terminal, else line by line."""
        line = f"{done / total:4.0%} {done:,} / {total:,} {what}" if total else what
        begin, end = ("\r\x1b[K", "") if self.stdout.isatty() else ("", "\n")
        self.stdout.write(f"{begin}{line}", ending=end)
        self.stdout.flush()
