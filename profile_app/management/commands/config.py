"""`minara config get/set financial.custom_prompt`. Source: S3 (editing profile fields)."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.owner_command import OwnerCommand
from minara_site.kernel.core.hidden import visible
from profile_app.documents.core import Origin
from profile_app.portrait.selectors.profile import load_custom_prompt
from profile_app.portrait.services.profile import save_custom_prompt

ACTOR = "command:config"
NAMES = ("financial.custom_prompt",)
WAITS = 2


class Command(OwnerCommand):
    """Read and write the custom prompt."""

    help = "Read or write a value of the financial profile; the only one is financial.custom_prompt."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        get = acts.add_parser("get", help="print the value")
        change = acts.add_parser("set", help="write the value; an empty one removes it")
        for each in (get, change):
            each.add_argument("name", choices=NAMES)
        change.add_argument(
            "value",
            nargs="?",
            help="the text; without it, standard input is read",
        )
        for each in (get, change):
            self.add_user(each, "whose value it is")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the act. Exit status 2 says that the guard refuses the text and that it waits for its owner."""
        owner = self.owner(options)
        if options["act"] == "get":
            text = load_custom_prompt(owner)
            self.stdout.write("\n".join(visible(line) for line in text.split("\n")))
            return
        value = sys.stdin.read() if options["value"] is None else options["value"]
        saved = save_custom_prompt(
            owner=owner,
            content=value,
            origin=Origin.COMMAND,
            actor=ACTOR,
            now=timezone.now(),
        )
        if saved.hold:
            self.stderr.write(
                _("The guard refuses this text: it waits, and no agent reads it. %(name)s lets it in on Profile.")
                % {"name": owner.get_username()}
            )
            sys.exit(WAITS)
        self.stdout.write(_("Saved. It is read from the next session on."))
