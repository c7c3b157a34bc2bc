"""`minara user`: make, list, disable and enable people."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from getpass import getpass
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.models import DEFAULT_USERNAME, User
from minara_site.access.policy import Role
from minara_site.access.security.factors import reset_second_factor
from minara_site.access.users import create_user, disable_user, enable_user, list_users
from minara_site.kernel.command import MinaraCommand

ACTOR = "command:user"
ROLES = (Role.USER, Role.OPERATOR, Role.SUPPORT)


@dataclass(frozen=True, slots=True)
class Change:
    """An act on one person: what it does, and what is said when it is done."""

    help: str
    act: Callable[..., User]
    done: Promise


CHANGES = {
    "disable": Change(
        "Shut somebody out at once; their data stay.",
        disable_user,
        gettext_lazy("Disabled %(name)s. Sign-ins and keys have ended."),
    ),
    "enable": Change(
        "Let somebody in again; their old keys stay revoked.",
        enable_user,
        gettext_lazy("Enabled %(name)s."),
    ),
    "reset-second-factor": Change(
        "Take the second factor from somebody who lost theirs.",
        reset_second_factor,
        gettext_lazy(
            "Took every second factor from %(name)s and signed them out. They sign in by password and add another."
        ),
    ),
}


class Command(MinaraCommand):
    """Make, list, disable and enable the people of this instance."""

    help = "Make, list, disable and enable the people of this instance."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        create = acts.add_parser("create", help="Make somebody; asks for a password when a person is there to type it.")
        create.add_argument("name")
        create.add_argument(
            "--role",
            choices=[role.value for role in ROLES],
            default=Role.USER.value,
        )
        create.add_argument(
            "--password-stdin",
            action="store_true",
            help="Read the password from the first input line.",
        )
        acts.add_parser("list", help="List everybody.")
        for name, change in CHANGES.items():
            acts.add_parser(name, help=change.help).add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the act. Raises CommandError with one line that says what to do."""
        match options["act"]:
            case "create":
                self.run_create(options)
            case "list":
                self.run_list()
            case name:
                change = CHANGES[name]
                user = change.act(username=options["name"], now=timezone.now(), actor=ACTOR)
                self.stdout.write(change.done % {"name": user.username})

    def run_create(self, options: dict[str, Any]) -> None:
        user = create_user(
            username=options["name"],
            role=Role(options["role"]),
            password=read_password(from_stdin=options["password_stdin"]),
            now=timezone.now(),
            actor=ACTOR,
        )
        made = (
            _("Made %(name)s (%(role)s).")
            if user.has_usable_password()
            else _(
                "Made %(name)s (%(role)s) without a password: only keys work. "
                "To set one run `minara changepassword %(name)s`."
            )
        )
        self.stdout.write(made % {"name": user.username, "role": options["role"]})

    def run_list(self) -> None:
        for user in list_users():
            state = _("active") if user.is_active else _("disabled")
            seen = f"{user.last_login:%Y-%m-%d %H:%M} UTC" if user.last_login else _("never")
            seen = _("last sign-in %(moment)s") % {"moment": seen}
            default = f"  {DEFAULT_USERNAME}" if user.is_default else ""
            self.stdout.write(f"{user.username:<24} {user.role:<9} {state:<9} {seen}{default}")


def read_password(*, from_stdin: bool) -> str | None:
    """Return the password from the input or a prompt, None where there is neither. Raises CommandError."""
    if from_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
        if not password:
            raise CommandError(_("The input holds no password."))
        return password
    if not sys.stdin.isatty():
        return None
    password = getpass(_("Password (empty for none): "))
    if password and password != getpass(_("Password again: ")):
        raise CommandError(_("The two passwords differ. Nothing was made."))
    return password or None
