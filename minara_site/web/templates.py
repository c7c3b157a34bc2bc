"""How templates are read: pages are sent without the indents that templates have for their readers."""

import re

from django.template.base import Origin
from django.template.loaders import filesystem

INDENT = re.compile(r"(?<=\n)[ \t]+")


class Loader(filesystem.Loader):
    """Leaves out the indents; line breaks stay, so that an error names the line where it stands."""

    def get_contents(self, origin: Origin) -> str:
        """Return the text of a template."""
        return INDENT.sub("", super().get_contents(origin))
