"""`minara restore FILE`: the instance of a backup, in an empty data folder or in the place of what is there."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.kernel.backup.archive import open_backup
from minara_site.kernel.backup.services import SECRET_KEY, check_fits, is_filled, restore_backup
from minara_site.kernel.command import MinaraCommand
from minara_site.kernel.processes.start import hold_data_folder


class Command(MinaraCommand):
    """Restores a backup."""

    help = "Read and prove a backup, then put it into the data folder and the database that the settings name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--replace",
            action="store_true",
            help="put what is there aside; asks for a typed word",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore. Raises CommandError without the typed word."""
        with open_backup(options["file"]) as backup, hold_data_folder(settings.DATA_DIR):
            check_fits(backup.manifest)
            moment = f"{backup.manifest.created_at:%Y-%m-%d %H:%M:%S} UTC"
            said = {"folder": settings.DATA_DIR, "moment": moment}
            replaces = is_filled()
            if replaces and not options["replace"]:
                raise CommandError(_("%(folder)s or its database holds data. Empty both, or add --replace.") % said)
            if replaces:
                self.stdout.write(_("All data of %(folder)s and its database become those of %(moment)s.") % said)
                self.stdout.write(_("Type %(word)s to continue:") % {"word": "replace"})
                self.stdout.flush()
                if sys.stdin.readline().strip() != "replace":
                    raise CommandError(_("Nothing was changed."))
            kept = restore_backup(backup, now=timezone.now(), replaces=replaces)
        self.stdout.write(_("Restored: the state of %(moment)s. Next: minara doctor, then minara up.") % said)
        if kept:
            self.stdout.write(_("What was there before is kept in %(folder)s.") % {"folder": kept})
        if SECRET_KEY not in backup.manifest.members:
            self.stdout.write(_("The backup holds no secret key: set MINARA_SECRET_KEY to the one of that instance."))
