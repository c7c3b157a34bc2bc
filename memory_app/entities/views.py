"""`/memories/graph/`: the entities that memories mention, and what is known around one of them."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from memory_app.edges.core import EdgeType
from memory_app.edges.pages import EDGE_WORDS, label_of
from memory_app.edges.selectors import Node, open_node
from memory_app.entities.drawing import HEIGHT, WIDTH, Place, place_neighbours, short_name
from memory_app.entities.selectors import (
    WINDOW,
    Counted,
    get_entity_neighbourhood,
    list_decisions_about,
    list_entity_edges,
    read_memories_of,
    top_entities,
)
from memory_app.memories.models import Memory
from minara_site.access.access_log import log_access
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.core.vocabulary import provenance_label
from minara_site.kernel.guard.masking import masked_for
from minara_site.shell.nav import Crumb
from minara_site.shell.owners import open_owner
from minara_site.shell.pages import PageRequest, page
from minara_site.web.filters import changed_query
from minara_site.web.keyset import Order, paginate
from minara_site.web.responses import render_page

SHOWN = 40
MAX_ROWS = 50
MAX_DECISIONS = 10
MAX_CHARS = 100
NEWEST = Order("src_id")


@dataclass(frozen=True)
class NodeRow:
    """An entity as the page shows it: its words, and its place in the picture when it stands in one."""

    counted: Counted
    place: Place | None = None

    @property
    def node(self) -> Node:
        """The entity."""
        return self.counted.node

    @property
    def short(self) -> str:
        """Its name in the picture."""
        return short_name(self.node.key)

    @property
    def label(self) -> str | Promise:
        return label_of(self.node)


@dataclass(frozen=True)
class EdgeRow:
    """An edge with its memory as the page shows them."""

    memory: Memory
    words: str | Promise

    @property
    def badge(self) -> str:
        """Where the memory comes from, in one word."""
        return provenance_label(source=self.memory.source, origin=self.memory.origin)


@page(Act.GRAPH_READ)
def graph(request: PageRequest) -> HttpResponse:
    """Show the entities of the most memories; `?entity=` shows what is known around one, `?type=` narrows its list."""
    owner = open_owner(request.principal.reads(Act.GRAPH_READ, request.GET.get("owner")))
    log_access(
        principal=request.principal,
        owner_ids=[owner.pk],
        kind="memories",
        now=timezone.now(),
    )
    written = request.GET.get("entity", "").strip()[:MAX_CHARS]
    node = open_node(written)
    is_own = owner == request.user
    context: dict[str, Any] = {
        "title": _("Links"),
        "is_own": is_own,
        "owner_name": "" if is_own else owner.username,
        "written": written,
    }
    if node is None:
        found = top_entities(owner=owner, limit=SHOWN)
        context |= {"found": found, "listed": [NodeRow(each) for each in found.items]}
        return render_page(request, "memory_app/entities/list.html", context)
    return render_page(
        request,
        "memory_app/entities/one.html",
        context | node_context(request, owner, node),
    )


def node_context(request: PageRequest, owner: User, node: Node) -> dict[str, Any]:
    """Return what the page of one entity shows."""
    around = get_entity_neighbourhood(owner=owner, node=node)
    chosen = next(
        (each for each in around.edge_counts if each == request.GET.get("type")),
        None,
    )
    rows = list_entity_edges(owner=owner, node=node, edge_type=chosen)
    listed = paginate(
        rows,
        NEWEST,
        cursor=request.GET.get("cursor"),
        limit=MAX_ROWS,
        scope=f"graph/{node.name}",
    )
    memories = read_memories_of(listed.items)
    places = place_neighbours([each.memories for each in around.neighbours])
    everything = reverse("edges:graph") + changed_query(request.GET, entity=None, type=None, cursor=None)
    return {
        "title": short_name(node.key),
        "crumbs": [Crumb(_("Links"), everything), Crumb(short_name(node.key))],
        "node": node,
        "words": label_of(node),
        "around": around,
        "window": WINDOW,
        "chosen": chosen,
        "types": [
            (
                each.value,
                EDGE_WORDS[each],
                count,
                each is chosen,
            )
            for each, count in around.edge_counts.items()
        ],
        "neighbours": [NodeRow(each, place) for each, place in zip(around.neighbours, places, strict=True)],
        "rows": [
            EdgeRow(
                masked_for(request.user, memories[edge.src_id]),
                EDGE_WORDS[EdgeType(edge.edge_type)],
            )
            for edge in listed.items
            if edge.src_id in memories
        ],
        "decisions": [
            masked_for(request.user, each) for each in list_decisions_about(owner=owner, node=node, most=MAX_DECISIONS)
        ],
        "next_cursor": listed.next_cursor,
        "is_continued": bool(request.GET.get("cursor")),
        "short": short_name(node.key),
        "width": WIDTH,
        "height": HEIGHT,
    }
