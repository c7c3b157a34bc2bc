"""How memories are listed: what a list can filter and sort by, and the form that each reader gets of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory_app.index.pages import note_text
from memory_app.index.selectors import narrow, read_query
from memory_app.memories.core import State
from memory_app.memories.models import Memory, MemoryQuerySet
from memory_app.memories.selectors import retention_cutoff
from minara_site.access.principal import Principal
from minara_site.kernel.core.vocabulary import IMPORT_ORIGIN, IMPORTED, Category, Source
from minara_site.kernel.counts import count_tabs
from minara_site.kernel.guard.selectors import list_holds
from minara_site.kernel.ownership import Everyone, Owner
from minara_site.shell.owners import owner_filter
from minara_site.web.badges import SOURCES
from minara_site.web.filters import Filter, FilterKind, Rows
from minara_site.web.keyset import Order
from minara_site.web.lists import BulkAction, Column, Empty, ListPage, ListSpec, Sort


def in_state(rows: Any, state: str) -> Rows:
    """Keep live rows, or those that can be restored."""
    chosen: MemoryQuerySet = rows.in_state(State(state), retention_cutoff(timezone.now()))
    return chosen


def from_sources(rows: Rows, sources: Sequence[str]) -> Rows:
    """Keep rows of these sources; `imported` asks for what came out of a file, whatever its source."""
    wanted = Q(source__in=sources)
    return rows.filter(wanted | Q(origin__startswith=IMPORT_ORIGIN) if IMPORTED in sources else wanted)


NARROWING = (
    Filter(
        "category",
        gettext_lazy("Category"),
        FilterKind.CHOICE,
        lookup="category",
        choices=[(name.value, name.value) for name in Category],
    ),
    Filter(
        "source",
        gettext_lazy("Source"),
        FilterKind.CHOICE,
        apply=from_sources,
        choices=[(name, SOURCES[name].word) for name in (*Source, IMPORTED)],
    ),
    Filter("after", gettext_lazy("Changed after"), FilterKind.DATE, lookup="updated_at__gte"),
    Filter("before", gettext_lazy("Changed before"), FilterKind.DATE, lookup="updated_at__lt"),
)
STATE = Filter(
    "state",
    gettext_lazy("State"),
    FilterKind.TABS,
    choices=(
        (State.LIVE, gettext_lazy("Active")),
        (State.HELD, gettext_lazy("Held")),
        (State.RETIRED, gettext_lazy("Retired")),
        (State.DELETED, gettext_lazy("Deleted")),
    ),
    default=State.LIVE,
    apply=in_state,
)
DELETE = BulkAction("delete", gettext_lazy("Delete"), icon="trash")
RESTORE = BulkAction("restore", gettext_lazy("Restore"), icon="undo")
MEMORY = Column(gettext_lazy("Memory"))
SOURCE = Column(gettext_lazy("Source"))
OWNER = Column(gettext_lazy("Owner"))

MEMORIES = ListSpec(
    name="memories",
    caption=gettext_lazy("Memories"),
    row="memory_app/memories/_row.html",
    columns=(
        MEMORY,
        SOURCE,
        Column(gettext_lazy("State")),
        Column(gettext_lazy("Tokens"), numeric=True),
        Column(gettext_lazy("Changed"), sorts=("newest", "oldest"), numeric=True),
    ),
    sorts=(
        Sort("newest", gettext_lazy("newest change first"), Order("updated_at")),
        Sort("oldest", gettext_lazy("oldest change first"), Order("updated_at", descending=False)),
    ),
    filters=(STATE, *NARROWING),
    bulk=(DELETE,),
    bulk_url="memories:bulk",
    empty=Empty(
        "memory",
        gettext_lazy("Nothing yet"),
        gettext_lazy("Your agent writes here what it learns. You can begin: tell it one thing."),
        action=gettext_lazy("Tell the agent one thing"),
        url="memories:new",
    ),
)
TRASH = ListSpec(
    name="trash",
    caption=gettext_lazy("Deleted memories"),
    row="memory_app/memories/_trash_row.html",
    columns=(
        MEMORY,
        SOURCE,
        Column(gettext_lazy("Deleted by")),
        Column(gettext_lazy("Deleted"), sorts=("newest", "oldest"), numeric=True),
        Column(gettext_lazy("Time left"), numeric=True),
    ),
    sorts=(
        Sort("newest", gettext_lazy("newest deletion first"), Order("deleted_at")),
        Sort("oldest", gettext_lazy("least time left first"), Order("deleted_at", descending=False)),
    ),
    filters=NARROWING,
    bulk=(RESTORE,),
    bulk_url="memories:bulk",
    empty=Empty(
        "trash",
        gettext_lazy("The trash is empty"),
        gettext_lazy("What is deleted stays here until its time is up, and can be restored as it was."),
        action=gettext_lazy("Go to the memories"),
        url="memories:list",
    ),
)


def spec_for(spec: ListSpec, principal: Principal, owner: Owner, *, asked: str = "") -> ListSpec:
    """Return the list of this owner's rows as this reader gets it; `asked` is the name that chose the owner.

    Operators choose the owner; who looks at rows of everybody sees whose they are.
    """
    filters = (search_filter(owner), *spec.filters)
    if principal.is_operator:
        filters = (*filters, owner_filter(principal.owner, owner, asked))
    columns = (MEMORY, OWNER, *spec.columns[1:]) if isinstance(owner, Everyone) else spec.columns
    return replace(spec, filters=filters, columns=columns)


def search_filter(owner: Owner) -> Filter:
    """Return the search box; it understands what the search page understands."""
    return Filter(
        "q",
        _("Search memories"),
        FilterKind.SEARCH,
        apply=lambda rows, text: narrow(rows, owner=owner, query=text),
    )


def with_search_notes(page: ListPage) -> ListPage:
    """Return the page with what the query parser had to say among its notices."""
    if not page.search_text:
        return page
    notes = [note_text(note) for note in read_query(page.search_text).notes]
    return replace(page, reading=replace(page.reading, notices=(*page.reading.notices, *notes)))


def count_memory_tabs(owner: Owner) -> dict[str, int]:
    """Return how many rows stand behind each tab; a number too large to count is left out. One query."""
    rows, cutoff = Memory.objects.for_owner(owner), retention_cutoff(timezone.now())
    tabs = {state.value: rows.in_state(state, cutoff) for state in (State.LIVE, State.RETIRED, State.DELETED)}
    return count_tabs({**tabs, State.HELD.value: list_holds(owner=owner)})  # the queue: all kinds of text
