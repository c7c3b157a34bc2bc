"""The app's pages of the navigation, entry by entry."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import Act
from minara_site.shell.nav import NavEntry, NavPage

NAVIGATION = (
    NavPage("methodologies", _("Methodologies"), "methodologies:list", Act.METHODOLOGIES_READ, NavEntry.LEARNING, 4),
)
