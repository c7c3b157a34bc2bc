"""`minara demo load` and `minara demo remove`: realistic data for every page, and exactly that gone again."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from minara_site.console.demo.services import change_demo
from minara_site.kernel.command import MinaraCommand


class Command(MinaraCommand):
    """Load or remove the demo."""

    help = "Load realistic demo data, marked as such, or remove exactly that."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=("load", "remove"))

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(change_demo(options["act"], now=timezone.now(), actor="command:demo"))
