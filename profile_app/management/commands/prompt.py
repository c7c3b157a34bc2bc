"""`minara prompt`: what a session that begins now would read, byte for byte. Source: S1 (/prompt)."""

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.owner_command import OwnerCommand
from minara_site.kernel.core.hidden import visible
from profile_app.prompt.selectors import load_next_prompt


class Command(OwnerCommand):
    """Print the prompt of the next session."""

    help = "Print what a session that begins now would read, and its estimated tokens."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare whose prompt it is."""
        self.add_user(parser, "whose prompt is printed")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the text; hidden characters are shown by their names. Raises CommandError for an unknown user."""
        prompt = load_next_prompt(owner=self.owner(options), now=timezone.now())
        self.stdout.write("\n".join(visible(line) for line in prompt.text.split("\n")))
        self.stderr.write(_("About %(tokens)d tokens.") % {"tokens": prompt.tokens})
