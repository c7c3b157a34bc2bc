"""The list of people, as it is declared."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import Role
from minara_site.console.users.forms import ROLE_NAMES
from minara_site.console.users.selectors import Standing, any_of, of_role, of_standing
from minara_site.web.filters import Rows
from minara_site.web.keyset import Order
from minara_site.web.lists import Column, Empty, Filter, FilterKind, ListSpec, Sort

EVERY = "all"
YES, NO = "yes", "no"


def narrow_by_name(rows: Rows, text: str) -> Rows:
    """Keep whose user name or display name holds the text."""
    return rows.filter(username__icontains=text) | rows.filter(display_name__icontains=text)


def narrow_by_standing(rows: Rows, standing: str) -> Rows:
    """Keep who stands like this."""
    return rows if standing == EVERY else rows.filter(of_standing(standing))


def narrow_by_role(rows: Rows, roles: tuple[str, ...]) -> Rows:
    """Keep who has one of the roles."""
    return rows.filter(any_of(of_role(role) for role in roles))


def narrow_by_factor(rows: Rows, answers: tuple[str, ...]) -> Rows:
    """Keep who has a second factor, or who has none."""
    return rows.filter(has_factor__in=[answer == YES for answer in answers])


USERS = ListSpec(
    name="users",
    caption=_("Users"),
    row="console/users/_row.html",
    columns=(
        Column(_("Name"), sorts=("name",)),
        Column(_("Role")),
        Column(_("State")),
        Column(_("Second factor")),
        Column(_("Sessions"), numeric=True),
        Column(_("Keys"), numeric=True),
        Column(_("Last sign-in"), numeric=True),
    ),
    sorts=(
        Sort("name", _("by name"), Order("username", descending=False)),
        Sort("newest", _("newest first"), Order("date_joined")),
    ),
    filters=(
        Filter("q", _("Search by name"), FilterKind.SEARCH, apply=narrow_by_name),
        Filter(
            "state",
            _("State"),
            FilterKind.TABS,
            apply=narrow_by_standing,
            choices=(
                (EVERY, _("All")),
                (Standing.ACTIVE.value, _("Active")),
                (Standing.INVITED.value, _("Invited")),
                (Standing.NO_PASSWORD.value, _("No password")),
                (Standing.DISABLED.value, _("Disabled")),
            ),
            default=EVERY,
        ),
        Filter(
            "role",
            _("Role"),
            FilterKind.CHOICE,
            apply=narrow_by_role,
            choices=[(role.value, ROLE_NAMES[role]) for role in (Role.USER, Role.OPERATOR, Role.SUPPORT)],
        ),
        Filter(
            "factor",
            _("Second factor"),
            FilterKind.CHOICE,
            apply=narrow_by_factor,
            choices=((YES, _("yes")), (NO, _("no"))),
        ),
    ),
    empty=Empty("person", _("No users"), _("Nobody can sign in yet."), action=_("Invite somebody"), url="users:invite"),
    has_actions=False,
)
