"""The list of memories and the trash: what they filter and sort by."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory_app.index.pages import search_filter
from memory_app.index.selectors import limited, narrow
from memory_app.memories.core import State
from memory_app.memories.models import Memory
from memory_app.memories.selectors import retention_cutoff
from minara_site.access.policy import Act
from minara_site.kernel.core.vocabulary import BROUGHT_IN, IMPORT_ORIGIN, IMPORTED, Category, Source
from minara_site.kernel.guard.selectors import list_holds
from minara_site.kernel.ownership import Owner
from minara_site.shell.lists import OwnedList
from minara_site.web.badges import SOURCES
from minara_site.web.filters import Filter, FilterKind, Rows, choice, dates
from minara_site.web.lists import BulkAction, Column, Empty, ListSpec, by_time


def in_state(rows: Any, state: str) -> Rows:
    """Keep live rows, or those that can be restored."""
    return rows.in_state(State(state), retention_cutoff(timezone.now()))


def from_sources(rows: Rows, sources: Sequence[str]) -> Rows:
    """Keep rows of these sources; `imported` asks for what came out of a file, `brought_in` for that of others."""
    wanted, of_file = Q(source__in=sources), Q(origin__startswith=IMPORT_ORIGIN)
    if IMPORTED in sources:
        wanted |= of_file
    return rows.filter(wanted | of_file & Q(source=Source.INFERRED) if BROUGHT_IN in sources else wanted)


NARROWING = (
    choice(
        "category",
        _("Category"),
        [(name.value, name.value) for name in Category],
    ),
    Filter(
        "source",
        _("Source"),
        FilterKind.CHOICE,
        apply=from_sources,
        choices=[(name, SOURCES[name].word) for name in (*Source, IMPORTED, BROUGHT_IN)],
    ),
    *dates("updated_at", _("Changed after"), _("Changed before")),
)
STATE = Filter(
    "state",
    _("State"),
    FilterKind.TABS,
    choices=(
        (State.LIVE, _("Active")),
        (State.HELD, _("Held")),
        (State.RETIRED, _("Retired")),
        (State.DELETED, _("Deleted")),
    ),
    default=State.LIVE,
    apply=in_state,
)
DELETE = BulkAction("delete", _("Delete"), icon="trash")
RESTORE = BulkAction("restore", _("Restore"), icon="undo")
MEMORY = Column(_("Memory"))
SOURCE = Column(_("Source"))
OWNER = Column(_("Owner"))

MEMORIES = ListSpec(
    name="memories",
    caption=_("Memories"),
    row="memory_app/memories/_row.html",
    columns=(
        MEMORY,
        SOURCE,
        Column(_("State")),
        Column(_("Tokens"), numeric=True),
        Column(_("Changed"), sorts=("newest", "oldest"), numeric=True),
    ),
    sorts=by_time("updated_at", _("newest change first"), _("oldest change first")),
    filters=(STATE, *NARROWING),
    bulk=(DELETE,),
    bulk_url="memories:bulk",
    empty=Empty(
        "memory",
        _("Nothing yet"),
        _("Your agent writes here what it learns. You can begin: tell it one thing."),
        action=_("Tell the agent one thing"),
        url="memories:new",
    ),
)
TRASH = ListSpec(
    name="trash",
    caption=_("Deleted memories"),
    row="memory_app/memories/_trash_row.html",
    columns=(
        MEMORY,
        SOURCE,
        Column(_("Deleted by")),
        Column(_("Deleted"), sorts=("newest", "oldest"), numeric=True),
        Column(_("Time left"), numeric=True),
    ),
    sorts=by_time("deleted_at", _("newest deletion first"), _("least time left first")),
    filters=NARROWING,
    bulk=(RESTORE,),
    bulk_url="memories:bulk",
    empty=Empty(
        "trash",
        _("The trash is empty"),
        _("What is deleted stays here until its time is up, and can be restored as it was."),
        action=_("Go to the memories"),
        url="memories:list",
    ),
)


def memory_tabs(owner: Owner) -> dict[str, Rows]:
    """Return the rows behind each tab; what is held has a queue, with other kinds of text."""
    rows, cutoff = Memory.objects.for_owner(owner), retention_cutoff(timezone.now())
    tabs = {state.value: rows.in_state(state, cutoff) for state in (State.LIVE, State.RETIRED, State.DELETED)}
    return {**tabs, State.HELD.value: list_holds(owner=owner)}


MEMORY_LIST = OwnedList(
    spec=MEMORIES,
    act=Act.MEMORY_READ,
    kind="memories",
    rows=Memory.objects.for_owner,
    own=_("Memories"),
    of=_("Memories of %(owner)s"),
    filters=lambda _params, owner: (search_filter(_("Search memories"), narrow, owner),),
    tabs=memory_tabs,
    within=lambda params: limited(params.get("q")),
    read_by_view=("corrected",),
    owner_column=OWNER,
    template="memory_app/memories/list.html",
)
TRASH_LIST = replace(
    MEMORY_LIST,
    spec=TRASH,
    rows=lambda owner: Memory.objects.for_owner(owner).in_state(State.DELETED, retention_cutoff(timezone.now())),
    own=_("Trash"),
    of=_("Trash of %(owner)s"),
    tabs=None,
    template="memory_app/memories/trash.html",
)
