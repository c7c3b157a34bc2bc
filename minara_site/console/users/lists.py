"""The list of people, as it is declared."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import Role
from minara_site.console.users.forms import ROLE_NAMES
from minara_site.console.users.selectors import AccountStatus, any_of, of_role, of_status
from minara_site.web.filters import search_in
from minara_site.web.keyset import Order
from minara_site.web.lists import Column, Empty, Filter, FilterKind, ListSpec, Sort, newest_first

EVERY = "all"
YES, NO = "yes", "no"


USERS = ListSpec(
    name="users",
    caption=_("Users"),
    row="console/users/_row.html",
    columns=(
        Column(_("Name"), sorts=("name",)),
        Column(_("Account type")),
        Column(_("State")),
        Column(_("Second factor")),
        Column(_("Sign-ins"), numeric=True),
        Column(_("Keys"), numeric=True),
        Column(_("Last sign-in"), numeric=True),
    ),
    sorts=(
        Sort("name", _("by name"), Order("username", descending=False)),
        newest_first("date_joined"),
    ),
    filters=(
        search_in(_("Search by name"), "username", "display_name"),
        Filter(
            "state",
            _("State"),
            FilterKind.TABS,
            apply=lambda rows, status: rows if status == EVERY else rows.filter(of_status(status)),
            choices=(
                (EVERY, _("All")),
                (AccountStatus.ACTIVE.value, _("Active")),
                (AccountStatus.INVITED.value, _("Invited")),
                (AccountStatus.NO_PASSWORD.value, _("No password")),
                (AccountStatus.DISABLED.value, _("Disabled")),
            ),
            default=EVERY,
        ),
        Filter(
            "role",
            _("Account type"),
            FilterKind.CHOICE,
            apply=lambda rows, roles: rows.filter(any_of(of_role(role) for role in roles)),
            choices=[(role.value, ROLE_NAMES[role]) for role in (Role.USER, Role.OPERATOR, Role.SUPPORT)],
        ),
        Filter(
            "factor",
            _("Second factor"),
            FilterKind.CHOICE,
            apply=lambda rows, answers: rows.filter(has_factor__in=[answer == YES for answer in answers]),
            choices=((YES, _("yes")), (NO, _("no"))),
        ),
    ),
    empty=Empty(
        "person",
        _("No users"),
        _("No one can sign in yet."),
        action=_("Invite a person"),
        url="users:invite",
    ),
    has_actions=False,
)
