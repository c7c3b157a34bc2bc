"""`minara search`: check the search index, and build it anew."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from memory_app.search.index import index_problems, rebuild_index

MOST_SHOWN = 20


class Command(BaseCommand):
    """Check the search index, and build it anew."""

    help = "Check the search index against the memories, or build it anew."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the two acts."""
        parser.add_argument("act", choices=["check", "rebuild"])

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the act. Raises CommandError while something is out of step."""
        if options["act"] == "rebuild":
            rebuild_index()
        problems = index_problems()
        for problem in problems[:MOST_SHOWN]:
            self.stdout.write(problem)
        if problems:
            raise CommandError(_("Out of step: %(n)d. Run `minara search rebuild`.") % {"n": len(problems)})
        self.stdout.write(_("The search index is in step with the memories."))
