"""`minara workspace FILE`: print an agent file. Source: S3 (/workspace)."""

from argparse import ArgumentParser
from typing import Any

from django.utils.translation import gettext as _

from minara_site.access.owner_command import OwnerCommand
from minara_site.kernel.core.hidden import visible
from profile_app.workspace.core.names import SHORT_NAMES
from profile_app.workspace.selectors import get_text


class Command(OwnerCommand):
    """Print one file as it is in force."""

    help = "Print an agent file as it is in force: soul, agents, user, memory, … or memory/YYYY-MM-DD.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare which file, and whose."""
        parser.add_argument("file", metavar="FILE", help=", ".join(SHORT_NAMES))
        self.add_user(parser, "whose file it is")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the text; hidden characters are shown by their names. Raises NotFound."""
        text = get_text(owner=self.owner(options), said=options["file"])
        if not text:
            self.stderr.write(_("There is no text in this file."))
            return
        self.stdout.write(
            "\n".join(visible(line) for line in text.split("\n")),
            ending="" if text.endswith("\n") else "\n",
        )
