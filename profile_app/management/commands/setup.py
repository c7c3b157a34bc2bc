"""`minara setup`: the folder of the agent files. Source: S3 (layout), contract (commands)."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.owner_command import OwnerCommand
from profile_app.workspace.services.setup import set_up


class Command(OwnerCommand):
    """Make the folder with its default files, or point at one that is there."""

    help = "Make the folder of the agent files with defaults for those that are missing, or point at an OpenClaw one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare where the folder is and whose it is."""
        parser.add_argument(
            "--workspace",
            type=Path,
            metavar="DIR",
            help="a folder that is there already: it is read, and only a mark file is written",
        )
        self.add_user(parser, "whose folder it is")

    def handle(self, *args: Any, **options: Any) -> None:
        """Set up, and say what was done and what waits. Raises Invalid for a folder that cannot be used."""
        owner = self.owner(options)
        done = set_up(
            owner=owner,
            path=options["workspace"],
            actor="command:setup",
            now=timezone.now(),
        )
        self.stdout.write(_("Folder of the agent files: %(folder)s") % {"folder": done.path})
        for label, names in (
            (_("Read"), done.read),
            (_("Written"), done.made),
        ):
            if names:
                self.stdout.write(f"{label}: {', '.join(names)}")
        if not (done.read or done.made):
            self.stdout.write(_("Nothing was changed."))
        for problem in done.problems:
            self.stderr.write(f"{problem['name'] or done.path}: {problem['detail']}")
        for name in done.waiting:
            url = f"{settings.MINARA.minara_public_url.rstrip('/')}{reverse('workspace:one', args=[name])}"
            self.stderr.write(_("%(name)s waits until its owner lets it in: %(url)s") % {"name": name, "url": url})
