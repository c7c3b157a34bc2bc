"""The console's pages of the navigation, those of one's own account among them, entry by entry."""

from collections.abc import Mapping
from datetime import datetime

from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import OPERATORS, OWNERS, Act, Role
from minara_site.access.principal import Principal
from minara_site.console.models import Alert
from minara_site.console.quarantine.pages import owner_kinds
from minara_site.console.quarantine.queue import in_queue
from minara_site.kernel.guard.selectors import list_holds
from minara_site.kernel.ownership import EVERYONE
from minara_site.shell.nav import NavEntry, NavPage
from minara_site.web.filters import Rows

USERS = frozenset({Role.USER})
SUPPORT = frozenset({Role.SUPPORT})


def held_texts(_principal: Principal, _now: datetime) -> Mapping[str, Rows]:
    """Return the held texts of all owners: those of the queue, and those that only their owner lets in."""
    holds = list_holds(owner=EVERYONE).filter(owner__isnull=False)
    own = holds.filter(kind__in=owner_kinds())
    return {"hold": holds.exclude(kind__in=owner_kinds()), "hold_for_owner": own}


def open_alerts(_principal: Principal, _now: datetime) -> Mapping[str, Rows]:
    """Return the open alerts."""
    return {"alert": Alert.objects.open()}


def own_held_texts(principal: Principal, _now: datetime) -> Mapping[str, Rows]:
    """Return the reader's held texts."""
    return {"hold": list_holds(owner=principal.owner)}


NAVIGATION = (
    NavPage("home", _("Home"), "home", Act.HOME, NavEntry.HOME, 1, "h", roles=OWNERS, also=("console:demo_remove",)),
    NavPage("find_case", _("Find a case"), "home", Act.HOME, NavEntry.FIND_CASE, 1, "h", roles=SUPPORT),
    NavPage(
        "queue",
        _("Queue"),
        "quarantine:list",
        Act.REVIEW_OWN,
        NavEntry.REVIEW,
        1,
        "q",
        roles=OPERATORS,
        waiting=in_queue,
    ),
    NavPage(
        "own_queue",
        _("Review"),
        "quarantine:list",
        Act.REVIEW_OWN,
        NavEntry.MEMORIES,
        5,
        "q",
        roles=USERS,
        waiting=in_queue,
    ),
    NavPage(
        "review.held",
        _("Held texts"),
        "held:list",
        Act.HOLDS_READ,
        NavEntry.REVIEW,
        2,
        "b",
        roles=OPERATORS,
        waiting=held_texts,
        of_all=True,
    ),
    NavPage("alerts", _("Alerts"), "inbox:list", Act.INBOX_READ, NavEntry.REVIEW, 6, waiting=open_alerts),
    NavPage(
        "held",
        _("Held texts"),
        "held:list",
        Act.HOLDS_READ,
        NavEntry.MEMORIES,
        4,
        "b",
        roles=USERS,
        waiting=own_held_texts,
    ),
    NavPage("status", _("Status"), "status:page", Act.STATUS, NavEntry.SYSTEM, 1),
    NavPage("jobs", _("Jobs"), "jobs:list", Act.JOBS_READ, NavEntry.SYSTEM, 3, "j"),
    NavPage("budgets", _("Budgets"), "budgets:list", Act.BUDGET_READ, NavEntry.SYSTEM, 4),
    NavPage("automation", _("Automation"), "governance:page", Act.GOVERNANCE_READ, NavEntry.SYSTEM, 5),
    NavPage("guard_rules", _("Guard rules"), "scan_rules:page", Act.SCAN_RULES, NavEntry.SYSTEM, 7),
    NavPage("prices", _("Prices"), "prices:page", Act.PRICES_REVIEW, NavEntry.SYSTEM, 8),
    NavPage("configuration", _("Configuration"), "effective_settings:page", Act.EFFECTIVE_SETTINGS, NavEntry.SYSTEM, 9),
    NavPage("users", _("Users"), "users:list", Act.USERS_READ, NavEntry.PEOPLE, 1),
    NavPage("audit_log", _("Audit log"), "audit_log:list", Act.AUDIT_LOG, NavEntry.PEOPLE, 2, "l"),
    NavPage("access_log", _("Access log"), "access_log:list", Act.ACCESS_LOG, NavEntry.PEOPLE, 3),
    NavPage("settings", _("Settings"), "console:settings", Act.OWN_SETTINGS, NavEntry.SETTINGS, 1, "o"),
    NavPage("security", _("Security"), "access:security", Act.SECURITY, NavEntry.SETTINGS, 3),
    NavPage("reveals", _("My reveals"), "access_log:reveals", Act.OWN_SETTINGS, NavEntry.SETTINGS, 4, roles=SUPPORT),
    NavPage("keys", _("API keys"), "access:keys", Act.KEYS, NavEntry.SETTINGS, 4, "k"),
    NavPage("privacy", _("Privacy"), "access_log:own", Act.OWN_SETTINGS, NavEntry.SETTINGS, 5, roles=OWNERS),
)
