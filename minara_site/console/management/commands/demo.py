"""`minara demo load` and `minara demo remove`: realistic data for every page, and exactly that gone again."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from minara_site.console.demo.services import change_demo
from minara_site.kernel.command import MinaraCommand
from minara_site.kernel.errors import Conflict


class Command(MinaraCommand):
    """Load or remove the demo."""

    help = "Load realistic demo data, marked as such, or remove exactly that."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the two acts."""
        parser.add_argument("act", choices=("load", "remove"))

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it and say how much."""
        try:
            self.stdout.write(change_demo(options["act"], now=timezone.now(), actor="command:demo"))
        except Conflict as refusal:
            raise CommandError(refusal.detail) from None
