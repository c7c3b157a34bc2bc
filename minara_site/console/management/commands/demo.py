"""`minara demo load` and `minara demo remove`: realistic data for every page, and exactly that gone again."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.console.demo.services import load_demo, remove_demo
from minara_site.kernel.command import MinaraCommand
from minara_site.kernel.errors import Conflict

ACTOR = "command:demo"


class Command(MinaraCommand):
    """Load or remove the demo."""

    help = "Load realistic demo data, marked as such, or remove exactly that."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=("load", "remove"))

    def handle(self, *args: Any, **options: Any) -> None:
        if options["act"] == "load":
            count = load_demo(now=timezone.now(), actor=ACTOR)
            said = _("Loaded a demo of %(count)d memories.") if count else _("The demo is loaded already.")
        else:
            try:
                count = remove_demo(now=timezone.now(), actor=ACTOR)
            except Conflict as refusal:
                raise CommandError(refusal.detail) from None
            said = _("Removed the demo and its %(count)d memories.") if count else _("There is no demo to remove.")
        self.stdout.write(said % {"count": count})
