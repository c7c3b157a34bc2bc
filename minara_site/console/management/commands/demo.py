"""`minara demo load` and `minara demo remove`: realistic data for every page, and exactly that gone again."""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.console.demo.labels import WORD, loaded_label, removal_lines, removed_label
from minara_site.console.demo.services import load_demo, preview_removal, remove_demo
from minara_site.kernel.command import MinaraCommand

ACTOR = "command:demo"


class Command(MinaraCommand):
    """Load or remove the demo."""

    help = (
        "Load realistic demo data, marked as such, or remove exactly that. What a person or an agent wrote stays."
        " At a terminal, remove asks for a word first."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=("load", "remove"))
        parser.add_argument("--yes", action="store_true", help="remove without asking")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["act"] == "load":
            self.stdout.write(loaded_label(load_demo(now=timezone.now(), actor=ACTOR)))
            return
        if not (options["yes"] or settings.MINARA.minara_non_interactive) and sys.stdin.isatty():
            self.ask()
        self.stdout.write(removed_label(remove_demo(now=timezone.now(), actor=ACTOR)))

    def ask(self) -> None:
        """Show what goes and what stays, and ask for the word. Raises CommandError without it."""
        removal = preview_removal(now=timezone.now())
        for line in removal_lines(removal) if removal else ():
            self.stdout.write(line)
        if removal and input(_("Type “%(word)s” to continue") % {"word": WORD} + ": ").strip() != WORD:
            raise CommandError(_("Nothing was removed."))
