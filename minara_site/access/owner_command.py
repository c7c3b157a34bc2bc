"""A command that works for one owner, named by `--user`."""

from argparse import ArgumentParser
from typing import Any

from minara_site.access.models import DEFAULT_USERNAME, User
from minara_site.access.users import get_user
from minara_site.kernel.command import MinaraCommand


class OwnerCommand(MinaraCommand):
    """A command with `--user`, the owner `default` unless it names another."""

    def add_user(self, parser: ArgumentParser, help_text: str) -> None:
        """Declare `--user`."""
        parser.add_argument(
            "--user",
            default=DEFAULT_USERNAME,
            metavar="NAME",
            help=help_text,
        )

    def owner(self, options: dict[str, Any]) -> User:
        """Return whom `--user` names. Raises NotFound."""
        return get_user(options["user"])
