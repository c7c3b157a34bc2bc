"""How role memory is listed: its filters, and the form that each reader gets of the list and of the outcome queue."""

from collections.abc import Mapping, Sequence
from typing import cast

from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.index.pages import search_filter
from memory_app.index.selectors import limited, narrow_entries
from memory_app.roles.core import Status
from memory_app.roles.core.declarations import is_id
from memory_app.roles.labels import CLASSES, OUTCOMES, STATUSES
from memory_app.roles.models import RoleMemoryQuerySet
from memory_app.roles.registry import registry
from memory_app.roles.selectors import list_entries, list_manual_due
from minara_site.access.policy import Act
from minara_site.kernel.ownership import Owner
from minara_site.shell.lists import OwnedList
from minara_site.web.filters import Filter, FilterKind, Rows, choice, dates
from minara_site.web.labels import declared_label
from minara_site.web.lists import Column, Empty, ListSpec, by_time, time_column
from minara_site.web.market_labels import symbol_filter

ANY_STATUS = "all"


STATUS = Filter(
    "status",
    gettext_lazy("Status"),
    FilterKind.TABS,
    choices=((ANY_STATUS, gettext_lazy("All")), *STATUSES.items()),
    default=ANY_STATUS,
    apply=lambda rows, status: rows if status == ANY_STATUS else rows.filter(status=status),
)
NARROWING = (
    symbol_filter("asset", gettext_lazy("Asset")),
    choice(
        "class",
        gettext_lazy("Class"),
        [(name.value, name.value) for name in CLASSES],
        lookup="classification",
    ),
    Filter(
        "lesson",
        gettext_lazy("Lesson"),
        FilterKind.ONE,
        choices=[("yes", gettext_lazy("with a lesson"))],
        apply=lambda rows, _choice: cast(RoleMemoryQuerySet, rows).with_lesson(),
    ),
    choice("outcome", gettext_lazy("Outcome"), OUTCOMES),
    *dates("decided_at", gettext_lazy("Decided after"), gettext_lazy("Decided before")),
)
NEWEST, OLDEST = by_time("decided_at")
ENTRIES = ListSpec(
    name="role-memory",
    caption=gettext_lazy("Decisions"),
    row="memory_app/roles/_entry_row.html",
    filters=(STATUS, *NARROWING),
    columns=(
        Column(gettext_lazy("Decision")),
        Column(gettext_lazy("Outcome")),
        Column(gettext_lazy("Class")),
        Column(gettext_lazy("Lesson, or why there is none")),
        time_column(gettext_lazy("Decided")),
    ),
    sorts=(NEWEST, OLDEST),
    has_actions=False,
    empty=Empty(
        "role",
        gettext_lazy("No decisions recorded"),
        gettext_lazy(
            "An agent records what it decides in a declared role. When the outcome is known, its lesson is shown here."
        ),
        action=gettext_lazy("Look at the roles"),
        url="roles:list",
    ),
)
OUTCOMES_DUE = ListSpec(
    name="outcomes",
    caption=gettext_lazy("Outcomes to mark"),
    row="memory_app/roles/_outcome_row.html",
    columns=(),
    sorts=(OLDEST, NEWEST),
    has_actions=False,
    empty=Empty(
        "check",
        gettext_lazy("Nothing waits for you"),
        gettext_lazy("Decisions whose outcome no probe can find come here once they are old enough to be judged."),
        action=gettext_lazy("See all decisions"),
        url="role_memory:list",
    ),
)


def role_filter(asked: Sequence[str]) -> Filter:
    """Return the choice of roles: those that are declared, and whatever the address names beyond them."""
    labels = {each.id: declared_label(each.role.label) for each in registry().all()}
    undeclared = {role_id: role_id for role_id in asked if is_id(role_id) and role_id not in labels}
    choices = [*labels.items(), *undeclared.items()]
    return choice("role", _("Decision role"), choices, lookup="role_id")


def entry_tabs(owner: Owner) -> Mapping[str, Rows]:
    """Return the entries behind each tab."""
    entries = list_entries(owner=owner, include_held=True)
    return {
        **{status.value: entries.filter(status=status) for status in Status},
        ANY_STATUS: entries,
    }


ENTRY_LIST = OwnedList(
    spec=ENTRIES,
    act=Act.ROLE_MEMORY_READ,
    kind="role_memory",
    rows=lambda owner: list_entries(owner=owner, include_held=True),
    own=gettext_lazy("Decisions"),
    of=gettext_lazy("Decisions of %(owner)s"),
    filters=lambda params, owner: (
        search_filter(_("Search decisions"), narrow_entries, owner),
        role_filter(params.getlist("role")),
    ),
    tabs=entry_tabs,
    within=lambda params: limited(params.get("q")),
    template="memory_app/roles/entries.html",
)
OUTCOME_LIST = OwnedList(
    spec=OUTCOMES_DUE,
    act=Act.ROLE_MEMORY_READ,
    kind="role_memory",
    rows=lambda owner: list_manual_due(owner=owner, now=timezone.now()),
    own=gettext_lazy("Outcomes to mark"),
    of=gettext_lazy("Outcomes to mark"),
    filters=lambda params, _owner: (role_filter(params.getlist("role")),),
    begins_with_all=True,
    template="memory_app/roles/outcomes.html",
)
