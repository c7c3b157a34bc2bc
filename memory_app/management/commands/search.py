"""`minara search`: find memories, check the search index, and build it anew."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.index.core.request import Fusion
from memory_app.index.documents import index_problems, rebuild_index
from memory_app.index.pages import note_text
from memory_app.search.core.surfaces import Surface
from memory_app.search.log import log_search_of
from memory_app.search.past import read_moment
from memory_app.search.selectors import search_memories
from minara_site.access.owner_command import OwnerCommand
from minara_site.kernel.core.hidden import visible

MAX_SHOWN = 20
ACTOR = "command:search"


class Command(OwnerCommand):
    """Find memories, check the search index, and build it anew."""

    help = "Find memories as the agent does, check the search index against the memories, or build it anew."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the three acts, and what finding takes."""
        acts = parser.add_subparsers(dest="act", required=True)
        find = acts.add_parser("find", help="Find memories as the agent does.")
        find.add_argument("query", nargs="+", help="what to find")
        self.add_user(find, "whose memories are searched")
        find.add_argument("--as-of", help="find what was live at this ISO time, or at the end of this day")
        find.add_argument(
            "--fusion",
            choices=[each.value for each in Fusion],
            default=Fusion.DEFAULT.value,
        )
        find.add_argument(
            "--limit",
            type=int,
            choices=range(1, 201),
            default=10,
            metavar="1-200",
        )
        acts.add_parser("check", help="Compare the search index with the memories.")
        acts.add_parser("rebuild", help="Build the search index anew.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the act. Raises CommandError while something is out of step, and for what cannot be searched."""
        if options["act"] == "find":
            self.find(options)
            return
        if options["act"] == "rebuild":
            rebuild_index()
        problems = index_problems()
        for problem in problems[:MAX_SHOWN]:
            self.stdout.write(problem)
        if problems:
            raise CommandError(_("Out of step: %(n)d. Run `minara search rebuild`.") % {"n": len(problems)})
        self.stdout.write(_("The search index is in step with the memories."))

    def find(self, options: dict[str, Any]) -> None:
        """Print a line per memory: score, id and text."""
        query = " ".join(options["query"])
        owner = self.owner(options)
        found = search_memories(
            owner=owner,
            query=query,
            limit=options["limit"],
            fusion=Fusion(options["fusion"]),
            as_of=read_moment(options["as_of"]) if options["as_of"] else None,
        )
        ids = [hit.id for hit in found.hits]
        log_search_of(
            owner_id=owner.pk,
            actor=ACTOR,
            query=query,
            ids=ids,
            now=timezone.now(),
            door=Surface.COMMAND,
        )
        for note in found.notes:
            self.stderr.write(note_text(note))
        for hit in found.hits:
            self.stdout.write(f"{hit.score:10.3f}  {hit.id:>8}  {visible(' '.join(hit.content.split()))}")
