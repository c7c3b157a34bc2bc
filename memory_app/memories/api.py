"""`/v1/memory`: what an agent may do with memories. Shapes: the contract."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from ninja import Query, Schema, Status
from pydantic import Field
from typing_extensions import TypedDict

from memory_app.index.core.parser import MAX_QUERY_CHARS
from memory_app.index.selectors import limited, narrow
from memory_app.memories.core import MEMORY_KIND, State
from memory_app.memories.models import Memory
from memory_app.memories.proposals import propose_again, propose_delete, propose_edit, propose_restore
from memory_app.memories.selectors import (
    find_refused,
    get_history,
    get_memory,
    list_memories,
    memory_answer,
    memory_records,
)
from memory_app.memories.services import Changes, Draft, delete_memories, edit_memory, restore_memories, write_memory
from minara_site.access.access_log import log_opened
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.core.vocabulary import Category, Provenance, Source, WriterKind
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.guard.selectors import written_record
from minara_site.kernel.proposals.services import find_last, proposal_record
from minara_site.shell.answers import answer_page, was_proposed
from minara_site.shell.if_match import expected_version
from minara_site.shell.pages import PageRequest
from minara_site.web.keyset import Order, paginate, read_number, write_number
from minara_site.web.schemas import (
    Data,
    Deleted,
    HeldOut,
    Items,
    OwnerQuery,
    PageQuery,
    ProposedOut,
    Record,
    Strict,
    WasProposed,
    Written,
    WrittenHeld,
)

router = ApiRouter(tags=["memory"])

NEWEST = Order("updated_at")
NEWEST_DELETED = Order("deleted_at")


class WriterOut(Record):
    """Whose word a memory is; `name` is an account's, the label of a key, the file of an import, or a job."""

    kind: WriterKind
    name: str


ConflictOut = TypedDict("ConflictOut", {"with": list[int], "newer": int, "since": datetime})
"""Memories beside which one cannot be true, the newest of them all, and since when that is known."""


class MemoryOut(Record):
    """A memory as every call answers it. `seen` is how often its writer wrote it."""

    id: int
    category: Category
    content: str
    source: Source | None
    writer: WriterOut
    fact_type: str | None
    tickers: list[str]
    state: State
    version: int
    seen: int
    conflict: ConflictOut | None = None
    created_at: datetime
    updated_at: datetime


class OneMemoryOut(MemoryOut):
    """A memory, and what became of the caller's last proposal about it, null without one."""

    proposed: ProposedOut | None = None


class VersionOut(Schema):
    """One version of a memory; `reason` says why it was written, empty when nobody said."""

    version: int
    content: str
    fact_type: str
    tickers: list[str]
    actor: str
    written_at: datetime
    reason: str
    is_current: bool


class WrittenBefore(Written):
    """Its writer said so before: `id` is what stands, `seen` how often it was said by now."""

    seen: int


class NewMemory(Strict):
    """Something that the user states about themselves."""

    statement: str
    fact_type: str = ""
    tickers: Annotated[list[str], Field(max_length=20)] = []


class MemoryEdit(Strict):
    """The fields to change; what is left out stays."""

    statement: str | None = None
    fact_type: str | None = None
    tickers: Annotated[list[str] | None, Field(max_length=20)] = None


class BulkAct(Strict):
    """One act on several memories, all or nothing."""

    action: Literal["delete", "restore"]
    ids: Annotated[list[Annotated[int, Field(strict=True, ge=1, le=2**63 - 1)]], Field(min_length=1, max_length=1000)]


class MemoryQuery(PageQuery):
    """Filters of the list."""

    category: Category | None = None
    source: Source | None = None
    state: State = State.LIVE
    q: Annotated[str | None, Field(max_length=MAX_QUERY_CHARS)] = None


class Edited(Schema):
    """A memory was changed; `version` is the ETag of the next edit."""

    ok: Literal[True] = True
    id: int
    version: int
    data: MemoryOut


class EditedHeld(Edited):
    """A memory was changed; with this text it waits for an operator."""

    held: HeldOut


class Restored(Schema):
    """It is read again."""

    ok: Literal[True] = True
    restored: Literal[True] = True


class BulkDone(Schema):
    """How many rows changed; rows that were so already are not counted."""

    ok: Literal[True] = True
    action: str
    changed: int
    batch: str


@router.post(
    "/memory",
    "Store a memory that the user states",
    Act.MEMORY_WRITE,
    {200: WrittenBefore, 201: Written, 202: WrittenHeld | WasProposed},
)
def create(request: PageRequest, payload: NewMemory) -> Status[dict[str, Any]]:
    """Store what the user stated, as `personalization` / `user_manual`; the same again by one writer is 200.

    202: the guard holds it, or its user deleted these words, and it is proposed to them that it is restored.
    """
    now = timezone.now()
    draft = Draft(
        category=Category.PERSONALIZATION,
        content=payload.statement,
        provenance=Provenance(Source.USER_MANUAL, request.principal.actor),
        fact_type=payload.fact_type,
        tickers=tuple(payload.tickers),
    )
    if proposal := propose_again(principal=request.principal, draft=draft, now=now):
        return was_proposed(proposal)
    memory = write_memory(owner_id=request.principal.owner.pk, draft=draft, now=now)
    answer = memory_answer(memory)
    return Status(202 if "held" in answer else 200 if memory.is_repeated else 201, answer)


@router.get("/memory", "List memories", Act.MEMORY_READ, Data[Items[MemoryOut]])
def list_(request: PageRequest, query: Query[MemoryQuery]) -> dict[str, Any]:
    """List memories, newest change first; `q` narrows to rows that the search finds.

    A page of live ones is shorter by what the guard's newest rules refuse.
    """
    now, owner = timezone.now(), request.principal.reads(Act.MEMORY_READ, query.owner)
    rows: QuerySet[Any] = list_memories(
        owner=owner,
        now=now,
        state=query.state,
        category=query.category,
        source=query.source,
    )
    if query.q:
        rows = narrow(rows, owner=owner, query=query.q)
    order = NEWEST_DELETED if query.state is State.DELETED else NEWEST
    with limited(query.q):
        page = paginate(
            rows,
            order,
            cursor=query.cursor,
            limit=query.limit,
            scope="v1/memory",
        )
    return answer_page(
        request,
        page,
        kind="memories",
        records=lambda rows: memory_records(rows, reader=request.principal.owner),
        find_refused=lambda rows: find_refused(rows) if query.state is State.LIVE else set(),
    )


@router.post(
    "/memory/bulk",
    "Delete or restore several memories",
    Act.MEMORY_REMOVE,
    BulkDone,
)
def bulk(
    request: PageRequest,
    payload: BulkAct,
    query: Query[OwnerQuery],
) -> dict[str, Any]:
    """Delete or restore several memories; one unknown id changes nothing."""
    act = delete_memories if payload.action == "delete" else restore_memories
    owner = request.principal.reads(Act.MEMORY_REMOVE, query.owner)
    batch = act(
        principal=request.principal,
        owner=owner,
        ids=payload.ids,
        now=timezone.now(),
    )
    return {
        "action": payload.action,
        "changed": len(batch.ids),
        "batch": batch.id,
    }


@router.get(
    "/memory/{int:memory_id}",
    "Read a memory",
    Act.MEMORY_READ,
    Data[OneMemoryOut],
)
def read(
    request: PageRequest,
    response: HttpResponse,
    memory_id: int,
    query: Query[OwnerQuery],
) -> dict[str, Any]:
    """Read one memory; the ETag is its version."""
    memory = open_one(request, memory_id, query)
    response["ETag"] = f'"{memory.version}"'
    reader = request.principal.owner
    [record] = memory_records([masked_for(reader, memory)], reader=reader)
    if memory.state is State.LIVE and find_refused([memory]):
        record["state"] = State.HELD  # the guard's job will hold it
    about = {"kind": MEMORY_KIND, "key": str(memory.pk), "actor": request.principal.actor}
    last = find_last(owner=memory.owner_id, **about)
    return {"data": record | ({"proposed": proposal_record(last)} if last else {})}


@router.patch(
    "/memory/{int:memory_id}",
    "Edit a memory",
    Act.MEMORY_WRITE,
    {200: Edited, 202: EditedHeld | WasProposed},
)
def edit(
    request: PageRequest,
    response: HttpResponse,
    memory_id: int,
    payload: MemoryEdit,
) -> Status[dict[str, Any]]:
    """Change what the user typed, or a key what keys wrote; with `If-Match` a stale version is 409 and changes nothing.

    202: the guard holds it, or it is proposed to its owner and nothing was changed.
    """
    tickers = None if payload.tickers is None else tuple(payload.tickers)
    about: dict[str, Any] = {
        "principal": request.principal,
        "memory_id": memory_id,
        "changes": Changes(payload.statement, payload.fact_type, tickers),
        "expected_version": expected_version(request),
        "now": timezone.now(),
    }
    if proposal := propose_edit(**about):
        return was_proposed(proposal)
    memory = edit_memory(**about)
    response["ETag"] = f'"{memory.version}"'
    [record] = memory_records([memory], reader=request.principal.owner)
    answer = {
        **written_record(MEMORY_KIND, memory),
        "version": memory.version,
        "data": record,
    }
    return Status(202 if "held" in answer else 200, answer)


@router.delete(
    "/memory/{int:memory_id}",
    "Move a memory to the trash",
    Act.MEMORY_REMOVE,
    {200: Deleted, 202: WasProposed},
)
def delete(
    request: PageRequest,
    memory_id: int,
    query: Query[OwnerQuery],
) -> Status[dict[str, Any]]:
    """Move a memory to the trash; of a row that no key wrote a key only proposes it to its owner."""
    if proposal := propose_delete(principal=request.principal, memory_id=memory_id, now=timezone.now()):
        return was_proposed(proposal)
    owner = request.principal.reads(Act.MEMORY_REMOVE, query.owner)
    delete_memories(
        principal=request.principal,
        owner=owner,
        ids=[memory_id],
        now=timezone.now(),
    )
    return Status(200, {})


@router.post(
    "/memory/{int:memory_id}/restore",
    "Restore a deleted memory",
    Act.MEMORY_REMOVE,
    {200: Restored, 202: WasProposed},
)
def restore(
    request: PageRequest,
    memory_id: int,
    query: Query[OwnerQuery],
) -> Status[dict[str, Any]]:
    """Bring a deleted memory back while its retention lasts; what its user deleted a key only proposes to them."""
    now = timezone.now()
    if proposal := propose_restore(principal=request.principal, memory_id=memory_id, now=now):
        return was_proposed(proposal)
    owner = request.principal.reads(Act.MEMORY_REMOVE, query.owner)
    restore_memories(principal=request.principal, owner=owner, ids=[memory_id], now=now)
    return Status(200, {})


@router.get(
    "/memory/{int:memory_id}/history",
    "Read every version of a memory",
    Act.MEMORY_READ,
    Data[Items[VersionOut]],
)
def history(
    request: PageRequest,
    memory_id: int,
    query: Query[PageQuery],
) -> dict[str, Any]:
    """Read every version of a memory, newest first."""
    memory, scope = open_one(request, memory_id, query), f"v1/history/{memory_id}"
    items = get_history(
        memory,
        below=read_number(query.cursor, scope=scope),
        limit=query.limit,
    )
    more = bool(items) and items[-1].version > 1
    shown = items if memory.owner_id == request.principal.owner.pk else [entry.masked() for entry in items]
    return {
        "data": {
            "items": shown,
            "next_cursor": write_number(items[-1].version, scope=scope) if more else None,
        }
    }


def open_one(request: PageRequest, memory_id: int, query: OwnerQuery) -> Memory:
    """Return the memory and log the look at somebody else's. Raises NotFound."""
    owner = request.principal.reads(Act.MEMORY_READ, query.owner)
    memory = get_memory(owner=owner, memory_id=memory_id)
    log_opened(
        request.principal,
        memory.owner_id,
        kind="memory",
        object_id=memory.pk,
        now=timezone.now(),
    )
    return memory
