"""`minara backup FILE`: one sealed file that holds the instance, while it runs."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.kernel.backup.services import make_backup
from minara_site.kernel.command import MinaraCommand


class Command(MinaraCommand):
    """Makes a backup."""

    help = "Write databases, secret key and workspaces into one file, while Minara runs. Keep it as secret as they are."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--replace",
            action="store_true",
            help="write over a file of this name",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        os.nice(5)  # whoever serves comes first
        path = options["file"].absolute()
        size = make_backup(
            path,
            now=timezone.now(),
            actor="command:backup",
            replaces=options["replace"],
        )
        self.stdout.write(_("Backup written: %(file)s (%(size)s)") % {"file": path, "size": filesizeformat(size)})
        if settings.MINARA.minara_secret_key:
            self.stdout.write(_("MINARA_SECRET_KEY is set and not in the file: keep it elsewhere."))
