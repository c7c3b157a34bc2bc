"""`minara recall ROLE`: the newest lessons of a role. Source: S0 (/recall)."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.roles.models import RoleMemory
from memory_app.roles.records import entry_record
from memory_app.roles.registry import registry
from memory_app.roles.selectors import recent_lessons
from minara_site.access.owner_command import OwnerCommand
from minara_site.kernel.command import number_to
from minara_site.kernel.core.hidden import visible
from minara_site.kernel.market.symbols import describe_assets

MAX_LESSONS = 200


class Command(OwnerCommand):
    """Print what a role learned."""

    help = "Print the newest lessons of a role, newest outcome first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the role, whose lessons, and how they are printed."""
        parser.add_argument("role", help="the id of a role, such as market.spot.momentum")
        self.add_user(parser, "whose lessons are printed")
        parser.add_argument(
            "--limit",
            type=number_to(MAX_LESSONS),
            default=10,
            metavar="1-200",
            help="how many at most",
        )
        parser.add_argument(
            "--json",
            action="store_true",
            dest="as_json",
            help="print JSON",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the lessons. Raises CommandError for an unknown role or user."""
        role_id: str = options["role"]
        if registry().find(role_id) is None:
            names = {"id": role_id, "known": registry().known()}
            raise CommandError(_("No skill declares the role %(id)s. Known are: %(known)s.") % names)
        owner = self.owner(options)
        now = timezone.now()
        lessons = recent_lessons(
            owner_id=owner.pk,
            role_id=role_id,
            as_of=now,
            most=options["limit"],
        )
        if options["as_json"]:
            read_as = describe_assets(lessons, now=now)
            records = [entry_record(entry, read_as[entry.pk]) for entry in lessons]
            self.stdout.write(
                json.dumps(
                    records,
                    cls=DjangoJSONEncoder,
                    ensure_ascii=False,
                    indent=2,
                )
            )
            return
        for entry in lessons:
            self.stdout.write(line_of(entry))
        if not lessons:
            self.stdout.write(_("This role has no lessons yet."))


def line_of(entry: RoleMemory) -> str:
    """Return a lesson on one line: when its outcome was known, its decision, the asset, the class, the words."""
    pnl = "" if entry.pnl_pct is None else f"{entry.pnl_pct:+.2f}%"
    known = f"{entry.outcome_at:%Y-%m-%d}"
    words = visible(" ".join(entry.lesson.split()))
    return f"{known}  {entry.pk:>8}  {entry.asset:<10} {pnl:>9}  {entry.classification:<12}  {words}"
