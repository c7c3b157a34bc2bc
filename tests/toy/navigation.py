"""The app's pages of the navigation."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import Act
from minara_site.shell.nav import NavEntry, NavPage

NAVIGATION = (NavPage("notes", _("Notes"), "toy:notes", Act.MEMORY_READ, NavEntry.MEMORIES, 7),)
