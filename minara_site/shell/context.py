"""What the shell needs on every page, worked out when a template first asks."""

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.access.principal import ANONYMOUS, Principal
from minara_site.kernel.counts import count_each
from minara_site.kernel.guard.selectors import list_holds
from minara_site.shell.nav import Crumb, EntryLink, Place, TabLink, crumbs_to, find_place, load_entries
from minara_site.shell.review import review_kinds

SEARCH = "search"
MAX_WAITING = 99
WAITING = "items_waiting"
THEMES = ("system", "light", "dark")


class Shell:
    """The frame around a page: navigation by role, and how this reader wants it to look."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.principal: Principal = getattr(request, "principal", ANONYMOUS)

    @cached_property
    def entries(self) -> list[EntryLink]:
        return load_entries(self.principal)

    @cached_property
    def place(self) -> Place | None:
        """Return the entry and the tab that this page belongs to; None for one that belongs to none."""
        return find_place(self.entries, self.request.path)

    @property
    def is_tab(self) -> bool:
        """Whether this page is a tab itself, and not one that opens from it."""
        return self.place is not None and self.request.path == self.place.address

    @cached_property
    def back_url(self) -> str:
        """Return the address that leads back from this page, with the filters that the reader had there a click ago."""
        if self.place is None or self.is_tab:
            return self.place.tab.url if self.place else ""
        came_from = urlsplit(self.request.headers.get("Referer", ""))
        is_from_there = (came_from.netloc, came_from.path) == (self.request.get_host(), self.place.address)
        return f"{self.place.address}?{came_from.query}" if is_from_there and came_from.query else self.place.address

    def crumbs(self, title: str, below: Sequence[Crumb] | None = None) -> list[Crumb]:
        """Return the way to a page; without `below`, one that is no tab is a step of its title below its tab."""
        if below is None:
            below = () if self.place and self.request.path == self.place.tab.url else (Crumb(title),)
        return crumbs_to(self.place, below, back_url=self.back_url)

    @cached_property
    def waiting(self) -> str:
        """Return how many items wait for a decision of this reader, empty for none.

        For operators the whole queue, for an owner what is held. One query, which reads at most 100 rows of each kind;
        none where `set_waiting_count` said it.
        """
        if (known := getattr(self.request, WAITING, None)) is not None:
            return waiting_label(known)
        if self.principal.may(Act.REVIEW):
            kinds = [kind.waiting() for kind in review_kinds().values()]
            return waiting_label(sum(count.number for count in count_each(*kinds, limit=MAX_WAITING + 1)))
        if not self.principal.may(Act.HOLDS_READ):
            return ""
        return waiting_label(list_holds(owner=self.principal.owner).order_by()[: MAX_WAITING + 1].count())

    @property
    def search(self) -> TabLink | None:
        """Return the search page, which is also above the side bar."""
        return next((tab for entry in self.entries for tab in entry.tabs if tab.name == SEARCH), None)

    @property
    def theme(self) -> str:
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
        return self.theme_labels[self.theme]

    @property
    def theme_labels_json(self) -> str:
        return json.dumps(self.theme_labels)

    @property
    def density(self) -> str:
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


def set_waiting_count(request: HttpRequest, count: int) -> None:
    """Give the shell a count that the page has read already."""
    setattr(request, WAITING, count)


def waiting_label(count: int) -> str:
    """Return a count as the badge of the side bar shows it."""
    return f"{MAX_WAITING}+" if count > MAX_WAITING else str(count or "")


def shell(request: HttpRequest) -> dict[str, Any]:
    """Give the templates the shell and the principal."""
    frame = Shell(request)
    return {"shell": frame, "principal": frame.principal}
