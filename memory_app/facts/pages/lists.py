"""How facts, conflicts and events are listed, and the form that each reader gets of each list."""

from django.utils.translation import gettext_lazy as _

from memory_app.facts.labels import EVENTS, STATES
from memory_app.facts.pages.rows import shape_conflicts, shape_events, shape_facts
from memory_app.facts.selectors import list_conflicts, list_events, list_facts
from memory_app.index.pages import search_filter
from memory_app.index.selectors import limited, narrow
from memory_app.memories.core import FactState
from minara_site.access.policy import Act
from minara_site.shell.lists import OwnedList
from minara_site.web.filters import Filter, FilterKind, choice
from minara_site.web.lists import Column, Empty, ListSpec, by_time, time_column

FACTS = ListSpec(
    name="facts",
    caption=_("Facts"),
    row="memory_app/facts/_row.html",
    columns=(
        Column(_("Fact")),
        Column(_("Source")),
        Column(_("State")),
        time_column(_("Recorded")),
    ),
    sorts=by_time("updated_at"),
    filters=(
        Filter(
            "state",
            _("State"),
            FilterKind.TABS,
            lookup="fact_state",
            choices=STATES,
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
    columns=(Column(_("Two memories of which only one can be true")),),
    sorts=by_time("found_at"),
    has_actions=False,
    page_size=20,
    empty=Empty(
        "check",
        _("No conflicts so far"),
        _("Two memories that cannot both be true, or a limit and what it forbids, wait here until you decide."),
        action=_("Go to the facts"),
        url="facts:list",
    ),
)
EVENTS_DECIDED = ListSpec(
    name="fact-events",
    caption=_("Decisions on facts"),
    row="memory_app/facts/_event_row.html",
    columns=(
        Column(_("Decision")),
        Column(_("Fact")),
        Column(_("Decided by")),
        time_column(_("When")),
    ),
    sorts=by_time("at"),
    filters=(choice("kind", _("Decision"), EVENTS),),
    empty=Empty(
        "log",
        _("Nothing was decided yet"),
        _("Every fact that settles, is retired or comes back leaves a line here."),
        action=_("Go to the facts"),
        url="facts:list",
    ),
)


FACT_LIST = OwnedList(
    spec=FACTS,
    act=Act.FACTS_READ,
    kind="facts",
    rows=lambda owner: list_facts(owner=owner),
    own=_("Facts"),
    of=_("Facts of %(owner)s"),
    shape=lambda rows, request: shape_facts(rows, principal=request.principal),
    filters=lambda _params, owner: (search_filter(_("Search facts"), narrow, owner),),
    within=lambda params: limited(params.get("q")),
    template="memory_app/facts/list.html",
)
CONFLICT_LIST = OwnedList(
    spec=CONFLICTS,
    act=Act.FACTS_READ,
    kind="facts",
    rows=lambda owner: list_conflicts(owner=owner).select_related("older", "newer"),
    own=_("Conflicts"),
    of=_("Conflicts"),
    shape=lambda rows, request: shape_conflicts(rows, principal=request.principal),
    begins_with_all=True,
    template="memory_app/facts/conflicts.html",
)
EVENT_LIST = OwnedList(
    spec=EVENTS_DECIDED,
    act=Act.FACTS_READ,
    kind="facts",
    rows=lambda owner: list_events(owner=owner),
    own=_("Decisions on facts"),
    of=_("Decisions on facts"),
    shape=lambda rows, request: shape_events(rows, principal=request.principal),
    template="memory_app/facts/events.html",
)
