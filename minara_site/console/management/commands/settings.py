"""`minara settings`: every variable as this process reads it; secrets never."""

from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from minara_site.console.effective_settings.selectors import list_variables
from minara_site.kernel.command import MinaraCommand


class Command(MinaraCommand):
    """Print the effective settings."""

    help = "Print every environment variable as Minara reads it, and where its value came from."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one line for each variable, group by group."""
        for reader, variables in list_variables(settings.MINARA):
            self.stdout.write(f"# {reader}")
            for variable in variables:
                is_set = _("set") if variable.is_set else _("not set")
                value = is_set if variable.is_secret else variable.value
                self.stdout.write(f"{variable.name}={value}  ({variable.origin})")
