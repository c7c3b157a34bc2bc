"""The navigation: what each principal may open, entry by entry of the side bar, with the pages of an entry as its tabs.

Each app declares its pages in `NAVIGATION` of its `navigation.py`; the entries themselves are the table here.
To add a page: one NavPage there, with the act that its view requires.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import SIGNED_IN, Act, Role
from minara_site.access.principal import Principal
from minara_site.kernel import registry
from minara_site.web.filters import Rows, Text

Waiting = Callable[[Principal, datetime], Mapping[str, Rows]]
"""What waits for the decision of a reader: rows by the name of what they are; two tabs may name the same."""


class NavEntry(StrEnum):
    """An entry of the side bar."""

    HOME = "home"
    FIND_CASE = "find_case"
    REVIEW = "review"
    MEMORIES = "memories"
    SEARCH = "search"
    ASSETS = "assets"
    PROMPT = "prompt"
    PROFILE = "profile"
    LEARNING = "learning"
    TRADING = "trading"
    SYSTEM = "system"
    PEOPLE = "people"
    SETTINGS = "settings"
    TRADING_CASES = "trading_cases"
    LEDGER = "ledger"
    INSTITUTION = "institution"


LABELS: dict[NavEntry, tuple[Text, str]] = {
    NavEntry.HOME: (_("Home"), "home"),
    NavEntry.FIND_CASE: (_("Find a case"), "search"),
    NavEntry.REVIEW: (_("Review"), "held"),
    NavEntry.MEMORIES: (_("Memories"), "memory"),
    NavEntry.SEARCH: (_("Search"), "search"),
    NavEntry.ASSETS: (_("Assets"), "asset"),
    NavEntry.PROMPT: (_("What the agent sees"), "prompt"),
    NavEntry.PROFILE: (_("Profile"), "role"),
    NavEntry.LEARNING: (_("Learning"), "reflect"),
    NavEntry.TRADING: (_("Trading"), "case"),
    NavEntry.SYSTEM: (_("System"), "wave"),
    NavEntry.PEOPLE: (_("People and logs"), "log"),
    NavEntry.SETTINGS: (_("Settings"), "gear"),
    NavEntry.TRADING_CASES: (_("Trading cases"), "case"),
    NavEntry.LEDGER: (_("Ledger"), "ledger"),
    NavEntry.INSTITUTION: (_("Institution runs"), "method"),
}
"""Label and icon of each entry."""

SIDE_BAR: dict[Role, tuple[NavEntry, ...]] = {
    Role.USER: (
        NavEntry.HOME,
        NavEntry.MEMORIES,
        NavEntry.SEARCH,
        NavEntry.ASSETS,
        NavEntry.PROMPT,
        NavEntry.PROFILE,
        NavEntry.LEARNING,
        NavEntry.TRADING,
        NavEntry.SETTINGS,
    ),
    Role.OPERATOR: (
        NavEntry.HOME,
        NavEntry.REVIEW,
        NavEntry.MEMORIES,
        NavEntry.SEARCH,
        NavEntry.ASSETS,
        NavEntry.PROMPT,
        NavEntry.PROFILE,
        NavEntry.LEARNING,
        NavEntry.TRADING,
        NavEntry.SYSTEM,
        NavEntry.PEOPLE,
        NavEntry.SETTINGS,
    ),
    Role.SUPPORT: (
        NavEntry.FIND_CASE,
        NavEntry.TRADING_CASES,
        NavEntry.LEDGER,
        NavEntry.INSTITUTION,
        NavEntry.SETTINGS,
    ),
}
"""The entries of each role, from the top. One without a page that the reader may open is not shown."""


@dataclass(frozen=True, slots=True)
class NavPage:
    """A page of the navigation: a tab of `entry`, at the place `order`. After `g`, `key` opens it.

    `roles` narrows who finds it there, where the act alone would show it to more. `also` names the pages without
    arguments that belong to the same tab under another address. `waiting` puts beside it how many rows wait.
    One that is `of_all` is a list of all owners' rows: with one owner in the address it belongs to another tab, which
    shows what that owner has.
    """

    name: str
    label: Text
    url_name: str
    act: Act
    entry: NavEntry
    order: int
    key: str = ""
    roles: frozenset[Role] = SIGNED_IN
    also: tuple[str, ...] = ()
    waiting: Waiting | None = None
    of_all: bool = False


@dataclass(frozen=True, slots=True)
class TabLink:
    """A page that this principal may open. `addresses` are those that begin the addresses of all that belongs to it."""

    name: str
    label: Text
    url: str
    key: str = ""
    addresses: tuple[str, ...] = ()
    waiting: Waiting | None = None
    of_all: bool = False


@dataclass(frozen=True, slots=True)
class EntryLink:
    """An entry of the side bar, with at least one tab; it leads to the first."""

    name: NavEntry
    label: Text
    icon: str
    tabs: tuple[TabLink, ...]

    @property
    def url(self) -> str:
        return self.tabs[0].url


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page belongs. `address` is the one of the tab that its own address begins with."""

    entry: EntryLink
    tab: TabLink
    address: str


@dataclass(frozen=True, slots=True)
class Crumb:
    """A step of the breadcrumb; the last one has no address."""

    label: Text
    url: str = ""


def load_entries(principal: Principal) -> list[EntryLink]:
    """Return the side bar of a principal."""
    pages = sorted(registry.load("navigation").values(), key=lambda page: page.order)
    found = [page for page in pages if principal.role in page.roles and principal.may(page.act)]
    entries = []
    for entry in SIDE_BAR.get(principal.role, ()):
        label, icon = LABELS[entry]
        if tabs := tuple(link_to(page) for page in found if page.entry is entry):
            entries.append(EntryLink(entry, label, icon, tabs))
    return entries


def link_to(page: NavPage) -> TabLink:
    """Return a page with its addresses."""
    url, *others = (reverse(name) for name in (page.url_name, *page.also))
    return TabLink(
        page.name,
        page.label,
        url,
        page.key,
        (url, *others),
        page.waiting,
        page.of_all,
    )


def find_place(
    entries: Sequence[EntryLink],
    path: str,
    *,
    of_one: bool = False,
) -> Place | None:
    """Return the tab that `path` belongs to: the one with the longest address that `path` begins with.

    Nothing is below the home page. A page `of_one` owner belongs to no tab that is `of_all`.
    """
    tabs = ((entry, tab) for entry in entries for tab in entry.tabs if not (of_one and tab.of_all))
    places = (Place(entry, tab, address) for entry, tab in tabs for address in tab.addresses)
    fitting = [
        each for each in places if path == each.address or (each.address != "/" and path.startswith(each.address))
    ]
    return max(fitting, key=lambda place: len(place.address), default=None)


def crumbs_to(
    place: Place | None,
    below: Sequence[Crumb],
    *,
    back_url: str = "",
) -> list[Crumb]:
    """Return the way to a page: the entry, the tab, and the steps below it.

    Of steps with the same label in a row the last counts. `back_url` is the tab's address with what was chosen there.
    """
    way = list(below)
    if place:
        entry_url = "" if place.entry.url == place.tab.url else place.entry.url
        way = [
            Crumb(place.entry.label, entry_url),
            Crumb(place.tab.label, back_url or place.tab.url),
            *way,
        ]
    way = [step for step, after in pairwise(way) if step.label != after.label] + way[-1:]
    return [*way[:-1], Crumb(way[-1].label)]
