"""The navigation: what each principal may open, in the order of the side bar.

To add a page: one NavItem here, with the act that its view requires.
"""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.web.filters import Text


@dataclass(frozen=True, slots=True)
class NavItem:
    """A page of the side bar. After `g`, `key` opens it."""

    label: Text
    url_name: str
    icon: str
    act: Act
    key: str = ""


@dataclass(frozen=True, slots=True)
class NavGroup:
    """Pages that belong together; a group without label stands alone."""

    label: Text
    items: tuple[NavItem, ...]


@dataclass(frozen=True, slots=True)
class NavLink:
    """A page that this principal may open."""

    name: str
    label: Text
    url: str
    icon: str
    key: str
    group: Text


@dataclass(frozen=True, slots=True)
class Crumb:
    """A step of the breadcrumb; the last one has no address."""

    label: Text
    url: str = ""


SEARCH = "search:page"
NAV = (
    NavGroup("", (NavItem(_("Home"), "home", "home", Act.HOME, "h"),)),
    NavGroup(
        _("Memory"),
        (
            NavItem(_("Memories"), "memories:list", "memory", Act.MEMORY_READ, "m"),
            NavItem(_("Held"), "held:list", "held", Act.HOLDS_READ, "b"),
            NavItem(_("Facts"), "facts:list", "fact", Act.FACTS_READ, "f"),
            NavItem(_("Search"), SEARCH, "search", Act.SEARCH, "s"),
            NavItem(_("Search lab"), "search_lab:page", "lab", Act.SEARCH),
            NavItem(_("Assets"), "pages:list", "asset", Act.COMPILED_READ),
            NavItem(_("Entities"), "edges:graph", "graph", Act.GRAPH_READ),
            NavItem(_("What the agent sees"), "prompt:page", "prompt", Act.PROMPT_READ, "p"),
            NavItem(_("Trash"), "memories:trash", "trash", Act.MEMORY_READ, "t"),
        ),
    ),
    NavGroup(
        _("You"),
        (
            NavItem(_("User profile"), "user_profile:page", "person", Act.USER_PROFILE_READ, "u"),
            NavItem(_("Export"), "bundle:exports", "download", Act.EXPORT),
            NavItem(_("Import"), "bundle:imports", "io", Act.IMPORT_PREVIEW),
        ),
    ),
    NavGroup(
        _("Learning"),
        (
            NavItem(_("Roles"), "roles:list", "role", Act.ROLES_READ, "r"),
            NavItem(_("Role memory"), "role_memory:list", "reflect", Act.ROLE_MEMORY_READ, "d"),
        ),
    ),
    NavGroup(
        _("Operations"),
        (
            NavItem(_("Writes"), "writes:page", "diff", Act.WRITES_READ, "w"),
            NavItem(_("Jobs"), "jobs:list", "jobs", Act.JOBS_READ, "j"),
            NavItem(_("Budgets"), "budgets:list", "budget", Act.BUDGET_READ),
            NavItem(_("Governance"), "governance:page", "method", Act.GOVERNANCE_READ),
            NavItem(_("Audit log"), "audit_log:list", "log", Act.AUDIT_LOG, "l"),
            NavItem(_("Embeddings"), "embeddings:page", "spark", Act.EMBEDDINGS),
            NavItem(_("Scan rules"), "scan_rules:page", "shield", Act.SCAN_RULES),
            NavItem(_("Users"), "users:list", "person", Act.USERS_READ),
            NavItem(_("Access log"), "access_log:list", "eye", Act.ACCESS_LOG),
            NavItem(_("Status"), "status:page", "wave", Act.STATUS),
            NavItem(_("Doctor"), "doctor:page", "doctor", Act.DOCTOR),
            NavItem(_("Effective settings"), "effective_settings:page", "gear", Act.EFFECTIVE_SETTINGS),
        ),
    ),
    NavGroup(
        _("Account"),
        (
            NavItem(_("API keys"), "access:keys", "key", Act.KEYS, "k"),
            NavItem(_("Security"), "access:security", "shield", Act.SECURITY),
            NavItem(_("Settings"), "console:settings", "gear", Act.OWN_SETTINGS, "o"),
        ),
    ),
)


def links_for(principal: Principal) -> list[list[NavLink]]:
    """Return the groups with what this principal may open; empty groups are left out."""
    groups = [[link_to(item, group) for item in group.items if principal.may(item.act)] for group in NAV]
    return [links for links in groups if links]


def link_to(item: NavItem, group: NavGroup) -> NavLink:
    """Return an item with its address."""
    return NavLink(item.url_name, item.label, reverse(item.url_name), item.icon, item.key, group.label)


def current_link(groups: list[list[NavLink]], path: str) -> NavLink | None:
    """Return the page that `path` belongs to: the one with the longest address that `path` begins with."""
    links = [link for group in groups for link in group]
    fitting = [link for link in links if path == link.url or (link.url != "/" and path.startswith(link.url))]
    return max(fitting, key=lambda link: len(link.url), default=None)


def crumbs_for(current: NavLink | None, path: str, title: str) -> list[Crumb]:
    """Return the way to a page: its group, the page of the side bar, and its own title when it lies deeper."""
    if current is None:
        return [Crumb(title)]
    steps = [Crumb(current.group)] if current.group and current.group != current.label else []
    if path == current.url or title == current.label:
        return [*steps, Crumb(current.label)]
    return [*steps, Crumb(current.label, current.url), Crumb(title)]
