"""`minara preferences list/approve/reject`. Shapes: the contract; hard constraints: trust R-19, screens U-20."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.preferences.core import TERMINAL_ACTOR, typed_value_of
from learning_app.preferences.models import Preference
from learning_app.preferences.selectors import (
    accepted,
    current_limits,
    get_preference,
    list_preferences,
    preference_record,
)
from learning_app.preferences.services.decide import activate_constraint, approve, reject
from learning_app.vocabulary import PreferenceState
from minara_site.access.actors import is_owner
from minara_site.access.models import User
from minara_site.access.owner_command import OwnerCommand
from minara_site.kernel.core.hidden import visible

NOT_DONE = 2


class Command(OwnerCommand):
    """List what the agent learned that its user prefers, and decide on proposals."""

    help = "List learned preferences, approve or reject a proposal. A hard constraint is activated at a terminal only."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the acts."""
        acts = parser.add_subparsers(dest="act", required=True)
        listed = acts.add_parser("list", help="list preferences, the newest first")
        listed.add_argument(
            "--state",
            choices=[each.value for each in PreferenceState],
            help="only those in this state",
        )
        approved = acts.add_parser("approve", help="put a proposal in force")
        approved.add_argument("--statement", help="approve these words instead")
        rejected = acts.add_parser("reject", help="reject a proposal")
        rejected.add_argument(
            "--reason",
            default="",
            help="why, at most 200 characters",
        )
        for each in (approved, rejected):
            each.add_argument("id", type=int)
        for each in (listed, approved, rejected):
            self.add_user(each, "whose preferences they are")
            each.add_argument("--json", action="store_true", help="answer with JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the act. Exit status 2 says that a hard constraint needs its owner, `default` at a terminal."""
        owner = self.owner(options)
        if options["act"] == "list":
            self.list_all(owner, options)
            return
        decision = {
            "preference_id": options["id"],
            "owner": owner,
            "actor": TERMINAL_ACTOR,
            "now": timezone.now(),
        }
        if options["act"] == "reject":
            self.say_row(reject(**decision, reason=options["reason"]), options)
            return
        row = get_preference(owner=owner, preference_id=options["id"])
        if row.is_hard:
            self.check_owner(row, owner)
            decision |= {"typed": self.ask_to_type(row, options), "version": row.version}
            self.say_row(
                activate_constraint(**decision, statement=options["statement"]),
                options,
            )
        else:
            self.say_row(approve(**decision, statement=options["statement"]), options)

    def list_all(self, owner: User, options: Mapping[str, Any]) -> None:
        """Print the preferences of an owner."""
        rows = list_preferences(owner=owner)
        chosen = rows.filter(state=options["state"]) if options["state"] else rows
        found = accepted(chosen.order_by("-created_at", "-pk"))
        if options["json"]:
            self.say_json([preference_record(row) for row in found])
        for line in () if options["json"] else map(line_of, found):
            self.stdout.write(line)
        if not found and not options["json"]:
            self.stdout.write(_("There are no preferences."))

    def check_owner(self, row: Preference, owner: User) -> None:
        """End with status 2 unless who sits at this machine's terminal is the owner of a hard constraint."""
        if not is_owner(TERMINAL_ACTOR, owner):
            said = _(
                "%(id)d is a hard constraint: only its owner activates it, on its page after a fresh sign-in. Nothing "
                "was changed."
            )
            self.stderr.write(said % {"id": row.pk})
            sys.exit(NOT_DONE)

    def ask_to_type(self, row: Preference, options: Mapping[str, Any]) -> str:
        """Show what a hard constraint would change and return what a person types; without one, end with status 2."""
        is_person = sys.stdin.isatty() and sys.stdout.isatty() and not settings.MINARA.minara_non_interactive
        if not is_person:
            self.stderr.write(
                _(
                    "%(id)d is a hard constraint: only its owner activates it. Run this at a terminal without "
                    "MINARA_NON_INTERACTIVE, or open Profile, Preferences in the console. Nothing was changed."
                )
                % {"id": row.pk}
            )
            sys.exit(NOT_DONE)
        statement = (options["statement"] or row.statement).strip()
        for line in effect_lines(row, statement):
            self.stdout.write(line)
        self.stdout.write(_("Type %(value)s to activate it: ") % {"value": typed_value_of(statement, row.dimension)})
        return sys.stdin.readline()

    def say_row(self, row: Preference, options: Mapping[str, Any]) -> None:
        """Print what a preference is now."""
        if options["json"]:
            self.say_json(preference_record(row))
        else:
            self.stdout.write(line_of(row))


def line_of(row: Preference) -> str:
    """Return a preference as one printable line."""
    words = visible(" ".join(row.statement.split()))
    return f"{row.pk:>6}  {row.state:<8}  {row.dimension:<14}  {row.kind:<15}  {row.evidence_count:>3}  {words}"


def effect_lines(row: Preference, statement: str) -> Iterator[str]:
    """Yield the limits in force, the new one, and what it changes."""
    limits = current_limits(row)
    yield _("Limits in force now") + f" ({row.dimension}):"
    for each in limits:
        yield f"  {line_of(each)}"
    if not limits:
        yield "  " + _("none")
    yield _("In force besides, once activated") + ":"
    yield "  " + visible(" ".join(statement.split()))
    yield _(
        "From the next session on agents read it as a limit that they must keep. Minara places no orders: the agent is "
        "what keeps to it."
    )
    if limits:
        yield _("The limits in force stay in force beside it. Archive the one that it replaces.")
    yield _(
        "It is on the pages of the assets that it names. An export leaves it out unless hard constraints are asked for."
    )
