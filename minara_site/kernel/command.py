"""What every `minara` command has in common."""

from django.core.management.base import BaseCommand

SETUP = "setup"


class MinaraCommand(BaseCommand):
    """A command that begins soon: it checks how the installation is set up, and does not load the pages for it.

    `minara check` looks at everything.
    """

    requires_system_checks = (SETUP,)
