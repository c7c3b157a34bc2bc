"""`minara learning cron` and `minara learning seed`. Shapes: the contract."""

import json
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.cases.services.cron import run_cron
from learning_app.methodologies.seeding import store_seeds
from minara_site.kernel.command import MinaraCommand

ACTOR = "command:learning"


class Command(MinaraCommand):
    """Run one pass of the learning cron, or store well-known methods."""

    help = "cron: judge the trading cases whose window is over. seed: store well-known analysis methods, quarantined."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the acts."""
        acts = parser.add_subparsers(dest="act", required=True)
        for name, text in (("cron", "run one pass now"), ("seed", "store well-known methods")):
            acts.add_parser(name, help=text).add_argument("--json", action="store_true", help="answer with JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the act. Raises AlreadyRunning beside another pass."""
        now = timezone.now()
        if options["act"] == "cron":
            counts = run_cron(now=now, requested_by=ACTOR)
            line = _(
                "Cases resolved: %(resolved)d. Outcomes counted: %(credited)d. Methodologies demoted: %(demoted)d."
            )
            text = line % {"resolved": 0, "credited": 0, "demoted": 0, **counts}
        else:
            new, known = store_seeds(actor=ACTOR, now=now)
            counts = {"new": new, "known": known}
            text = _("Methodologies stored in quarantine: %(new)d. There before: %(known)d.") % counts
        self.stdout.write(json.dumps(counts) if options["json"] else text)
