"""`minara key`: make, list and revoke API keys."""

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.keys.core import KeyState
from minara_site.access.keys.services import create_key, list_keys, revoke_key
from minara_site.access.owner_command import OwnerCommand
from minara_site.access.policy import Scope
from minara_site.access.users import get_user
from minara_site.kernel.core.hidden import visible

ACTOR = "command:key"
STATES = {
    KeyState.ACTIVE: gettext_lazy("active"),
    KeyState.EXPIRED: gettext_lazy("expired"),
    KeyState.REVOKED: gettext_lazy("revoked"),
}


class Command(OwnerCommand):
    """Make, list and revoke API keys."""

    help = "Make, list and revoke API keys."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        create = acts.add_parser("create", help="Make a key; its text is the last line of the output and is not kept.")
        self.add_user(create, "who uses it")
        create.add_argument(
            "--scopes",
            required=True,
            metavar="A,B",
            help=f"Out of {', '.join(Scope)}.",
        )
        create.add_argument("--label", default="")
        create.add_argument(
            "--expires-days",
            type=int,
            metavar="N",
            help="0 means never.",
        )
        keys = acts.add_parser("list", help="List keys, newest first.")
        keys.add_argument("--user", metavar="NAME")
        revoke = acts.add_parser("revoke", help="Close a key for good.")
        revoke.add_argument("prefix", help="The 8 characters between mnr_<environment>_ and the secret.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the act. Raises CommandError with one line that says what to do."""
        getattr(self, f"run_{options['act']}")(options)

    def run_create(self, options: dict[str, Any]) -> None:
        user = self.owner(options)
        key = create_key(
            user=user,
            scopes=[scope.strip() for scope in options["scopes"].split(",") if scope.strip()],
            label=options["label"],
            expires_days=options["expires_days"],
            now=timezone.now(),
            actor=ACTOR,
        )
        self.stdout.write(
            _("Made the key %(prefix)s of %(name)s. It is shown only now:")
            % {"prefix": key.prefix, "name": user.username}
        )
        self.stdout.write(key.text)

    def run_list(self, options: dict[str, Any]) -> None:
        owner = get_user(options["user"]) if options["user"] else None
        now = timezone.now()
        for key in list_keys(owner):
            words = [
                key.prefix,
                f"{key.user.username:<16}",
                f"{STATES[key.state(now)]!s:<8}",
                _("used %(day)s") % {"day": f"{day(key.last_used_at):<10}"},
                _("expires %(day)s") % {"day": f"{day(key.expires_at):<10}"},
                ",".join(key.scopes),
                visible(" ".join(key.label.split())),
            ]
            self.stdout.write("  ".join(words))

    def run_revoke(self, options: dict[str, Any]) -> None:
        key = revoke_key(
            prefix=options["prefix"],
            now=timezone.now(),
            actor=ACTOR,
        )
        self.stdout.write(_("Revoked %(prefix)s. Nothing can use it any more.") % {"prefix": key.prefix})


def day(moment: datetime | None) -> str:
    """Return the date in UTC."""
    return f"{moment:%Y-%m-%d}" if moment else _("never")
