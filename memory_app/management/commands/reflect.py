"""`minara reflect ROLE`: reflect on what is due of a role, here and now. Source: S0 (/reflect)."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.roles.core import Trigger
from memory_app.roles.core.sweep import Ended, Sweep, SweepResult
from memory_app.roles.labels import ENDED
from memory_app.roles.registry import registry
from memory_app.roles.services.reflect import reflect_role
from minara_site.kernel.command import MinaraCommand
from minara_site.kernel.llm.gateway import what_is_missing
from minara_site.web.labels import enumeration

ENDED_WELL = {SweepResult.DONE, SweepResult.DROPPED}


class Command(MinaraCommand):
    """Run the reflector once."""

    help = "Reflect on the pending decisions of a role that are due, of all owners; print what became of them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the role, and how the counts are printed."""
        parser.add_argument("role", help="the id of a role, such as market.spot.momentum")
        parser.add_argument(
            "--json",
            action="store_true",
            dest="as_json",
            help="print one JSON object",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Reflect. Exit status 1 says that it could not, or not to the end.

        Raises CommandError for an unknown role, and when no model can be called: then nothing is changed.
        """
        role_id: str = options["role"]
        if registry().find(role_id) is None:
            names = {"id": role_id, "known": registry().known()}
            raise CommandError(_("No skill declares the role %(id)s. Known are: %(known)s.") % names)
        if missing := what_is_missing():
            raise CommandError(missing)
        ended = reflect_role(role_id, trigger=Trigger.MANUAL, now=timezone.now())
        self.stdout.write(json.dumps(ended.as_dict(), ensure_ascii=False) if options["as_json"] else line_of(ended))
        if ended.result not in ENDED_WELL:
            sys.exit(1)


def line_of(ended: Sweep) -> str:
    """Return what a sweep did on one line: how it ended, how many entries ended how, and why if it stopped."""
    counts = enumeration(
        _("%(count)s %(what)s") % {"count": number, "what": ENDED[Ended(name)]} for name, number in ended.counts.items()
    )
    if ended.result is SweepResult.DROPPED:
        counts = _("a reflection of this role is already running")
    return f"{ended.result.value}: {counts or _('nothing was due')}" + (f". {ended.reason}" if ended.reason else "")
