"""What the shell needs on every page, worked out when a template first asks."""

import json
from collections.abc import Sequence
from functools import cached_property, reduce
from operator import or_
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.principal import ANONYMOUS, Principal
from minara_site.kernel.counts import RowCount, count_each
from minara_site.kernel.ownership import ALL_OWNERS
from minara_site.shell.nav import Crumb, EntryLink, Place, TabLink, crumbs_to, find_place, load_entries

SEARCH, BELL = "search", ("alerts", "own_queue")
MAX_WAITING = 99
WAITING = "rows_waiting"
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
        of_one = self.request.GET.get("owner", ALL_OWNERS) != ALL_OWNERS
        return find_place(self.entries, self.request.path, of_one=of_one)

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
    def waiting(self) -> dict[EntryLink | TabLink, int]:
        """Return how many rows wait for the reader under each entry and each tab.

        What two tabs of an entry name alike counts once.
        """
        counts = count_waiting(self.request, self.entries)
        waiting: dict[EntryLink | TabLink, int] = {}
        for entry in self.entries:
            found = {tab: {name: each.number for name, each in counts.get(tab, {}).items()} for tab in entry.tabs}
            waiting |= {tab: sum(numbers.values()) for tab, numbers in found.items()}
            waiting[entry] = sum(reduce(or_, found.values()).values())
        return waiting

    @property
    def side_bar(self) -> list[tuple[EntryLink, str]]:
        """Return the entries with the badge of each."""
        return [(entry, waiting_label(self.waiting[entry])) for entry in self.entries]

    @property
    def tabs(self) -> list[tuple[TabLink, str]]:
        """Return the tabs of the entry that this page belongs to with the badge of each; none where it has only one."""
        tabs = self.place.entry.tabs if self.place else ()
        return [(tab, waiting_label(self.waiting[tab])) for tab in tabs] if len(tabs) > 1 else []

    @property
    def search(self) -> TabLink | None:
        """Return the search page, which is also above the side bar."""
        return next(
            (tab for entry in self.entries for tab in entry.tabs if tab.name == SEARCH),
            None,
        )

    @cached_property
    def alerts(self) -> TabLink | None:
        """Return what the bell above the side bar leads to: alerts, or what waits for an owner; None without any."""
        return next(
            (tab for entry in self.entries for tab in entry.tabs if tab.name in BELL),
            None,
        )

    @property
    def open_alerts(self) -> str:
        """Return how many rows wait there, empty for none."""
        return waiting_label(self.waiting[self.alerts]) if self.alerts else ""

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
        return {
            "system": _("Theme: as the system"),
            "light": _("Theme: light"),
            "dark": _("Theme: dark"),
        }

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


def count_waiting(
    request: HttpRequest,
    entries: Sequence[EntryLink],
    *,
    limit: int = MAX_WAITING + 1,
) -> dict[TabLink, dict[str, RowCount]]:
    """Return by tab how many rows of each name wait for the reader, at most `limit` of each. One query a request."""
    known: dict[TabLink, dict[str, RowCount]] | None = getattr(request, WAITING, None)
    if known is None:
        principal, now = getattr(request, "principal", ANONYMOUS), timezone.now()
        tabs = {tab: tab.waiting(principal, now) for entry in entries for tab in entry.tabs if tab.waiting}
        rows = {name: each for found in tabs.values() for name, each in found.items()}
        counts = dict(zip(rows, count_each(*rows.values(), limit=limit), strict=True)) if rows else {}
        known = {tab: {name: counts[name] for name in found} for tab, found in tabs.items()}
        setattr(request, WAITING, known)
    return known


def waiting_label(count: int) -> str:
    """Return a count as the badge of the side bar shows it."""
    return f"{MAX_WAITING}+" if count > MAX_WAITING else str(count or "")


def shell(request: HttpRequest) -> dict[str, Any]:
    """Give the templates the shell and the principal."""
    frame = Shell(request)
    return {"shell": frame, "principal": frame.principal}
