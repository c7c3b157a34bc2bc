"""`/v1/facts`: the general fact layer for agents, read only. Shapes: the contract."""

from datetime import datetime
from functools import partial
from typing import Any

from ninja import Query, Schema

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.selectors import fact_records, list_events, list_facts
from memory_app.memories.api import MemoryOut
from memory_app.memories.core import FactState
from memory_app.memories.selectors import find_refused
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.shell.answers import answer_list
from minara_site.shell.pages import PageRequest
from minara_site.web.keyset import Order
from minara_site.web.schemas import Data, Items, PageQuery

router = ApiRouter(tags=["memory"])


class FactOut(MemoryOut):
    """A fact: a memory with its state in the fact layer; `retired_by` is the memory that stays in its place."""

    fact_state: FactState
    retired_by: int | None


class EventOut(Schema):
    """One decision about a fact; `other_id` is the fact that it was compared with, `undoes` the event it takes back."""

    id: int
    at: datetime
    kind: EventKind
    decider: Decider
    actor: str
    fact_id: int
    other_id: int | None
    reason: str
    run_id: int | None
    undoes: int | None


class FactQuery(PageQuery):
    """Filters of the list."""

    state: FactState | None = None


@router.get("/facts", "List facts", Act.FACTS_READ, Data[Items[FactOut]])
def list_(request: PageRequest, query: Query[FactQuery]) -> dict[str, Any]:
    """List facts, newest first, what is held or in the trash left out.

    A page is shorter by what the guard's newest rules refuse.
    """
    owner = request.principal.reads(Act.FACTS_READ, query.owner)
    rows = list_facts(owner=owner, state=query.state)
    records = partial(fact_records, reader=request.principal.owner)
    return answer_list(
        request,
        rows,
        Order("updated_at"),
        query,
        scope="v1/facts",
        kind="facts",
        records=records,
        find_refused=find_refused,
    )


@router.get(
    "/facts/events",
    "List decisions on facts",
    Act.FACTS_READ,
    Data[Items[EventOut]],
)
def events(request: PageRequest, query: Query[PageQuery]) -> dict[str, Any]:
    """List what consolidation and people decided about facts, newest first: ids and reasons, no texts."""
    owner = request.principal.reads(Act.FACTS_READ, query.owner)
    rows = list_events(owner=owner)
    return answer_list(
        request,
        rows,
        Order("at"),
        query,
        scope="v1/facts/events",
        kind="facts",
        records=lambda found: [event_record(row) for row in found],
    )


def event_record(event: Any) -> dict[str, Any]:
    """Return an event as the API answers it."""
    names = ("at", "kind", "decider", "actor", "fact_id", "other_id", "reason", "run_id")
    return {
        "id": event.pk,
        **{name: getattr(event, name) for name in names},
        "undoes": event.undoes_id,
    }
