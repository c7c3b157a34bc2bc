"""What every `minara` command has in common."""

import json
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder
from django.utils.translation import gettext as _

from minara_site.kernel.errors import MinaraError

SETUP = "setup"


class MinaraCommand(BaseCommand):
    """A command that begins soon: it checks how the installation is set up, and does not load the pages for it.

    `minara check` looks at everything.
    """

    requires_system_checks = (SETUP,)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run it. Raises CommandError with the one line of a domain error, which says what to do."""
        try:
            return super().execute(*args, **options)
        except MinaraError as error:
            raise CommandError(error.detail) from None

    def say_json(self, data: Any) -> None:
        """Print JSON."""
        self.stdout.write(json.dumps(data, cls=DjangoJSONEncoder, ensure_ascii=False))


def number_to(most: int) -> Callable[[str], int]:
    """Return what reads an argument that is a number from 1 to `most`; it raises ArgumentTypeError for any other."""

    def read_number(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise ArgumentTypeError(_("write a number from 1 to %(most)d") % {"most": most})
        return int(text)

    return read_number
