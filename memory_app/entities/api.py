"""`/v1/edges` and `/v1/entities/top`: what memories mention, and how. Shapes: here and in the OpenAPI document."""

from datetime import datetime
from typing import Annotated, Any

from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Query, Schema
from pydantic import Field

from memory_app.edges.core import EdgeType, NodeKind
from memory_app.edges.selectors import Node, node_of, open_node
from memory_app.entities.selectors import list_entity_edges, read_memories_of, top_entities
from memory_app.memories.api import MemoryOut
from memory_app.memories.selectors import memory_records
from minara_site.access.access_log import log_access, log_listed
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.core.assets import AssetClass, AssetGroup
from minara_site.kernel.errors import invalid_field
from minara_site.kernel.guard.masking import masked_for
from minara_site.shell.owners import open_owner
from minara_site.shell.pages import PageRequest
from minara_site.web.keyset import Order, paginate
from minara_site.web.schemas import Data, Items, OwnerQuery, PageQuery

router = ApiRouter(tags=["entities"])

NEWEST = Order("src_id")


class EntityOut(Schema):
    """What an edge ends at: BTC, EURUSD, a chain, an address, a pair `BTC|ETH`, a scenario."""

    kind: NodeKind
    key: str
    asset_class: AssetClass | None
    asset_group: AssetGroup | None


class EntityEdgeOut(Schema):
    """How a memory and an entity belong together."""

    edge_type: EdgeType
    entity: EntityOut
    weight: float
    created_at: datetime
    memory: MemoryOut


class TopEntityOut(EntityOut):
    """An entity, and how many of the memories that were looked at mention it."""

    memories: int


class TopEntitiesOut(Schema):
    """The entities of the most memories; `complete`: all live ones were looked at, not the newest alone."""

    items: list[TopEntityOut]
    looked_at: int
    complete: bool


class EdgeQuery(PageQuery):
    """Which edges: of one entity, of one type."""

    entity: Annotated[
        str,
        Field(
            min_length=1,
            max_length=100,
            description="btc, BTC/USDT, EUR/USD, 比特币, an address, a chain, BTC|ETH; chain:ethereum tells which.",
        ),
    ]
    edge_type: EdgeType | None = None


class TopQuery(OwnerQuery):
    """How many entities."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20


@router.get(
    "/edges",
    "List the edges of an entity",
    Act.GRAPH_READ,
    Data[Items[EntityEdgeOut]],
    operation_id="memory_app_edges_api_edges",
)
def edges(request: PageRequest, query: Query[EdgeQuery]) -> dict[str, Any]:
    """List the edges of an entity with their memories, newest memory first; only what is read counts.

    A page is shorter by what the guard's newest rules refuse.
    """
    node = open_node(query.entity)
    if node is None:
        raise invalid_field("entity", _("This names no entity."))
    owner = request.principal.reads(Act.GRAPH_READ, query.owner)
    rows = list_entity_edges(owner=owner, node=node, edge_type=query.edge_type)
    page = paginate(
        rows,
        NEWEST,
        cursor=query.cursor,
        limit=query.limit,
        scope="v1/edges",
    )
    memories = read_memories_of(page.items)
    log_listed(request.principal, memories.values(), kind="memories", now=timezone.now())
    reader = request.principal.owner
    shown = memory_records(
        [masked_for(reader, each) for each in memories.values()],
        reader=reader,
    )
    records = {record["id"]: record for record in shown}
    items = [
        {
            "edge_type": row.edge_type,
            "entity": entity_record(node_of(row)),
            "weight": row.weight,
            "created_at": row.created_at,
            "memory": records[row.src_id],
        }
        for row in page.items
        if row.src_id in records
    ]
    return {"data": {"items": items, "next_cursor": page.next_cursor}}


@router.get(
    "/entities/top",
    "List the entities of the most memories",
    Act.GRAPH_READ,
    Data[TopEntitiesOut],
    operation_id="memory_app_edges_api_top",
)
def top(request: PageRequest, query: Query[TopQuery]) -> dict[str, Any]:
    """List the tickers, chains and addresses that stand in the most of the newest live memories."""
    owner = open_owner(request.principal.reads(Act.GRAPH_READ, query.owner))
    log_access(
        principal=request.principal,
        owner_ids={owner.pk},
        kind="memories",
        now=timezone.now(),
    )
    found = top_entities(owner=owner, limit=query.limit)
    items = [entity_record(each.node) | {"memories": each.memories} for each in found.items]
    return {
        "data": {
            "items": items,
            "looked_at": found.looked_at,
            "complete": found.is_complete,
        }
    }


def entity_record(node: Node) -> dict[str, Any]:
    """Return an entity as the API answers it."""
    asset_class = node.asset_class
    return {
        "kind": node.kind,
        "key": node.key,
        "asset_class": asset_class,
        "asset_group": asset_class.group if asset_class else None,
    }
