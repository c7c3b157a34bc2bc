"""How facts, conflicts and events are listed, and the form that each reader gets of each list."""

from collections.abc import Mapping
from dataclasses import replace

from django.utils.translation import gettext_lazy as _

from memory_app.facts.selectors import list_conflicts, list_facts
from memory_app.facts.words import EVENTS, STATES
from memory_app.memories.core import FactState
from memory_app.memories.listing import search_filter
from minara_site.access.principal import Principal
from minara_site.kernel.counts import count_tabs
from minara_site.kernel.ownership import Owner
from minara_site.shell.owners import owner_filter
from minara_site.web.filters import Filter, FilterKind
from minara_site.web.keyset import Order
from minara_site.web.lists import Column, Empty, ListSpec, Sort

FACTS = ListSpec(
    name="facts",
    caption=_("Facts"),
    row="memory_app/facts/_row.html",
    columns=(
        Column(_("Fact")),
        Column(_("Source")),
        Column(_("State")),
        Column(_("Recorded"), sorts=("newest", "oldest"), numeric=True),
    ),
    sorts=(
        Sort("newest", _("newest first"), Order("updated_at")),
        Sort("oldest", _("oldest first"), Order("updated_at", descending=False)),
    ),
    filters=(
        Filter(
            "state",
            _("State"),
            FilterKind.TABS,
            lookup="fact_state",
            choices=list(STATES.items()),
            default=FactState.SETTLED,
        ),
    ),
    empty=Empty(
        "fact",
        _("No settled facts"),
        _("An agent records a fact with memory_write and the category fact. The next sweep settles it."),
        action=_("Go to the memories"),
        url="memories:list",
    ),
)
CONFLICTS = ListSpec(
    name="conflicts",
    caption=_("Conflicts"),
    row="memory_app/facts/_conflict_row.html",
    columns=(Column(_("Two facts that may contradict each other")),),
    sorts=(
        Sort("newest", _("newest first"), Order("found_at")),
        Sort("oldest", _("oldest first"), Order("found_at", descending=False)),
    ),
    has_actions=False,
    page_size=20,
    empty=Empty(
        "check",
        _("No conflicts so far"),
        _("Two settled facts about the same with another value wait here until a person decides."),
        action=_("Go to the facts"),
        url="facts:list",
    ),
)
EVENT_LIST = ListSpec(
    name="fact-events",
    caption=_("Decisions on facts"),
    row="memory_app/facts/_event_row.html",
    columns=(
        Column(_("Decision")),
        Column(_("Fact")),
        Column(_("Decided by")),
        Column(_("When"), sorts=("newest", "oldest"), numeric=True),
    ),
    sorts=(
        Sort("newest", _("newest first"), Order("at")),
        Sort("oldest", _("oldest first"), Order("at", descending=False)),
    ),
    filters=(Filter("kind", _("Decision"), FilterKind.CHOICE, lookup="kind", choices=list(EVENTS.items())),),
    empty=Empty(
        "log",
        _("Nothing was decided yet"),
        _("Every fact that settles, is retired or comes back leaves a line here."),
        action=_("Go to the facts"),
        url="facts:list",
    ),
)


def spec_for(spec: ListSpec, principal: Principal, owner: Owner, *, asked: str) -> ListSpec:
    """Return a list as this reader gets it: operators choose the owner, and see whose the rows of everybody are."""
    filters: tuple[Filter, ...] = tuple(spec.filters)
    if spec is FACTS:
        filters = (replace(search_filter(owner), label=_("Search facts")), *filters)
    if principal.is_operator:
        filters = (*filters, owner_filter(principal.owner, owner, asked))
    return replace(spec, filters=filters)


def count_fact_tabs(owner: Owner) -> Mapping[str, int]:
    """Return how many facts stand behind each state, and under `conflicts` how many pairs wait. One query."""
    tabs = {state.value: list_facts(owner=owner, state=state) for state in FactState}
    return count_tabs({**tabs, "conflicts": list_conflicts(owner=owner)})
