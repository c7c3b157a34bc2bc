"""What the shell needs on every page, worked out when a template first asks."""

import json
from functools import cached_property
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.access.principal import ANONYMOUS, Principal
from minara_site.kernel.guard.selectors import list_holds
from minara_site.kernel.ownership import EVERYONE
from minara_site.shell.nav import SEARCH, Crumb, NavLink, crumbs_for, current_link, links_for

MOST_WAITING = 99
WAITING = "held_waiting"
THEMES = ("system", "light", "dark")


class Shell:
    """The frame around a page: navigation by role, and how this reader wants it to look."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.principal: Principal = getattr(request, "principal", ANONYMOUS)

    @cached_property
    def groups(self) -> list[list[NavLink]]:
        """Return the side bar."""
        return links_for(self.principal)

    @cached_property
    def current(self) -> NavLink | None:
        """Return the page of the side bar that this one belongs to."""
        return current_link(self.groups, self.request.path)

    def crumbs_to(self, title: str) -> list[Crumb]:
        """Return the way to a page of this title."""
        return crumbs_for(self.current, self.request.path, title)

    @cached_property
    def waiting(self) -> str:
        """Return how many held texts wait for this reader, empty for none.

        One query, which reads at most 100 rows; none where `tell_waiting` said it.
        """
        if (known := getattr(self.request, WAITING, None)) is not None:
            return waiting_words(known)
        if not self.principal.may(Act.HOLDS_READ):
            return ""
        owner = EVERYONE if self.principal.is_operator else self.principal.owner
        return waiting_words(list_holds(owner=owner).order_by()[: MOST_WAITING + 1].count())

    @property
    def search(self) -> NavLink | None:
        """Return the search page, which also stands above the side bar."""
        return next((link for links in self.groups for link in links if link.name == SEARCH), None)

    @property
    def theme(self) -> str:
        """Return light, dark or system."""
        return str(getattr(self.principal.user, "theme", "system"))

    @property
    def next_theme(self) -> str:
        """Return the theme that the button of the top bar asks for."""
        return THEMES[(THEMES.index(self.theme) + 1) % len(THEMES)]

    @property
    def theme_labels(self) -> dict[str, str]:
        """Return what the button of the top bar says for each theme."""
        return {"system": _("Theme: as the system"), "light": _("Theme: light"), "dark": _("Theme: dark")}

    @property
    def theme_label(self) -> str:
        """Return what the button of the top bar says now."""
        return self.theme_labels[self.theme]

    @property
    def theme_labels_json(self) -> str:
        """Return the labels for the script."""
        return json.dumps(self.theme_labels)

    @property
    def density(self) -> str:
        """Return compact, standard or comfortable."""
        return str(getattr(self.principal.user, "density", "standard"))

    @property
    def shortcuts(self) -> str:
        """Return on or off: WCAG 2.1.4 asks that single-key shortcuts can be turned off."""
        return "on" if getattr(self.principal.user, "shortcuts", True) else "off"

    @property
    def name(self) -> str:
        """Return what the console calls the reader."""
        return self.principal.user.get_short_name() if self.principal.user else ""

    @property
    def initials(self) -> str:
        """Return one or two letters for the avatar."""
        words = self.name.split()
        return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper() or "?"


def tell_waiting(request: HttpRequest, count: int) -> None:
    """Give the shell a count that the page has read already."""
    setattr(request, WAITING, count)


def waiting_words(count: int) -> str:
    """Return a count as the badge of the side bar shows it."""
    return f"{MOST_WAITING}+" if count > MOST_WAITING else str(count or "")


def shell(request: HttpRequest) -> dict[str, Any]:
    """Give the templates the shell and the principal."""
    frame = Shell(request)
    return {"shell": frame, "principal": frame.principal}
