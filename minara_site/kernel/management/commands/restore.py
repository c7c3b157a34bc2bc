"""`minara restore FILE`: the instance of a backup, in an empty data folder or in the place of what is there."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.kernel.backup.archive import Manifest, open_backup
from minara_site.kernel.backup.services import check_fits, is_filled, restore_backup
from minara_site.kernel.command import MinaraCommand
from minara_site.kernel.processes.start import hold_data_folder

WORD = "replace"


class Command(MinaraCommand):
    """Restores a backup."""

    help = "Read and prove a backup, then put it into the data folder and the database that the settings name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="put what is there aside; asks for a typed word")

    def handle(self, *args: Any, **options: Any) -> None:
        with open_backup(options["file"]) as backup, hold_data_folder(settings.DATA_DIR):
            manifest = backup.manifest
            check_fits(manifest)
            replaces = is_filled()
            if replaces:
                self.confirm(manifest, is_meant=options["replace"])
            kept = restore_backup(backup, now=timezone.now(), replaces=replaces)
        self.stdout.write(
            _("Restored: the state of %(moment)s.") % {"moment": f"{manifest.created_at:%Y-%m-%d %H:%M:%S %Z}"}
        )
        if kept:
            self.stdout.write(_("What was there before is kept in %(folder)s.") % {"folder": kept})
        if not manifest.has_secret_key:
            self.stdout.write(_("The backup holds no secret key: set MINARA_SECRET_KEY to the one of that instance."))
        self.stdout.write(_("Next: minara doctor, then minara up."))

    def confirm(self, manifest: Manifest, *, is_meant: bool) -> None:
        """Read the typed word. Raises CommandError without it."""
        said = {"folder": settings.DATA_DIR, "moment": f"{manifest.created_at:%Y-%m-%d %H:%M:%S %Z}", "word": WORD}
        if not is_meant:
            raise CommandError(_("%(folder)s or its database holds data. Empty both, or add --replace.") % said)
        self.stdout.write(_("All data of %(folder)s and its database become those of %(moment)s.") % said)
        self.stdout.write(_("Type %(word)s to continue: ") % said, ending="")
        self.stdout.flush()
        try:
            typed = input()
        except EOFError:
            typed = ""
        if typed.strip() != WORD:
            raise CommandError(_("Nothing was changed."))
