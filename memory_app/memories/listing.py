"""How memories are listed: what a list can filter and sort by, and the form that each reader gets of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db.models import IntegerField, Q, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory_app.held.selectors import list_holds
from memory_app.memories.core import IMPORT_ORIGIN, IMPORTED, Category, Source, State
from memory_app.memories.models import Memory, MemoryQuerySet
from memory_app.memories.selectors import retention_cutoff
from memory_app.search.answers import note_text
from memory_app.search.selectors import narrow, read_query
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.ownership import EVERYBODY, Everyone, Owner
from minara_site.web.badges import SOURCES
from minara_site.web.filters import Filter, FilterKind, Rows
from minara_site.web.keyset import Order
from minara_site.web.lists import BulkAction, Column, Empty, ListPage, ListSpec, Sort

MOST_COUNTED = 10_000  # rows behind a tab
MOST_OWNERS = 500  # of the filter's choices; any owner can be named in the address


def in_state(rows: Any, state: str) -> Rows:
    """Keep live rows, or those that can be restored."""
    chosen: MemoryQuerySet = rows.in_state(State(state), retention_cutoff(timezone.now()))
    return chosen


def from_sources(rows: Rows, sources: Sequence[str]) -> Rows:
    """Keep rows of these sources; `imported` asks for what came out of a file, whatever its source."""
    wanted = Q(source__in=sources)
    return rows.filter(wanted | Q(origin__startswith=IMPORT_ORIGIN) if IMPORTED in sources else wanted)


def as_they_are(rows: Rows, value: object) -> Rows:
    """Keep all: the view has chosen the owner already."""
    return rows


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


class CountOf(Subquery):
    """How many rows a queryset gives, counted up to one more than MOST_COUNTED."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows.order_by().values("pk")[: MOST_COUNTED + 1])


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


def count_tabs(owner: Owner) -> dict[str, int]:
    """Return how many rows stand behind each tab; a number too large to count is left out. One query."""
    rows, cutoff = Memory.objects.for_owner(owner), retention_cutoff(timezone.now())
    tabs = {state.value: CountOf(rows.in_state(state, cutoff)) for state in (State.LIVE, State.RETIRED, State.DELETED)}
    tabs[State.HELD.value] = CountOf(
        list_holds(owner=owner)
    )  # that tab is the queue, which has values of the profile too
    counts = User.objects.values(**tabs)[:1].get()  # any row serves: the counts do not depend on it
    return {state: number for state, number in counts.items() if number <= MOST_COUNTED}


def owner_filter(reader: User, owner: Owner, asked: str) -> Filter:
    """Return the choice of an owner, the one that was asked for among them; the reader's own stands without it."""
    users = User.objects.order_by("username").only("username", "display_name")[:MOST_OWNERS]
    choices = {EVERYBODY: _("everybody"), **{user.username: user.get_short_name() for user in users}}
    if asked and isinstance(owner, User):
        choices[asked] = owner.get_short_name()
    return Filter(
        "owner",
        _("Owner"),
        FilterKind.ONE,
        choices=list(choices.items()),
        default=reader.username,
        apply=as_they_are,
    )
